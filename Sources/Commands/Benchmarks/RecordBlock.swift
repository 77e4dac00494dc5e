internal import ComboWire

/// Records in one run of memory, key and value side by side as in a fetched batch of Kafka's.
struct RecordBlock: ~Copyable {
    private struct Entry: BitwiseCopyable {
        var keyStart: Int
        var valueStart: Int
        var end: Int
        var timestamp: Int64
    }

    private var storage = OutputBytes(capacity: 1 << 16)
    private var entries: ContiguousArray<Entry> = []
    /// Offset of the first record.
    private var firstOffset: Int64 = 0

    /// Number of records.
    var count: Int { entries.count }
    /// The keys and values, one after the other.
    var bytes: UnsafeRawBufferPointer { unsafe storage.bytes }
    /// Time of the last record; the block is not empty.
    var lastTimestamp: Int64 { entries[entries.count - 1].timestamp }

    /// Appends a record.
    mutating func append(key: [UInt8], value: [UInt8], timestamp: Int64) {
        let keyStart = storage.count
        unsafe key.withUnsafeBytes { unsafe storage.append($0) }
        let valueStart = storage.count
        unsafe value.withUnsafeBytes { unsafe storage.append($0) }
        entries.append(
            Entry(
                keyStart: keyStart,
                valueStart: valueStart,
                end: storage.count,
                timestamp: timestamp
            )
        )
    }

    /// The record at `index`; valid until the block changes.
    func record(_ index: Int) -> InputRecord {
        let entry = entries[index]
        let bytes = unsafe storage.bytes
        return unsafe InputRecord(
            offset: firstOffset + Int64(index),
            timestamp: entry.timestamp,
            key: UnsafeRawBufferPointer(rebasing: bytes[entry.keyStart..<entry.valueStart]),
            value: UnsafeRawBufferPointer(rebasing: bytes[entry.valueStart..<entry.end])
        )
    }

    /// Forgets the records, keeps the memory; offsets go on where they were.
    mutating func removeAll() {
        firstOffset += Int64(entries.count)
        storage.removeAll()
        entries.removeAll(keepingCapacity: true)
    }
}
