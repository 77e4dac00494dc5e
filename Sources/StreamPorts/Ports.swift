// The seams between the worker and the world. Every implementation (librdkafka, its mock cluster,
// the simulated broker) passes the same contract suite. All calls of one port object are made by
// one thread, the worker's own.

/// A partition and an offset in it, with the metadata string that is committed with the offset.
package struct PartitionOffset: Equatable, Sendable {
    /// The partition's number.
    package var partition: Int32
    /// The next offset to read; nil where none is known.
    package var offset: Int64?
    /// The metadata string of a committed offset; nil: none.
    package var metadata: String?

    /// Creates a partition offset.
    package init(partition: Int32, offset: Int64?, metadata: String? = nil) {
        self.partition = partition
        self.offset = offset
        self.metadata = metadata
    }
}

/// A member's standing in its consumer group, taken anew for every transaction (KIP-447).
///
/// The broker checks it when offsets are sent to a transaction, which fences a member that has lost
/// its partitions. The bytes are the client library's own.
package struct GroupMembership: Equatable, Sendable {
    /// The client library's form; only its own client reads it.
    package var bytes: [UInt8]

    /// Wraps the client library's bytes.
    package init(bytes: [UInt8]) {
        self.bytes = bytes
    }
}

/// What a source tells of besides records.
package enum SourceEvent: Equatable, Sendable {
    /// Every record of the partition up to `offset` (exclusive) has been delivered.
    case endOfPartition(partition: Int32, offset: Int64)
    /// The position lies below the log's start or above its end; the partition delivers no more
    /// until it is sought.
    case outOfRange(partition: Int32)
    /// An error that the client goes on retrying by itself (a broker that is away), to be logged.
    case trouble(StreamError)
    /// No broker has been reachable since the last ``brokersUp``.
    case brokersDown
    /// A broker is reachable again.
    case brokersUp
}

/// Takes part in rebalances; called inside ``RecordSource/poll(limit:timeoutMilliseconds:)``.
package protocol RebalanceListener: AnyObject {
    /// Partitions were added, paused: each delivers nothing until it is sought and resumed.
    func partitionsAssigned(_ partitions: [Int32])
    /// Partitions are about to be taken away: the last moment to commit for them.
    func partitionsRevoked(_ partitions: [Int32])
    /// Partitions were taken away: another member may own them already; nothing may be committed.
    func partitionsLost(_ partitions: [Int32])
}

/// Reads one topic as a member of a consumer group.
package protocol RecordSource: AnyObject {
    /// Joins the group; rebalances are told to `listener`, which is not retained.
    func subscribe(listener: any RebalanceListener) throws(StreamError)

    /// Waits at most `timeoutMilliseconds` for the first record, then takes what is there.
    ///
    /// Releases the batch before. At most `limit` records are in ``batch`` afterwards, and
    /// ``events`` holds what else happened. Calls the listener for rebalances.
    func poll(limit: Int, timeoutMilliseconds: Int32) throws(StreamError)

    /// The records of the last poll, in order of offset within each partition.
    var batch: RecordBatch { get }
    /// What the last poll met besides records, in order.
    var events: [SourceEvent] { get }

    /// Stops delivery of these partitions; what was fetched ahead is kept or fetched again.
    func pause(_ partitions: [Int32]) throws(StreamError)
    /// Resumes partitions that were paused by ``pause(_:)``.
    func resume(_ partitions: [Int32]) throws(StreamError)
    /// Moves the position: the next record of the partition is the first at or after `offset`.
    ///
    /// The end, when it is reached, is reported anew. Only for partitions that are owned, outside
    /// or inside the listener's calls; a paused one stays paused.
    func seek(partition: Int32, offset: Int64) throws(StreamError)
    /// The committed offsets with their metadata; waits until pending transactions on them end.
    ///
    /// - Throws: `retriable` when they have not ended in time, or no coordinator answers.
    func committed(
        _ partitions: [Int32],
        timeoutMilliseconds: Int32
    )
        throws(StreamError) -> [PartitionOffset]
    /// The log's first offset, and the end of what can be read (the last stable offset, for a
    /// source reads committed records only), asked of the broker.
    func watermarks(
        partition: Int32,
        timeoutMilliseconds: Int32
    )
        throws(StreamError) -> (low: Int64, high: Int64)
    /// The log's end as the client last saw it, without asking; nil: unknown.
    func cachedEnd(partition: Int32) -> Int64?
    /// One's standing in the group; nil before the first assignment and after it was lost, when
    /// offsets must not be sent; never cache it.
    func membership() -> GroupMembership?
    /// Whether the leader of the partition is known and connected, as far as the client has
    /// noticed.
    ///
    /// After an outage a partition that stood at its end reports that end anew.
    func isConnected(partition: Int32) -> Bool
    /// Leaves the group and closes, within `timeoutMilliseconds`; revocation is told to the
    /// listener.
    func close(timeoutMilliseconds: Int32)
}

/// The borrowed records of one poll.
@safe
package struct RecordBatch {
    private let records: UnsafeBufferPointer<RecordView>

    /// Borrows the records until the source's next poll.
    package init(_ records: UnsafeBufferPointer<RecordView>) {
        unsafe self.records = records
    }

    /// How many records there are.
    package var count: Int { unsafe records.count }
    /// Whether there is none.
    package var isEmpty: Bool { count == 0 }
    /// A record, by its place in the batch.
    package subscript(_ index: Int) -> RecordView {
        precondition(index >= 0 && index < count, "no such record in the batch")
        return unsafe records[index]
    }
}

