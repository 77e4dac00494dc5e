import Foundation
import KafkaClient
import StreamPorts
import Synchronization
import Testing

@testable import KafkaClient

/// Ports of KafkaClient on some cluster.
protocol KafkaFixture: PortFixture {
    var settings: KafkaSettings { get throws }
}

/// A source of names that no other test uses.
enum Names {
    private static let next = Atomic<Int>(0)

    static func unique(_ stem: String = "t") -> String {
        "\(stem)-\(getpid())-\(next.add(1, ordering: .relaxed).newValue)"
    }
}

/// Keeps librdkafka's warnings, to be shown when a test fails.
final class HeardEvents: ClientEvents {
    let lines = Mutex<[String]>([])

    func logged(_ line: ClientLogLine) {
        lines.withLock { $0.append("\(line.client) \(line.facility): \(line.message)") }
    }

    func failed(_ error: StreamError, client: String) {
        lines.withLock { $0.append("\(client) failed: \(error)") }
    }

    func statistics(_ json: RawSpan, client: String) {}
}

extension KafkaFixture {
    func makeSource(topic: String, group: String, member: String) throws -> any RecordSource {
        try KafkaSource(
            settings,
            topic: topic,
            group: group,
            clientID: member,
            prefetchBytes: 16 << 20,
            events: SilentClientEvents()
        )
    }

    func makeSink(
        id: String,
        input: String,
        output: String
    ) throws -> any TransactionalSink {
        try KafkaSink(
            settings,
            transactionalID: id,
            inputTopic: input,
            topics: OutputTopics(commands: output, deadLetters: output, changelog: output),
            clientID: id,
            events: SilentClientEvents()
        )
    }

    func makeChangelogReader(topic: String) throws -> any ChangelogReader {
        try KafkaChangelogReader(
            settings,
            topic: topic,
            group: topic,
            clientID: "changelog",
            events: SilentClientEvents()
        )
    }

    func write(_ records: [Record], to topic: String) throws {
        let loader = try KafkaLoader(
            settings,
            topic: topic,
            clientID: "loader",
            events: SilentClientEvents()
        )
        for record in records {
            try loader.write(
                partition: record.partition,
                timestampMilliseconds: record.timestampMilliseconds,
                key: record.key.map { Array($0.utf8) },
                value: record.value.map { Array($0.utf8) }
            )
        }
        try loader.flush(timeoutMilliseconds: 30_000)
        #expect(loader.handedOver == records.count && loader.failed == 0)
        loader.close(timeoutMilliseconds: 5000)
    }

    func read(_ topic: String, partitions: Int, readCommitted: Bool) throws -> [Record] {
        let reader = try TopicReader(
            settings,
            topic: topic,
            readCommitted: readCommitted,
            group: topic,
            clientID: "reader",
            events: SilentClientEvents()
        )
        defer { reader.close(timeoutMilliseconds: 5000) }
        let numbers = (0..<partitions).map { Int32($0) }
        try reader.assign(numbers.map { PartitionOffset(partition: $0, offset: nil) })
        var records: [Record] = []
        var atEnd: Set<Int32> = []
        let deadline = ContinuousClock.now.advanced(by: patience)
        while atEnd.count < partitions {
            guard ContinuousClock.now < deadline else {
                Issue.record("\(records.count) records, ends of \(atEnd.sorted())")
                throw Impatience()
            }
            try reader.poll(limit: 100, timeoutMilliseconds: 50)
            for index in 0..<reader.batch.count {
                records.append(Record(reader.batch[index], headers: reader.headers(index)))
            }
            for case .endOfPartition(let partition, _) in reader.events { atEnd.insert(partition) }
        }
        return records.sorted {
            ($0.partition ?? 0, $0.offset ?? 0) < ($1.partition ?? 0, $1.offset ?? 0)
        }
    }
}
