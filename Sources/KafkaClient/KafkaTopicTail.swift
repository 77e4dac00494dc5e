package import StreamPorts

/// Reads all partitions of a topic, committed records only; see ``TopicReader``.
package final class KafkaTopicTail: TopicTail {
    private let topic: String
    private let reader: TopicReader
    private let admin: KafkaAdmin

    /// Makes a reader; no broker need be there yet.
    ///
    /// - Parameters:
    ///   - settings: The user's.
    ///   - topic: What is read.
    ///   - group: A group that the user may read as; it is neither joined nor committed to.
    ///   - clientID: The name in logs and in the brokers' quotas.
    ///   - events: Hears of log lines.
    /// - Throws: `refused` for settings that librdkafka doesn't take.
    package init(
        _ settings: KafkaSettings,
        topic: String,
        group: String,
        clientID: String,
        events: any ClientEvents
    ) throws(StreamError) {
        self.topic = topic
        reader = try TopicReader(
            settings,
            topic: topic,
            readCommitted: true,
            group: group,
            clientID: clientID,
            events: events
        )
        admin = try KafkaAdmin(settings, clientID: "\(clientID)-admin", events: events)
    }

    package var batch: RecordBatch { reader.batch }
    package var events: [SourceEvent] { reader.events }

    package func partitions(timeoutMilliseconds: Int32) throws(StreamError) -> [Int32]? {
        try admin.partitions(of: topic, timeoutMilliseconds: timeoutMilliseconds)?
            .map(\.partition)
    }

    package func watermarks(
        partition: Int32,
        timeoutMilliseconds: Int32
    )
        throws(StreamError) -> (low: Int64, high: Int64)
    {
        try reader.watermarks(partition: partition, timeoutMilliseconds: timeoutMilliseconds)
    }

    package func offsets(
        at timestampMilliseconds: Int64,
        of partitions: [Int32],
        timeoutMilliseconds: Int32
    ) throws(StreamError) -> [PartitionOffset] {
        try reader.offsets(
            at: timestampMilliseconds,
            of: partitions,
            timeoutMilliseconds: timeoutMilliseconds
        )
    }

    package func assign(_ offsets: [PartitionOffset]) throws(StreamError) {
        try reader.assign(offsets)
    }

    package func poll(limit: Int, timeoutMilliseconds: Int32) throws(StreamError) {
        try reader.poll(limit: limit, timeoutMilliseconds: timeoutMilliseconds)
    }

    package func position(partition: Int32) -> Int64? {
        reader.position(partition: partition)
    }

    package func close(timeoutMilliseconds: Int32) {
        let deadline = Deadline(milliseconds: timeoutMilliseconds)
        reader.close(timeoutMilliseconds: timeoutMilliseconds)
        admin.close(timeoutMilliseconds: deadline.remainingMilliseconds)
    }
}
