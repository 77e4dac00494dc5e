internal import ComboCore
internal import ComboWire
internal import StreamPorts

// One access to a batch, not one a record: accesses to a worker's own properties are checked at run
// time.
extension ContiguousArray where Element == OutgoingRecord {
    /// Becomes the commands, as they go to their topic.
    mutating func collect(
        _ commands: borrowing CommandBatch,
        shownAt: inout ContiguousArray<Int64>
    ) {
        removeAll(keepingCapacity: true)
        for index in 0..<commands.count {
            let entry = commands[index]
            unsafe append(
                OutgoingRecord(
                    topic: .commands,
                    timestampMilliseconds: entry.at.milliseconds,
                    key: commands.key(of: entry),
                    value: commands.value(of: entry)
                )
            )
            if entry.kind == .show || entry.kind == .update {
                shownAt.append(entry.at.milliseconds)
            }
        }
    }

    /// Becomes the changed states, each for the partition of its input.
    mutating func collect(_ changes: borrowing ChangelogBatch) {
        removeAll(keepingCapacity: true)
        for index in 0..<changes.count {
            let entry = changes[index]
            unsafe append(
                OutgoingRecord(
                    topic: .changelog,
                    partition: entry.partition,
                    timestampMilliseconds: 0,
                    key: changes.key(of: entry),
                    value: changes.value(of: entry)
                )
            )
        }
    }
}
