internal import StreamPorts
internal import Telemetry
internal import WorkerRuntime

/// A process of the pool, its workers turned by hand; it dies, and its supervisor starts it again.
///
///     down ──▶ starting ──▶ running ──▶ down
///
/// - `starting`: each worker makes its transactional id its own; all must have before any joins.
/// - `running`: the real workers turn. Ends by a crash, an order to stop, or a worker that can't go
/// on.
final class SimulatedProcess {
    private enum Slot {
        case starting((any TransactionalSink)?)
        case ready(any TransactionalSink)
        case running(Worker)
        case ended
    }

    let number: Int
    private let cluster: SimulatedCluster
    private let plan: RunPlan
    private let topics: SimulatedTopics
    private let log: Logger
    private var slots: [Slot] = []
    private var nextTurns: [Int64] = []
    private var life = 0
    private var board = StatusBoard(workers: 1)
    private var registry = MetricRegistry()

    init(
        _ number: Int,
        _ cluster: SimulatedCluster,
        _ plan: RunPlan,
        _ topics: SimulatedTopics,
        _ log: Logger
    ) {
        self.number = number
        self.cluster = cluster
        self.plan = plan
        self.topics = topics
        self.log = log
    }

    var isDown: Bool { slots.isEmpty }

    /// The next worker to turn and when; for a process that is down, when it starts.
    var next: (slot: Int?, at: Int64) {
        guard !isDown else { return (nil, cluster.read { $0.processes[number].startAt }) }
        let paused = cluster.read { $0.processes[number].pausedUntil }
        var best = (slot: 0, at: Int64.max)
        for (index, at) in nextTurns.enumerated() where at < best.at { best = (index, at) }
        return (best.slot, max(best.at, paused))
    }

    func turn(_ slot: Int?) {
        guard let slot else { return start() }
        turnWorker(slot)
        let (isAlive, now, wait) = cluster.change { state in
            let wait = state.processes[number].takeWait(of: slot)
            return (
                state.processes[number].isAlive, state.now,
                max(1, wait) + Int64(state.random.next() % 2)
            )
        }
        guard isAlive else { return goDown() }
        nextTurns[slot] = now + wait
        if case .ended = slots[slot] { nextTurns[slot] = .max }
        if slots.allSatisfy({ if case .ended = $0 { true } else { false } }) {
            cluster.change { state in
                if state.processes[number].isStopRequested { state.probe(.stoppedInOrder) }
                state.processes[number].isAlive = false
                state.processes[number].startAt = max(
                    state.processes[number].startAt,
                    state.now + 10
                )
            }
            goDown()
        }
    }

    private func start() {
        let now = cluster.change { state in
            state.processes[number].life += 1
            state.processes[number].isAlive = true
            state.processes[number].isStopRequested = false
            state.processes[number].pausedUntil = state.now
            state.note("process \(number) starts")
            return state.now
        }
        life = cluster.read { $0.processes[number].life }
        board = StatusBoard(workers: plan.workers)
        registry = MetricRegistry()
        slots = Array(repeating: .starting(nil), count: plan.workers)
        nextTurns = slots.indices.map { now + Int64($0) + 1 }
    }

    private func goDown() {
        slots = []
        nextTurns = []
        cluster.change { state in
            state.note("process \(number) is down")
            if state.processes.allSatisfy({ !$0.isAlive }) { state.probe(.allProcessesDown) }
        }
    }

    private var ports: SimulatedPorts {
        SimulatedPorts(
            cluster: cluster,
            process: number,
            life: life,
            name: plan.configuration.groupID,
            inputTopic: topics.input,
            changelogTopic: topics.changelog,
            targets: topics.targets
        )
    }

    private func turnWorker(_ slot: Int) {
        switch slots[slot] {
        case .starting(let sink): initialize(slot, sink)
        case .ready: joinIfAllAreReady()
        case .running(let worker):
            if cluster.read({ $0.processes[number].isStopRequested }), !board.stopRequested {
                let now = cluster.read(\.now)
                board.requestStop(deadline: MonotonicTime(milliseconds: now + 6000))
            }
            end(slot, worker.turn())
        case .ended: break
        }
    }

    private func initialize(_ slot: Int, _ earlier: (any TransactionalSink)?) {
        if cluster.read({ $0.processes[number].isStopRequested }) {
            slots[slot] = .ended
            return
        }
        do throws(StreamError) {
            let sink: any TransactionalSink
            if let earlier { sink = earlier } else { sink = try ports.makeSink(worker: slot) }
            slots[slot] = .starting(sink)
            try sink.initTransactions(timeoutMilliseconds: 50)
            slots[slot] = .ready(sink)
        } catch {
            if error.disposition != .retriable { slots[slot] = .starting(nil) }
        }
    }

    private func joinIfAllAreReady() {
        if cluster.read({ $0.processes[number].isStopRequested }) {
            for slot in slots.indices { slots[slot] = .ended }
            return
        }
        let sinks = slots.compactMap { if case .ready(let sink) = $0 { sink } else { nil } }
        guard sinks.count == slots.count else { return }
        for slot in slots.indices {
            do throws(StreamError) {
                let worker = try Worker(
                    number: slot,
                    configuration: plan.configuration,
                    ports: ports,
                    sink: sinks[slot],
                    clock: SimulatedClock(cluster: cluster, process: number),
                    log: log,
                    registry: registry,
                    board: board
                )
                try worker.start()
                slots[slot] = .running(worker)
            } catch {
                slots[slot] = .ended
            }
        }
    }

    /// What a verdict means: a worker that can't go on takes its process down.
    private func end(_ slot: Int, _ verdict: WorkerVerdict) {
        guard verdict != .running else { return }
        slots[slot] = .ended
        guard case .failed(let exitCode, let reason) = verdict else { return }
        cluster.change { state in
            guard state.processes[number].isAlive else { return }
            state.note("process \(number) exits with \(exitCode): \(reason)")
            switch exitCode {
            case 65: state.probe(.exitedForAnotherInstance)
            case 1 where state.processes[number].isStopRequested: break
            default: state.violate("process \(number) exits with \(exitCode): \(reason)")
            }
            state.processes[number].isAlive = false
            state.processes[number].startAt = state.now + 500
        }
    }

    /// What the process says of its partitions.
    var statuses: [PartitionStatus] { isDown ? [] : board.partitions }
}

/// The topics of a simulation.
struct SimulatedTopics: Sendable {
    var input: Int
    var commands: Int
    var deadLetters: Int
    var changelog: Int
    var group: Int

    var targets: SinkTargets {
        SinkTargets(topics: [commands, deadLetters, changelog], group: group)
    }
}
