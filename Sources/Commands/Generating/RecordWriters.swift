internal import KafkaClient
internal import StreamPorts

/// Takes records one after the other.
protocol RecordWriter: AnyObject {
    /// Takes a record; `record.offset` is not looked at.
    func write(_ record: RecordedRecord, isObject: Bool) throws(CommandFailure)
    /// Passes on what is collected.
    func push()
    /// Whether it has gone wrong, or nobody reads any more.
    var isDone: Bool { get }
    /// Waits until everything has arrived.
    func finish() throws(CommandFailure)
    /// Records that could not be delivered.
    var failed: Int { get }
}

/// Prints records as lines of a recording, which `replay` reads.
final class LineRecordWriter: RecordWriter {
    private let output: Output
    private let partitions: Int32
    private var nextOffsets: [Int64]
    private var line: [UInt8] = []

    init(_ output: Output, partitions: Int32) {
        self.output = output
        self.partitions = partitions
        nextOffsets = Array(repeating: 0, count: Int(partitions))
    }

    var isDone: Bool { output.failure != nil }
    var failed: Int { 0 }

    func write(_ record: RecordedRecord, isObject: Bool) {
        let partition = Murmur2.partition(ofKey: record.key, partitions: partitions)
        line.removeAll(keepingCapacity: true)
        line.append(contentsOf: "{\"partition\":\(partition),\"offset\":".utf8)
        line.append(contentsOf: String(nextOffsets[Int(partition)]).utf8)
        line.append(contentsOf: ",\"timestamp\":\(record.timestamp),\"key\":".utf8)
        appendJSONString(record.key, to: &line)
        line.append(contentsOf: ",\"value\":".utf8)
        if isObject {
            line.append(contentsOf: record.value)
        } else {
            appendJSONString(record.value, to: &line)
        }
        line.append(contentsOf: "}\n".utf8)
        nextOffsets[Int(partition)] += 1
        output.append(line)
    }

    func push() { output.flush() }
    func finish() { output.flush() }
}

/// Writes records to a topic.
final class TopicRecordWriter: RecordWriter {
    /// How records find their partitions.
    enum Placement {
        /// By their keys, as Java clients do it.
        case byKey
        /// Where they were recorded.
        case asRecorded
    }

    private let loader: KafkaLoader
    private let placement: Placement
    private let topic: String
    private static let finishMilliseconds: Int32 = 60_000
    private static let questionMilliseconds: Int32 = 10_000

    /// Connects to the brokers and checks that the topic is there.
    init(
        _ settings: KafkaSettings,
        topic: String,
        placement: Placement,
        events: any ClientEvents
    ) throws(CommandFailure) {
        self.placement = placement
        self.topic = topic
        do throws(StreamError) {
            let admin = try KafkaAdmin(settings, clientID: "giftcombo-generate", events: events)
            defer { admin.close(timeoutMilliseconds: 1_000) }
            let partitions = try admin.partitions(
                of: topic,
                timeoutMilliseconds: Self.questionMilliseconds
            )
            guard partitions != nil else {
                throw StreamError(
                    .refused,
                    operation: "--topic \(topic)",
                    code: "UNKNOWN_TOPIC_OR_PART",
                    detail: "there is no such topic; giftcombo topics makes the program's topics"
                )
            }
            loader = try KafkaLoader(
                settings,
                topic: topic,
                clientID: "giftcombo-generate",
                events: events
            )
        } catch {
            let isUnreachable = error.disposition == .retriable
            let place = isUnreachable ? "\(settings.bootstrapServers): " : ""
            throw CommandFailure(.failure, "\(place)\(error)")
        }
    }

    var isDone: Bool { loader.firstFailure != nil }
    var failed: Int { loader.failed }

    func write(_ record: RecordedRecord, isObject: Bool) throws(CommandFailure) {
        do {
            try loader.write(
                partition: placement == .asRecorded ? record.partition : nil,
                // 0 lets the client take its own time.
                timestampMilliseconds: max(record.timestamp, 0),
                key: record.hasKey ? record.key : nil,
                value: record.hasValue ? record.value : nil
            )
        } catch {
            throw CommandFailure(.failure, "\(error)")
        }
    }

    func push() {}

    func finish() throws(CommandFailure) {
        defer { loader.close(timeoutMilliseconds: 1_000) }
        do {
            try loader.flush(timeoutMilliseconds: Self.finishMilliseconds)
        } catch {
            throw CommandFailure(.failure, "topic \(topic): \(error)")
        }
    }
}
