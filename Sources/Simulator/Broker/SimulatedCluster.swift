internal import ComboCore
internal import StreamPorts
internal import Synchronization
internal import WorkerRuntime

/// Calls of the ports at which faults strike.
enum PortCall: String, CaseIterable, Sendable {
    case makeSource
    case makeSink
    case makeChangelogReader
    case subscribe
    case poll
    case pause
    case resume
    case seek
    case committed
    case watermarks
    case initTransactions
    case begin
    case produce
    case sendOffsets
    case commit
    case abort
    case highWatermark
    case changelogAssign
    case changelogPoll
    case close

    /// Whether it waits for an answer of a broker.
    var asksBrokers: Bool {
        switch self {
        case .committed, .watermarks, .initTransactions, .sendOffsets, .commit, .abort,
            .highWatermark:
            true
        case .makeSource, .makeSink, .makeChangelogReader, .subscribe, .poll, .pause, .resume,
            .seek, .begin, .produce, .changelogAssign, .changelogPoll, .close:
            false
        }
    }

    /// Whether a coordinator answers it.
    var asksCoordinator: Bool {
        switch self {
        case .committed, .initTransactions, .sendOffsets, .commit, .abort: true
        default: false
        }
    }
}

/// The simulated cluster: one state, which every port of every process reaches.
///
/// A simulation has one thread, so the lock is never waited for; it is there because ports and
/// clocks are made by Sendable factories.
final class SimulatedCluster: Sendable {
    private let state: Mutex<ClusterState>

    init(_ initial: ClusterState) {
        state = Mutex(initial)
    }

    func read<Result: Sendable>(_ body: (borrowing ClusterState) -> Result) -> Result {
        state.withLock { body($0) }
    }

    @discardableResult
    func change<Result: Sendable>(_ body: (inout ClusterState) -> Result) -> Result {
        state.withLock { state in
            let result = body(&state)
            state.serveSoon()
            return result
        }
    }

    /// Partitions whose restore has begun since this was asked last.
    func takeRestores() -> [Int] {
        state.withLock { state in
            guard !state.restoresBegun.isEmpty else { return [] }
            defer { state.restoresBegun.removeAll() }
            return state.restoresBegun
        }
    }

    /// Runs a port's call with whatever fault strikes before or after its effect.
    func call<Result: Sendable>(
        _ call: PortCall,
        _ client: ClientIdentity,
        timeout: Int32 = 0,
        _ body: (inout ClusterState) throws(StreamError) -> Result
    ) throws(StreamError) -> Result {
        try state.withLock { (state) throws(StreamError) -> Result in
            try state.enter(call, client, timeout)
            let result = try body(&state)
            state.serveSoon()
            try state.leave(call, client)
            return result
        }
    }
}

/// The clocks of one simulated process.
struct SimulatedClock: WorkerClock {
    let cluster: SimulatedCluster
    let process: Int

    var wall: WallTime {
        cluster.read { state in
            WallTime(milliseconds: state.wall + state.processes[process].wallOffset)
        }
    }

    var monotonic: MonotonicTime {
        MonotonicTime(milliseconds: cluster.read(\.now))
    }

    var monotonicMicroseconds: Int64 { cluster.read(\.now) * 1000 }

    func sleep(milliseconds: Int64) {
        cluster.change { $0.advance(by: milliseconds) }
    }
}
