internal import Synchronization

/// What the rest of the process sees of one partition.
package struct PartitionStatus: Equatable, Sendable {
    /// Number of the input partition.
    package var partition: Int32
    /// Number of the worker that owns it, from 0.
    package var worker: Int
    /// `assigned`, `restoring`, `live` or `refused`.
    package var phase: String
    /// Why it was refused.
    package var reason: String?
    /// The next offset to process.
    package var position: Int64?
    /// Records that wait in the log, as far as is known.
    package var lag: Int64?
    /// Combos that are displayed or retained.
    package var liveCombos: Int
    /// Ended keys whose event ids are kept.
    package var rememberedKeys: Int
    /// Bytes that its state holds, free room included.
    package var stateBytes: Int
    /// The partition's clock, epoch milliseconds.
    package var clockMilliseconds: Int64?
    /// Changelog records read by the restore, and the watermark it goes to.
    package var restored: Int64
    /// Changelog offset at which the restore is done; nil: none is going on.
    package var restoreTarget: Int64?

    /// Whether it processes its records.
    package var isLive: Bool { phase == "live" }
}

/// What a worker has done so far.
package struct WorkerTotals: Equatable, Sendable {
    /// Input records processed.
    package var records: Int64 = 0
    /// Overlay commands made.
    package var commands: Int64 = 0
    /// Transactions committed.
    package var transactions: Int64 = 0

    /// When the first record was processed; nil: none was.
    package var firstRecord: MonotonicTime?

    /// Creates totals of zero.
    package init() {}
}

/// Where workers post how they are, and the rest of the process posts what it wants of them.
///
/// Workers post a few times a second, never per record; so a lock does no harm.
package final class StatusBoard: Sendable {
    private struct Entry {
        var beat: MonotonicTime?
        /// When a beat came late last.
        var gapAt: MonotonicTime?
        var isInitialized = false
        var hasJoined = false
        var isAtEnd = false
        var areBrokersUp = true
        var partitions: [PartitionStatus] = []
        var totals = WorkerTotals()
        var lastCommit: MonotonicTime?
        var verdict = WorkerVerdict.running
    }

    private struct State {
        var workers: [Entry]
        var stopDeadline: MonotonicTime?
        /// Since when every worker has been at its end.
        var atEndSince: MonotonicTime?
    }

    /// A beat that comes this much after the last one is a gap in the loop, milliseconds.
    private static let gapMilliseconds: Int64 = 2500

    private let state: Mutex<State>
    private let stop = Atomic<Bool>(false)

    /// Creates the board of `workers` workers.
    package init(workers: Int) {
        state = Mutex(State(workers: Array(repeating: Entry(), count: workers)))
    }

    // MARK: - What the process wants

    /// Whether the workers shall commit, leave the group and end.
    package var stopRequested: Bool { stop.load(ordering: .acquiring) }

    /// Asks the workers to stop; those that are not done at `deadline` give up waiting for brokers.
    package func requestStop(deadline: MonotonicTime) {
        state.withLock { $0.stopDeadline = $0.stopDeadline ?? deadline }
        stop.store(true, ordering: .releasing)
    }

    /// Whether it is too late to wait for a broker.
    func isStopOverdue(_ now: MonotonicTime) -> Bool {
        guard stopRequested else { return false }
        return state.withLock { $0.stopDeadline.map { now >= $0 } ?? false }
    }

    // MARK: - What workers post

    /// The loop of a worker moves.
    func beat(worker: Int, _ now: MonotonicTime) {
        state.withLock { state in
            if let last = state.workers[worker].beat, now.since(last) > Self.gapMilliseconds {
                state.workers[worker].gapAt = now
            }
            state.workers[worker].beat = now
        }
    }

    /// Whether the worker's loop stood still at some time after `moment`.
    func hadGap(worker: Int, since moment: MonotonicTime) -> Bool {
        state.withLock { $0.workers[worker].gapAt.map { $0 > moment } ?? false }
    }

    func noteInitialized(worker: Int) {
        state.withLock { $0.workers[worker].isInitialized = true }
    }

    /// Whether every worker's transactional id is this process's own.
    var areAllInitialized: Bool {
        state.withLock { $0.workers.allSatisfy(\.isInitialized) }
    }

    func report(worker: Int, isAtEnd: Bool) {
        state.withLock { $0.workers[worker].isAtEnd = isAtEnd }
    }

    func post(
        worker: Int,
        _ partitions: [PartitionStatus],
        hasJoined: Bool,
        areBrokersUp: Bool,
        totals: WorkerTotals,
        lastCommit: MonotonicTime
    ) {
        state.withLock { state in
            state.workers[worker].partitions = partitions
            state.workers[worker].hasJoined = hasJoined
            state.workers[worker].areBrokersUp = areBrokersUp
            state.workers[worker].totals = totals
            state.workers[worker].lastCommit = lastCommit
        }
    }

    func post(worker: Int, verdict: WorkerVerdict) {
        state.withLock { $0.workers[worker].verdict = verdict }
    }

    // MARK: - What others read

    /// Every partition of the process, in order of their numbers.
    package var partitions: [PartitionStatus] {
        state.withLock { $0.workers.flatMap(\.partitions) }.sorted { $0.partition < $1.partition }
    }

    /// What the process has done so far.
    package var totals: WorkerTotals {
        state.withLock { state in
            state.workers.reduce(into: WorkerTotals()) { sum, entry in
                sum.records += entry.totals.records
                sum.commands += entry.totals.commands
                sum.transactions += entry.totals.transactions
                let firsts = [sum.firstRecord, entry.totals.firstRecord]
                sum.firstRecord = firsts.compactMap(\.self).min()
            }
        }
    }

    /// When a transaction was committed last.
    package var lastCommit: MonotonicTime? {
        state.withLock { $0.workers.compactMap(\.lastCommit).max() }
    }

    var verdicts: [WorkerVerdict] { state.withLock { $0.workers.map(\.verdict) } }

    /// The worker whose loop has stood still for longest, and for how long, milliseconds.
    func oldestBeat(_ now: MonotonicTime) -> (worker: Int, age: Int64)? {
        state.withLock { state in
            state.workers.indices.compactMap { index in
                guard state.workers[index].verdict == .running else { return nil }
                return state.workers[index].beat.map { (index, now.since($0)) }
            }.max { $0.1 < $1.1 }
        }
    }

    /// How long every worker has been at its end, milliseconds; nil: not all are.
    func atEndFor(_ now: MonotonicTime) -> Int64? {
        state.withLock { state in
            guard state.workers.allSatisfy(\.isAtEnd) else {
                state.atEndSince = nil
                return nil
            }
            state.atEndSince = state.atEndSince ?? now
            return state.atEndSince.map { now.since($0) }
        }
    }

    /// Why the process is not ready; nil: it is.
    var reasonNotReady: String? {
        state.withLock { state in
            if state.workers.contains(where: { !$0.isInitialized }) {
                return "waiting for the brokers"
            }
            if let index = state.workers.firstIndex(where: { !$0.hasJoined }) {
                return "worker \(index) has not joined the group"
            }
            let partitions = state.workers.flatMap(\.partitions)
            if let refused = partitions.first(where: { $0.phase == "refused" }) {
                return "partition \(refused.partition): \(refused.reason ?? "refused")"
            }
            if let other = partitions.first(where: { !$0.isLive }) {
                return "partition \(other.partition) is \(other.phase)"
            }
            return nil
        }
    }
}
