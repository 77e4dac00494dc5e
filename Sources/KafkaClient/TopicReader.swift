internal import CRdKafka
package import StreamPorts

/// Reads partitions of a topic from given offsets, without a group.
///
/// For the changelog, and for commands and tests that read a topic up to its end. One thread makes
/// all calls.
@safe
package final class TopicReader {
    private let consumer: ConsumerClient
    /// Where each assigned partition was begun.
    private var starts: [Int32: Int64] = [:]
    private var isClosed = false

    /// Makes a reader; nothing is read before partitions are assigned.
    ///
    /// - Parameters:
    ///   - settings: The user's.
    ///   - topic: What is read.
    ///   - readCommitted: Whether records of open and aborted transactions are left out.
    ///   - group: A group that the user may read as; it is neither joined nor committed to.
    ///   - clientID: The name in logs and in the brokers' quotas.
    ///   - prefetchBytes: How much is fetched ahead, all partitions together.
    ///   - events: Hears of log lines; errors come as ``events``.
    /// - Throws: `refused` for settings that librdkafka doesn't take.
    package init(
        _ settings: KafkaSettings,
        topic: String,
        readCommitted: Bool,
        group: String,
        clientID: String,
        prefetchBytes: Int = TopicReader.defaultPrefetchBytes,
        events: any ClientEvents
    ) throws(StreamError) {
        consumer = try ConsumerClient(
            settings,
            role: .reader(
                group: group,
                readCommitted: readCommitted,
                prefetchBytes: prefetchBytes
            ),
            topic: topic,
            clientID: clientID,
            events: events
        )
    }

    /// How much a reader without a budget of its own fetches ahead, bytes.
    package static let defaultPrefetchBytes = 16 << 20

    /// The partitions that are read, in order.
    package var assigned: [Int32] { starts.keys.sorted() }

    /// The records of the last poll, in order of offset within each partition.
    package var batch: RecordBatch { consumer.batch }
    /// What the last poll met besides records, in order.
    package var events: [SourceEvent] { consumer.events }

    /// Reads these partitions from these offsets, and stops reading all others.
    ///
    /// A partition that is being read already goes on where it is. No offset means the log's start.
    package func assign(_ offsets: [PartitionOffset]) throws(StreamError) {
        let wanted = Set(offsets.map(\.partition))
        let removed = starts.keys.filter { !wanted.contains($0) }.sorted()
        let added = offsets.filter { starts[$0.partition] == nil }
        if !removed.isEmpty {
            consumer.close(partitions: removed)
            for partition in removed { starts[partition] = nil }
            try consumer.unassign(PartitionList(topic: consumer.topic, partitions: removed))
        }
        guard !added.isEmpty else { return }
        let list = PartitionList(capacity: added.count)
        for offset in added {
            let start = offset.offset ?? Int64(RD_KAFKA_OFFSET_BEGINNING)
            list.add(topic: consumer.topic, partition: offset.partition, offset: start)
            consumer.positions.open(partition: offset.partition, at: max(start, 0))
            starts[offset.partition] = max(start, 0)
        }
        try consumer.assign(list)
    }

    /// Takes at most `limit` records, waiting at most `timeoutMilliseconds` for the first.
    package func poll(limit: Int, timeoutMilliseconds: Int32) throws(StreamError) {
        precondition(limit > 0, "a poll takes at least one record")
        try consumer.poll(limit: limit, timeoutMilliseconds: timeoutMilliseconds)
    }

    /// The next offset to read, past control records; nil before anything was met there.
    package func position(partition: Int32) -> Int64? {
        guard let start = starts[partition],
            let position = consumer.positions.position(partition: partition),
            position > start || consumer.connection.isAtEnd(partition, position: position)
        else { return nil }
        return position
    }

    /// The log's first offset, and its end: the last stable offset under read_committed, else the
    /// high watermark.
    package func watermarks(
        partition: Int32,
        timeoutMilliseconds: Int32
    )
        throws(StreamError) -> (low: Int64, high: Int64)
    {
        try consumer.watermarks(partition: partition, timeoutMilliseconds: timeoutMilliseconds)
    }

    /// The first offsets whose records' timestamps are not before `timestampMilliseconds` (KIP-79);
    /// without an offset where there is no such record.
    package func offsets(
        at timestampMilliseconds: Int64,
        of partitions: [Int32],
        timeoutMilliseconds: Int32
    ) throws(StreamError) -> [PartitionOffset] {
        precondition(timestampMilliseconds >= 0, "negative ones are names of offsets")
        return try consumer.offsets(
            at: timestampMilliseconds,
            of: partitions,
            Deadline(milliseconds: timeoutMilliseconds)
        )
    }

    /// The headers of a record of the last poll, in order; for inspection, not for the hot path.
    package func headers(_ index: Int) -> [RecordHeader] {
        consumer.headers(index)
    }

    /// Ends the reader, within `timeoutMilliseconds`.
    package func close(timeoutMilliseconds: Int32) {
        guard !isClosed else { return }
        isClosed = true
        consumer.releaseBatch()
        consumer.handle.destroy(timeoutMilliseconds: timeoutMilliseconds)
    }
}
