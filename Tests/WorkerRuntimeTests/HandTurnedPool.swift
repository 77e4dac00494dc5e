import ComboCore
import Simulator
import StreamPorts
import Synchronization
import Telemetry
import Testing

@testable import WorkerRuntime

/// The workers of one process on a simulated cluster, turned one after the other by the test.
final class HandTurnedPool {
    static let topics = StandaloneCluster.PoolTopics(
        input: "gift.events",
        commands: "overlay.commands",
        deadLetters: "gift.events.dlq",
        changelog: "giftcombo-combos"
    )
    /// More turns than anything here needs: none waits longer than a transaction or a session.
    private static let turnsMax = 20_000

    let cluster: StandaloneCluster
    let board: StatusBoard
    let configuration: WorkerConfiguration
    private(set) var workers: [Worker] = []
    private(set) var verdicts: [WorkerVerdict] = []
    private let ports: any PortFactory
    private let registry = MetricRegistry()
    private let lines = Lines()

    /// What was logged.
    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
    }

    /// A cluster with the topics of a pool.
    static func makeCluster(
        partitions: Int = 2,
        changelogPartitions: Int? = nil
    ) -> StandaloneCluster {
        let cluster = StandaloneCluster()
        cluster.makeTopic(topics.input, partitions: partitions)
        cluster.makeTopic(topics.commands, partitions: 1)
        cluster.makeTopic(topics.deadLetters, partitions: 1)
        cluster.makeTopic(topics.changelog, partitions: changelogPartitions ?? partitions)
        return cluster
    }

    /// A pool of workers that have not joined yet; see ``join(_:)``.
    init(
        _ cluster: StandaloneCluster = HandTurnedPool.makeCluster(),
        workers: Int = 1,
        _ change: (inout WorkerConfiguration) -> Void = { _ in }
    ) {
        self.cluster = cluster
        board = StatusBoard(workers: workers)
        var configuration = WorkerConfiguration()
        configuration.idleGrace = nil
        change(&configuration)
        self.configuration = configuration
        ports = cluster.makePorts(
            topics: HandTurnedPool.topics,
            group: configuration.groupID
        )
    }

    /// Lets the next worker join the group.
    func join() throws {
        let number = workers.count
        let sink = try ports.makeSink(worker: number)
        try sink.initTransactions(timeoutMilliseconds: 1_000)
        board.noteInitialized(worker: number)
        let (clock, lines) = (cluster.clock, lines)
        let worker = try Worker(
            number: number,
            configuration: configuration,
            ports: ports,
            sink: sink,
            clock: clock,
            log: Logger(
                clock: LogClock(
                    wallMilliseconds: { clock.wall.milliseconds },
                    monotonicMilliseconds: { clock.monotonic.milliseconds }
                ),
                sink: { line in lines.all.withLock { $0.append(line) } }
            ),
            registry: registry,
            board: board
        )
        try worker.start()
        workers.append(worker)
        verdicts.append(.running)
    }

    /// A producer with the transactional id of the pool's worker, as another process has it that
    /// was given the same `instance.id`.
    func makeRival(worker: Int = 0) throws -> any TransactionalSink {
        let sink = try ports.makeSink(worker: worker)
        try sink.initTransactions(timeoutMilliseconds: 1_000)
        return sink
    }

    /// Turns every worker that runs until something is so; records an issue if it never is.
    func turn(
        until what: Comment,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ isSo: () -> Bool
    ) {
        for _ in 0..<Self.turnsMax {
            if isSo() { return }
            for index in workers.indices where verdicts[index] == .running {
                verdicts[index] = workers[index].turn()
            }
            cluster.advance(by: 1)
        }
        let log = lines.all.withLock { $0.suffix(20).joined() }
        Issue.record("never: \(what)\n\(log)", sourceLocation: sourceLocation)
    }

    func turnUntilReady(sourceLocation: SourceLocation = #_sourceLocation) {
        turn(until: "ready", sourceLocation: sourceLocation) { board.reasonNotReady == nil }
    }

    func turnUntilCommitted(
        _ offset: Int64,
        partition: Int32 = 0,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        turn(until: "offset \(offset) committed", sourceLocation: sourceLocation) {
            committed(partition)?.offset == offset
        }
    }

    /// Why a partition was refused.
    var refusal: String? { board.partitions.compactMap(\.reason).first }

    func committed(_ partition: Int32) -> PartitionOffset? {
        cluster.committed(group: configuration.groupID, partition: partition)
    }

    // MARK: - Input and output

    /// Writes gift events of a user, timestamped now.
    func send(_ user: String, partition: Int32 = 0, _ values: String...) {
        let now = cluster.clock.wall.milliseconds
        cluster.write(
            values.map { value in
                StandaloneCluster.StoredRecord(
                    partition: partition,
                    timestamp: now,
                    key: Array(user.utf8),
                    value: Array(value.utf8)
                )
            },
            to: Self.topics.input
        )
    }

    /// What a reader of committed records sees of a topic.
    func read(_ topic: String) -> [StandaloneCluster.StoredRecord] {
        cluster.read(topic, readCommitted: true)
    }

    /// The committed commands, shortened to `kind from-count`.
    var commands: [String] {
        read(Self.topics.commands).map { record in
            let text = String(decoding: record.value ?? [], as: UTF8.self)
            return "\(field("command", text)) \(field("from", text))-\(field("count", text))"
        }
    }

    private func field(_ name: String, _ text: String) -> String {
        let quoted = "\"\(name)\":"
        guard let start = text.firstRange(of: quoted)?.upperBound else { return "?" }
        return text[start...].prefix { $0 != "," && $0 != "}" }.filter { $0 != "\"" }
    }
}