/// Writes records and input offsets in transactions.
///
/// The order of calls is that of Kafka's transactional producer: `initTransactions` once, then
/// `begin`, any number of `produce`, `sendOffsets`, and `commit` or `abort`. An error's disposition
/// says what may follow.
package protocol TransactionalSink: AnyObject {
    /// Ends what an earlier producer with the same transactional id left open, and fences it; then
    /// makes sure that the topics are there.
    func initTransactions(timeoutMilliseconds: Int32) throws(StreamError)
    /// Begins a transaction.
    func begin() throws(StreamError)
    /// Hands records over, in order; their bytes are copied. A full queue waits until there is
    /// room.
    func produce(_ records: UnsafeBufferPointer<OutgoingRecord>) throws(StreamError)
    /// Hands one record with headers over; otherwise as ``produce(_:)``.
    func produce(_ record: OutgoingRecord, headers: [RecordHeader]) throws(StreamError)
    /// Serves delivery reports without waiting.
    func serve()
    /// Records handed over and not yet acknowledged.
    var outstanding: Int { get }
    /// Adds input offsets to the transaction; `abortable` for a member that is no longer in the
    /// group.
    ///
    /// - Precondition: There is at least one offset, and none is nil: a broker accepts such a list
    ///   without looking at the membership.
    func sendOffsets(
        _ offsets: [PartitionOffset],
        membership: GroupMembership,
        timeoutMilliseconds: Int32
    ) throws(StreamError)
    /// Waits until every record is acknowledged, then commits.
    ///
    /// - Throws: `retriable`: call it again, nothing else may be called; `abortable` after a failed
    ///   delivery, which the detail names; `refused` where the broker won't have the record at all,
    ///   after which only a new sink goes on.
    func commit(timeoutMilliseconds: Int32) throws(StreamError)
    /// Drops what the transaction has written, for every reader of committed records.
    func abort(timeoutMilliseconds: Int32) throws(StreamError)
    /// Closes without waiting for an open transaction.
    func close(timeoutMilliseconds: Int32)
}

/// Reads a changelog partition from its start, under read_committed, beside the source.
package protocol ChangelogReader: AnyObject {
    /// The high watermark of the partition, open transactions included.
    func highWatermark(partition: Int32, timeoutMilliseconds: Int32) throws(StreamError) -> Int64
    /// Starts to read `partitions` from their starts, and stops reading all others.
    ///
    /// One that is being read already goes on where it is.
    func assign(_ partitions: [Int32]) throws(StreamError)
    /// Takes at most `limit` records, waiting at most `timeoutMilliseconds` for the first.
    func poll(limit: Int, timeoutMilliseconds: Int32) throws(StreamError)
    /// The records of the last poll, in order of offset within each partition.
    var batch: RecordBatch { get }
    /// What the last poll met besides records, in order.
    var events: [SourceEvent] { get }
    /// The position: the next offset to read, past control records; nil before the first poll.
    func position(partition: Int32) -> Int64?
    /// Closes, within `timeoutMilliseconds`.
    func close(timeoutMilliseconds: Int32)
}

/// Makes the ports of a worker; a worker asks for a new sink after it was fenced.
package protocol PortFactory: Sendable {
    /// Makes a member of the group.
    func makeSource(worker: Int) throws(StreamError) -> any RecordSource
    /// Makes a producer with the worker's transactional id.
    func makeSink(worker: Int) throws(StreamError) -> any TransactionalSink
    /// Makes a reader of the changelog.
    func makeChangelogReader(worker: Int) throws(StreamError) -> any ChangelogReader
}

/// Reads all partitions of a topic, committed records only, from where it is told to; no group.
package protocol TopicTail: AnyObject {
    /// The topic's partitions; nil: there is no such topic.
    func partitions(timeoutMilliseconds: Int32) throws(StreamError) -> [Int32]?
    /// The log's first offset, and the end of the committed records, asked of the broker.
    func watermarks(
        partition: Int32,
        timeoutMilliseconds: Int32
    )
        throws(StreamError) -> (low: Int64, high: Int64)
    /// The first offsets whose records' timestamps are not before `timestampMilliseconds`; without
    /// an offset where there is no such record.
    func offsets(
        at timestampMilliseconds: Int64,
        of partitions: [Int32],
        timeoutMilliseconds: Int32
    ) throws(StreamError) -> [PartitionOffset]
    /// Reads these partitions, and stops reading all others.
    ///
    /// One that is being read already goes on where it is. No offset means the log's start.
    func assign(_ offsets: [PartitionOffset]) throws(StreamError)
    /// Takes at most `limit` records, waiting at most `timeoutMilliseconds` for the first.
    func poll(limit: Int, timeoutMilliseconds: Int32) throws(StreamError)
    /// The records of the last poll, in order of offset within each partition.
    var batch: RecordBatch { get }
    /// What the last poll met besides records, in order.
    var events: [SourceEvent] { get }
    /// The next offset to read, past control records; nil before anything was met there.
    func position(partition: Int32) -> Int64?
    /// Closes, within `timeoutMilliseconds`.
    func close(timeoutMilliseconds: Int32)
}
