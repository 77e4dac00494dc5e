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
    private var entries = EntryList()
    private var encoder = CommandEncoder()

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
    ///
    /// The command is not changed; passed in any other way, all of it would be copied.
    package mutating func append(_ command: inout OverlayCommand, partition: Int32) {
        let keyStart = output.count
        let valueStart = encoder.append(&command, partition: partition, to: &output)
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
        entries.removeAll()
    }
}

/// The entries of a batch: an array without a reference count, to which appending is a few stores.
@safe
struct EntryList: ~Copyable {
    private var entries: UnsafeMutablePointer<CommandBatch.Entry>
    private var capacity = 256
    private(set) var count = 0

    init() {
        unsafe entries = .allocate(capacity: capacity)
    }

    deinit {
        unsafe entries.deallocate()
    }

    var isEmpty: Bool { count == 0 }

    subscript(_ index: Int) -> CommandBatch.Entry {
        precondition(index >= 0 && index < count, "no such command in the batch")
        return unsafe entries[index]
    }

    @inline(__always)
    mutating func append(_ entry: CommandBatch.Entry) {
        if count == capacity { grow() }
        unsafe (entries + count).initialize(to: entry)
        count &+= 1
    }

    mutating func removeAll() {
        count = 0
    }

    @inline(never)
    private mutating func grow() {
        let larger = UnsafeMutablePointer<CommandBatch.Entry>.allocate(capacity: 2 * capacity)
        unsafe larger.initialize(from: entries, count: count)
        unsafe entries.deallocate()
        unsafe entries = larger
        capacity *= 2
    }
}
