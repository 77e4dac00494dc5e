internal import ComboCore
internal import KafkaClient
internal import StreamPorts
internal import Synchronization
internal import Telemetry
internal import WorkerRuntime

/// The whole of a deployment in one process: brokers, a pool of workers, a producer, a consumer.
///
/// The brokers are the client library's pretended ones. They store no offsets that travel in
/// transactions, so the partitions must not change hands once gifts were sent: a new owner would
/// begin at the start. Whoever uses this waits until it is settled, and asks ``wasDisturbed``.
final class EmbeddedPool {
    static let workers = 2
    static let partitions = 4
    private static let input = "gift.events"
    static let output = OutputTopics(
        commands: "overlay.commands",
        deadLetters: "gift.events.dlq",
        changelog: "giftcombo-combos"
    )
    private static let settleMilliseconds: Int64 = 30_000
    private static let stopMilliseconds: Int64 = 15_000
    private static let readMilliseconds: Int64 = 10_000
    private static let pollLimit = 1_000
    private static let rebalanceFamily = MetricCatalogue.rebalances.name
    private static let lateFamily = MetricCatalogue.lateRecords.name

    /// What reaches the brokers.
    let settings: KafkaSettings
    private let cluster: MockCluster
    private let pool: WorkerPool
    private let registry = MetricRegistry()
    private let loader: KafkaLoader
    private let reader: TopicReader
    private let clock = SystemClock()
    private let outcome = Outcome()
    private var settledRebalances: UInt64 = 0

    /// What the pool's thread leaves behind.
    private final class Outcome: Sendable {
        let value = Mutex<WorkerPool.Outcome?>(nil)
    }

    /// Starts the brokers and the pool.
    init(
        _ combo: ComboConfiguration,
        idleGrace: Int64?,
        log: Logger
    ) throws(StreamError) {
        let events = LoggedEvents(log)
        cluster = try MockCluster(brokers: 1, events: events)
        for topic in [
            Self.input, Self.output.commands, Self.output.deadLetters, Self.output.changelog,
        ] {
            try cluster.createTopic(topic, partitions: Self.partitions)
        }
        settings = try Self.settings(cluster.bootstrapServers)
        var worker = WorkerConfiguration()
        worker.instanceID = "demo"
        worker.combo = combo
        worker.idleGrace = idleGrace
        worker.transactionTimeout = Int32(clamping: settings.transactionTimeoutMilliseconds)
        pool = WorkerPool(
            configuration: worker,
            workers: Self.workers,
            ports: KafkaPorts(
                settings: settings,
                inputTopic: Self.input,
                outputTopics: Self.output,
                group: worker.groupID,
                instance: worker.instanceID,
                workers: Self.workers,
                prefetchBytes: 16 << 20,
                events: events
            ),
            clock: clock,
            log: log,
            registry: registry
        )
        loader = try KafkaLoader(
            settings,
            topic: Self.input,
            clientID: "demo-generator",
            events: events
        )
        reader = try TopicReader(
            settings,
            topic: Self.output.commands,
            readCommitted: true,
            group: "demo-overlay",
            clientID: "demo-overlay",
            events: events
        )
        try reader.assign(
            (0..<Self.partitions).map { PartitionOffset(partition: Int32($0), offset: 0) }
        )
        startThread { [pool, outcome] in
            let result = pool.run()
            outcome.value.withLock { $0 = result }
        }
    }

    /// Waits until each worker has its share of the partitions, or until `isStopping`.
    func settle(unless isStopping: () -> Bool) throws(CommandFailure) {
        let started = clock.monotonic
        while !isStopping() {
            try check()
            let owned = pool.board.partitions
            if owned.count == Self.partitions, Set(owned.map(\.worker)).count == Self.workers,
                pool.readyz().ok
            {
                settledRebalances = count(of: Self.rebalanceFamily)
                return
            }
            guard clock.monotonic.since(started) < Self.settleMilliseconds else {
                throw CommandFailure(
                    .failure,
                    "the workers don't get ready: \(pool.readyz().reason)"
                )
            }
            clock.sleep(milliseconds: 20)
        }
    }

    /// Fails if the pool has ended by itself.
    func check() throws(CommandFailure) {
        guard let ended = outcome.value.withLock({ $0 }) else { return }
        throw CommandFailure(
            .failure,
            "the worker pool ended: \(ended.reason ?? "no reason given")"
        )
    }

