package import StreamPorts

/// Reads changelog partitions from their starts, under read_committed, beside the source.
package final class KafkaChangelogReader: ChangelogReader {
    private let reader: TopicReader
    /// A reader under read_committed is told the last stable offset as the end, below which an open
    /// transaction's records lie; the high watermark needs a client of the other isolation level.
    private let uncommitted: TopicReader

    /// Makes a reader; see ``TopicReader``.
    ///
    /// - Throws: `refused` for settings that librdkafka doesn't take.
    package init(
        _ settings: KafkaSettings,
        topic: String,
        group: String,
        clientID: String,
        prefetchBytes: Int = TopicReader.defaultPrefetchBytes,
        events: any ClientEvents
    ) throws(StreamError) {
        reader = try TopicReader(
            settings,
            topic: topic,
            readCommitted: true,
            group: group,
            clientID: clientID,
            prefetchBytes: prefetchBytes,
            events: events
        )
        uncommitted = try TopicReader(
            settings,
            topic: topic,
            readCommitted: false,
            group: group,
            clientID: "\(clientID)-end",
            prefetchBytes: 1 << 20,
            events: events
        )
    }

    /// The records of the last poll, in order of offset within each partition.
    package var batch: RecordBatch { reader.batch }
    /// What the last poll met besides records, in order.
    package var events: [SourceEvent] { reader.events }

    /// The high watermark, asked by the client that reads uncommitted records too.
    package func highWatermark(
        partition: Int32,
        timeoutMilliseconds: Int32
    )
        throws(StreamError) -> Int64
    {
        try uncommitted.watermarks(
            partition: partition,
            timeoutMilliseconds: timeoutMilliseconds
        ).high
    }

    /// Reads these partitions from their starts, or on from where they are being read already.
    package func assign(_ partitions: [Int32]) throws(StreamError) {
        try reader.assign(partitions.map { PartitionOffset(partition: $0, offset: nil) })
    }

    /// Takes at most `limit` records, waiting at most `timeoutMilliseconds` for the first.
    package func poll(limit: Int, timeoutMilliseconds: Int32) throws(StreamError) {
        try reader.poll(limit: limit, timeoutMilliseconds: timeoutMilliseconds)
    }

    /// The next offset to read, past control records; nil before anything was met there.
    package func position(partition: Int32) -> Int64? {
        reader.position(partition: partition)
    }

    /// Ends both clients, within `timeoutMilliseconds`.
    package func close(timeoutMilliseconds: Int32) {
        let deadline = Deadline(milliseconds: timeoutMilliseconds)
        reader.close(timeoutMilliseconds: timeoutMilliseconds)
        uncommitted.close(timeoutMilliseconds: deadline.remainingMilliseconds)
    }
}
