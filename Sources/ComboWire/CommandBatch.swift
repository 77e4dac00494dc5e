package import ComboCore

/// Overlay commands as the bytes that go to Kafka, in one buffer that is used again.
package struct CommandBatch: ~Copyable {
    /// Where one command's bytes lie.
    package struct Entry: BitwiseCopyable {
        fileprivate var keyStart: Int
        fileprivate var valueStart: Int
        fileprivate var end: Int
        /// Event time of the change: the record's timestamp.
        package var at: EventTime
        /// What the command does.
        package var kind: CommandKind
    }

    private var output = OutputBytes(capacity: 65_536)
    private var entries: ContiguousArray<Entry> = []

    /// Creates an empty batch.
    package init() {}

    /// Number of commands.
    package var count: Int { entries.count }
    /// Whether there are none.
    package var isEmpty: Bool { entries.isEmpty }
    /// Number of bytes of all keys and values.
    package var byteCount: Int { output.count }
    /// The command at `index`, in the order in which they were made.
    package subscript(_ index: Int) -> Entry { entries[index] }

    /// The record key: the room, or the sender where there is none.
    package func key(of entry: Entry) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(rebasing: output.bytes[entry.keyStart..<entry.valueStart])
    }

    /// The JSON; valid until the batch changes.
    package func value(of entry: Entry) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(rebasing: output.bytes[entry.valueStart..<entry.end])
    }

    /// Appends a command of a partition.
    package mutating func append(_ command: OverlayCommand, partition: Int32) {
        let keyStart = output.count
        CommandEncoder.appendKey(command, to: &output)
        let valueStart = output.count
        CommandEncoder.append(command, partition: partition, to: &output)
        entries.append(
            Entry(
                keyStart: keyStart,
                valueStart: valueStart,
                end: output.count,
                at: command.at,
                kind: command.kind
            )
        )
    }

    /// Forgets the commands, keeps the memory.
    package mutating func removeAll() {
        output.removeAll()
        entries.removeAll(keepingCapacity: true)
    }
}
