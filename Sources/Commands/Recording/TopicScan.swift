internal import ComboWire
internal import KafkaClient
internal import StreamPorts

/// Reads a topic from its start to where it ended when the scan began, committed records only.
struct TopicScan {
    /// What can be read of a partition.
    struct Extent: Equatable {
        var partition: Int32
        /// The first offset that retention has left.
        var low: Int64
        /// Where committed records end.
        var high: Int64
    }

    /// A record, valid during the call that it is given to.
    struct Record {
        var view: RecordView
        /// Asks for its headers, which costs.
        var headers: () -> [RecordHeader]

        /// As the engine takes it.
        var input: InputRecord {
            unsafe InputRecord(
                offset: view.offset,
                timestamp: view.timestampMilliseconds,
                key: view.key,
                value: view.value
            )
        }
    }

    let topic: String
    /// In order of partition.
    let extents: [Extent]
    private let reader: TopicReader
    private static let questionMilliseconds: Int32 = 15_000
    private static let recordsPerPoll = 1000
    private static let pollMilliseconds: Int32 = 200

    /// Asks the brokers how far the topic goes.
    ///
    /// - Throws: The topic is not there, or the brokers can't be reached.
    init(_ configuration: Configuration, topic: String) throws(CommandFailure) {
        self.topic = topic
        let settings = try KafkaSettings(checked: configuration)
        let clientID = "\(configuration.groupID)-reader"
        do throws(StreamError) {
            let admin = try KafkaAdmin(settings, clientID: clientID, events: SilentClientEvents())
            defer { admin.close(timeoutMilliseconds: 1000) }
            let found = try admin.partitions(
                of: topic,
                timeoutMilliseconds: Self.questionMilliseconds
            )
            guard let found else {
                throw StreamError(
                    .refused,
                    operation: topic,
                    code: "UNKNOWN_TOPIC_OR_PART",
                    detail: "there is no such topic"
                )
            }
            reader = try TopicReader(
                settings,
                topic: topic,
                readCommitted: true,
                group: configuration.groupID,
                clientID: clientID,
                events: SilentClientEvents()
            )
            var extents: [Extent] = []
            for partition in found.map(\.partition) {
                let (low, high) = try reader.watermarks(
                    partition: partition,
                    timeoutMilliseconds: Self.questionMilliseconds
                )
                extents.append(Extent(partition: partition, low: low, high: high))
            }
            self.extents = extents
        } catch {
            throw CommandFailure(kafka: error, settings)
        }
    }

    /// Gives every record to `body`, those of a partition in order of offset.
    ///
    /// - Parameters:
    ///   - context: Where progress is shown.
    ///   - what: What is done to a record, for the progress.
    ///   - ends: Stops a partition before this offset, where that is earlier.
    ///   - body: Takes a record.
    /// - Throws: The brokers refused, or can't be reached.
    func run(
        _ context: CommandContext,
        _ what: String,
        upTo ends: [Int32: Int64] = [:],
        _ body: (Record) -> Void
    ) throws(CommandFailure) {
        do {
            try read(context, what, upTo: ends, body)
        } catch {
            throw CommandFailure(.failure, "\(topic): \(error)")
        }
    }

    private func read(
        _ context: CommandContext,
        _ what: String,
        upTo ends: [Int32: Int64],
        _ body: (Record) -> Void
    ) throws(StreamError) {
        var progress = ProgressLine(on: context.errors)
        defer { progress.clear() }
        var count = 0
        var open: [Int32: Int64] = [:]
        for extent in extents {
            let end = min(ends[extent.partition] ?? extent.high, extent.high)
            if end > extent.low { open[extent.partition] = end }
        }
        try reader.assign(
            extents.filter { open[$0.partition] != nil }.map {
                PartitionOffset(partition: $0.partition, offset: $0.low)
            }
        )
        while !open.isEmpty {
            try reader.poll(
                limit: Self.recordsPerPoll,
                timeoutMilliseconds: Self.pollMilliseconds
            )
            for index in 0..<reader.batch.count {
                let view = reader.batch[index]
                guard let end = open[view.partition], view.offset < end else { continue }
                body(Record(view: view) { reader.headers(index) })
                count += 1
            }
            progress.update("\(topic): \(count) records \(what)")
            for (partition, end) in open
            where (reader.position(partition: partition) ?? 0) >= end {
                open[partition] = nil
            }
        }
        try reader.assign([])
    }

    /// Ends the connection.
    func close() {
        reader.close(timeoutMilliseconds: 1000)
    }
}

extension CommandFailure {
    /// What the brokers answered; the address stands before an answer that never came.
    init(kafka error: StreamError, _ settings: KafkaSettings) {
        let place = error.disposition == .retriable ? "\(settings.bootstrapServers): " : ""
        self.init(.failure, "\(place)\(error)")
    }
}
