internal import ComboCore

/// Changelog records of one transaction, in one buffer that is used again.
package struct ChangelogBatch: ~Copyable {
    /// Where one record's bytes lie.
    package struct Entry: BitwiseCopyable {
        /// The changelog partition, which is the input's.
        package var partition: Int32
        fileprivate var keyStart: Int
        fileprivate var valueStart: Int
        fileprivate var end: Int
        fileprivate var isTombstone: Bool
    }

    private var output = OutputBytes(capacity: 65_536)
    private var entries: ContiguousArray<Entry> = []

    /// Creates an empty batch.
    package init() {}

    /// Number of records.
    package var count: Int { entries.count }
    /// The record at `index`.
    package subscript(_ index: Int) -> Entry { entries[index] }

    /// The record's key.
    package func key(of entry: Entry) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(rebasing: output.bytes[entry.keyStart..<entry.valueStart])
    }

    /// The record's value; a nil base address is a tombstone.
    package func value(of entry: Entry) -> UnsafeRawBufferPointer {
        if entry.isTombstone { return unsafe UnsafeRawBufferPointer(start: nil, count: 0) }
        return unsafe UnsafeRawBufferPointer(rebasing: output.bytes[entry.valueStart..<entry.end])
    }

    /// Appends the changes of a partition since they were last taken.
    package mutating func appendChanges(of engine: inout PartitionEngine) {
        var change = KeyChange(key: KeyHash(high: 0, low: 0), state: nil)
        while engine.nextChange(into: &change) {
            let keyStart = output.count
            ChangelogCodec.appendKey(change.key, to: &output)
            let valueStart = output.count
            if let state = change.state { ChangelogCodec.appendValue(state, to: &output) }
            entries.append(
                Entry(
                    partition: engine.partition,
                    keyStart: keyStart,
                    valueStart: valueStart,
                    end: output.count,
                    isTombstone: change.state == nil
                )
            )
        }
    }

    /// Forgets the records, keeps the memory.
    package mutating func removeAll() {
        output.removeAll()
        entries.removeAll(keepingCapacity: true)
    }
}
