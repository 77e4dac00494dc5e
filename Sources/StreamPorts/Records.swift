/// One record of a batch, its bytes borrowed from the batch.
///
/// The bytes are valid until the batch is released (by the next poll).
@safe
package struct RecordView: BitwiseCopyable {
    /// Partition of the subscribed topic.
    package let partition: Int32
    /// Offset in its partition.
    package let offset: Int64
    /// Kafka's timestamp, epoch milliseconds; −1: none.
    package let timestampMilliseconds: Int64
    /// The key; a nil base address is a null key.
    package let key: UnsafeRawBufferPointer
    /// The value; a nil base address is a null value (a tombstone).
    package let value: UnsafeRawBufferPointer

    /// Creates a view of bytes that the batch keeps alive.
    package init(
        partition: Int32,
        offset: Int64,
        timestampMilliseconds: Int64,
        key: UnsafeRawBufferPointer,
        value: UnsafeRawBufferPointer
    ) {
        self.partition = partition
        self.offset = offset
        self.timestampMilliseconds = timestampMilliseconds
        unsafe self.key = key
        unsafe self.value = value
    }
}

/// A record to be produced, its bytes borrowed until the call returns.
@safe
package struct OutgoingRecord: BitwiseCopyable {
    /// Which of the sink's topics.
    package var topic: OutputTopic
    /// Partition to write to; ``partitionByKey`` leaves it to the topic's partitioner.
    package var partition: Int32
    /// Record timestamp, epoch milliseconds; 0: now.
    package var timestampMilliseconds: Int64
    /// The key; a nil base address is a null key.
    package var key: UnsafeRawBufferPointer
    /// The value; a nil base address is a tombstone.
    package var value: UnsafeRawBufferPointer

    /// The partition follows from the key, as Java clients compute it (`murmur2_random`).
    package static let partitionByKey: Int32 = -1

    /// Creates a record whose bytes stay valid until it is produced.
    package init(
        topic: OutputTopic,
        partition: Int32 = OutgoingRecord.partitionByKey,
        timestampMilliseconds: Int64,
        key: UnsafeRawBufferPointer,
        value: UnsafeRawBufferPointer
    ) {
        self.topic = topic
        self.partition = partition
        self.timestampMilliseconds = timestampMilliseconds
        unsafe self.key = key
        unsafe self.value = value
    }
}

/// A record header.
package struct RecordHeader: Equatable, Sendable {
    /// The header's name.
    package var name: String
    /// Its value, as text.
    package var value: String

    /// Creates a header.
    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// The topics that a worker writes to.
package enum OutputTopic: UInt8, CaseIterable, Sendable, BitwiseCopyable {
    case commands
    case deadLetters
    case changelog
}
