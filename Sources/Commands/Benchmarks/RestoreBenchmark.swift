internal import ComboCore
internal import ComboWire
internal import KafkaClient
internal import StreamPorts
internal import WorkerRuntime

/// What one restore has taken.
struct RestoreMeasurement {
    /// Records in the changelog partition.
    var records = 0
    /// Keys that came of them.
    var keys = 0
    var bytes = 0
    /// Until every record was taken in, and until the state stood; milliseconds.
    var readMilliseconds: Int64 = 0
    var totalMilliseconds: Int64 = 0

    var recordsPerSecond: Int { records * 1000 / max(1, Int(totalMilliseconds)) }
}

/// Restores a partition from a changelog on a real broker, by the parts that a worker has for it.
///
/// The changelog is that of a partition with 20,000 live combos, a record for each key that changed
/// in a transaction of 2,000 events; it is written to a topic of its own, which is deleted after.
struct RestoreBenchmark {
    private static let live = 20_000
    private static let eventsPerTransaction = 2000
    private static let recordsPerPoll = 4000
    private static let timeout: Int32 = 30_000

    private let configuration: Configuration
    private let settings: KafkaSettings
    private let topic: String

    init(_ configuration: Configuration) throws(CommandFailure) {
        self.configuration = configuration
        settings = try KafkaSettings(checked: configuration)
        topic = "\(configuration.topics.changelog)-bench"
    }

    /// Makes the changelog and restores it `rounds` times.
    func run(
        records: Int,
        rounds: Int,
        seed: UInt64
    ) throws(CommandFailure) -> [RestoreMeasurement] {
        do throws(StreamError) {
            let clientID = "\(configuration.groupID)-bench"
            let events = SilentClientEvents()
            let admin = try KafkaAdmin(settings, clientID: clientID, events: events)
            defer { admin.close(timeoutMilliseconds: 1000) }
            try admin.create(
                NewTopic(name: topic, partitions: 1, settings: ["cleanup.policy": "delete"]),
                timeoutMilliseconds: Self.timeout
            )
            defer { try? admin.delete(topic, timeoutMilliseconds: Self.timeout) }
            try fill(records: records, seed: seed)
            var measurements: [RestoreMeasurement] = []
            for _ in 0..<rounds { measurements.append(try restore()) }
            return measurements
        } catch {
            throw CommandFailure(kafka: error, settings)
        }
    }

    private func fill(records: Int, seed: UInt64) throws(StreamError) {
        let loader = try KafkaLoader(
            settings,
            topic: topic,
            clientID: "\(configuration.groupID)-bench",
            events: SilentClientEvents()
        )
        defer { loader.close(timeoutMilliseconds: 1000) }
        var engine = PartitionEngine(
            partition: 0,
            configuration: configuration.combo,
            tracksChanges: true
        )
        var traffic = ComboTraffic(live: Self.live, seed: seed)
        var block = RecordBlock()
        var commands = CommandBatch()
        var changes = ChangelogBatch()
        var written = 0
        while written < records {
            block.removeAll()
            traffic.append(Self.eventsPerTransaction, to: &block)
            for index in 0..<block.count {
                _ = engine.process(block.record(index), arrivedAt: nil, into: &commands)
            }
            commands.removeAll()
            changes.appendChanges(of: &engine)
            for index in 0..<changes.count where written < records {
                let entry = changes[index]
                let value = unsafe changes.value(of: entry)
                try loader.write(
                    partition: 0,
                    timestampMilliseconds: 0,
                    key: unsafe Array(changes.key(of: entry)),
                    value: unsafe value.baseAddress == nil ? nil : Array(value)
                )
                written += 1
            }
            changes.removeAll()
        }
        try loader.flush(timeoutMilliseconds: 120_000)
        if let failure = loader.firstFailure { throw failure }
    }

    private func restore() throws(StreamError) -> RestoreMeasurement {
        let reader = try KafkaChangelogReader(
            settings,
            topic: topic,
            group: configuration.groupID,
            clientID: "\(configuration.groupID)-bench",
            events: SilentClientEvents()
        )
        defer { reader.close(timeoutMilliseconds: 1000) }
        let end = try reader.highWatermark(partition: 0, timeoutMilliseconds: Self.timeout)
        let clock = SystemClock()
        let start = clock.monotonic
        var measurement = RestoreMeasurement()
        var image = ChangelogImage()
        try reader.assign([0])
        while (reader.position(partition: 0) ?? 0) < end {
            try reader.poll(limit: Self.recordsPerPoll, timeoutMilliseconds: 100)
            for index in 0..<reader.batch.count {
                let record = reader.batch[index]
                add(record, to: &image)
                measurement.records += 1
                measurement.bytes += unsafe record.key.count + record.value.count
            }
        }
        measurement.readMilliseconds = clock.monotonic.since(start)
        var engine = PartitionEngine(
            partition: 0,
            configuration: configuration.combo,
            tracksChanges: true
        )
        do {
            _ = try image.restore(into: &engine)
        } catch {
            preconditionFailure("our own changelog can be read: \(error)")
        }
        measurement.totalMilliseconds = clock.monotonic.since(start)
        measurement.keys = image.count
        return measurement
    }

    private func add(_ record: RecordView, to image: inout ChangelogImage) {
        do {
            try unsafe image.add(key: record.key, value: record.value)
        } catch {
            preconditionFailure("our own changelog can be read: \(error)")
        }
    }
}