    /// Sends a record.
    func send(_ record: GeneratedRecord, partition: Int32) throws(CommandFailure) {
        do {
            try loader.write(
                partition: partition,
                timestampMilliseconds: record.timestamp,
                key: record.key,
                value: record.value
            )
        } catch {
            throw CommandFailure(.failure, "the embedded broker: \(error)")
        }
    }

    /// Gives the commands that were published since the last call, and waits a little for the
    /// first.
    func receive(
        waitingMilliseconds: Int32,
        _ body: (UnsafeRawBufferPointer) -> Void
    ) throws(CommandFailure) {
        do {
            try reader.poll(limit: Self.pollLimit, timeoutMilliseconds: waitingMilliseconds)
        } catch {
            throw CommandFailure(.failure, "the embedded broker: \(error)")
        }
        for index in 0..<reader.batch.count { unsafe body(reader.batch[index].value) }
    }

    // MARK: - Figures

    /// Records that the workers have processed.
    var processed: Int64 { pool.board.totals.records }
    /// Combos that are displayed or hidden.
    var liveCombos: Int { pool.board.partitions.reduce(0) { $0 + $1.liveCombos } }
    /// Records that wait; nil: not known of every partition.
    var lag: Int64? {
        pool.board.partitions.reduce(0) { sum, status in
            sum.flatMap { sum in status.lag.map { sum + $0 } }
        }
    }
    /// How far each partition's clock is known to have come, epoch milliseconds.
    var clocks: [Int32: Int64] {
        pool.board.partitions.reduce(into: [:]) { $0[$1.partition] = $1.clockMilliseconds }
    }
    /// Records that came behind a clock.
    var lateRecords: UInt64 { count(of: Self.lateFamily) }

    // MARK: - The end

    /// Whether a partition has changed hands since ``settle(unless:)``; asked before ``stop()``.
    var wasDisturbed: Bool { count(of: Self.rebalanceFamily) != settledRebalances }

    /// Waits until everything that was sent is acknowledged.
    func flush() throws(CommandFailure) {
        do {
            try loader.flush(timeoutMilliseconds: Int32(Self.readMilliseconds))
        } catch {
            throw CommandFailure(.failure, "the embedded broker: \(error)")
        }
    }

    /// Lets the pool commit and end, then gives the commands that were still on their way.
    func stop(_ body: (UnsafeRawBufferPointer) -> Void) throws(CommandFailure) {
        pool.requestStop()
        let started = clock.monotonic
        while outcome.value.withLock({ $0 == nil }) {
            guard clock.monotonic.since(started) < Self.stopMilliseconds else {
                throw CommandFailure(.failure, "the worker pool does not end")
            }
            try unsafe receive(waitingMilliseconds: 20, body)
        }
        if let ended = outcome.value.withLock({ $0 }), ended.exitCode != 0 {
            throw CommandFailure(.failure, ended.reason ?? "the worker pool failed")
        }
        try unsafe readToEnd(body)
    }

    private func readToEnd(_ body: (UnsafeRawBufferPointer) -> Void) throws(CommandFailure) {
        var ends: [Int32: Int64] = [:]
        do {
            for partition in 0..<Int32(Self.partitions) {
                ends[partition] =
                    try reader.watermarks(partition: partition, timeoutMilliseconds: 5_000).high
            }
        } catch {
            throw CommandFailure(.failure, "the embedded broker: \(error)")
        }
        let started = clock.monotonic
        while ends.contains(where: { (reader.position(partition: $0.key) ?? 0) < $0.value }) {
            guard clock.monotonic.since(started) < Self.readMilliseconds else {
                throw CommandFailure(.failure, "the published commands can't be read to their end")
            }
            try unsafe receive(waitingMilliseconds: 20, body)
        }
    }

    private func count(of family: String) -> UInt64 {
        let samples = registry.samples().first { $0.family.name == family }?.samples ?? []
        return samples.reduce(0) { sum, sample in
            if case .count(let count) = sample.reading { sum + count } else { sum }
        }
    }

    /// Quick on loopback, and within the pretended brokers' limits: a member that joins later waits
    /// the session time-out less a second.
    private static func settings(_ servers: String) throws(StreamError) -> KafkaSettings {
        try KafkaSettings([
            "bootstrap.servers": servers,
            "fetch.wait.max.ms": "10",
            "heartbeat.interval.ms": "500",
            "linger.ms": "2",
            "session.timeout.ms": "3000",
            "socket.nagle.disable": "false",
            "transaction.timeout.ms": "3000",
        ])
    }
}
