internal import ComboCore
internal import ComboWire
internal import StreamPorts

/// What a worker and its partition processors work on within a turn; memory that is used again.
final class TurnContext {
    /// The records of the turn's poll.
    var records: RecordBatch
    /// The commands that followed and are not handed to the sink yet.
    var commands = CommandBatch()
    /// Records of ``records`` that can't be used.
    var refusals: [RefusedRecord] = []
    /// The changed keys of the transaction that is about to end.
    var changelog = ChangelogBatch()

    init() {
        records = unsafe RecordBatch(UnsafeBufferPointer(start: nil, count: 0))
    }
}

/// A record that goes to the dead letters.
struct RefusedRecord {
    /// Its index in the batch.
    var index: Int
    var refusal: Refusal
}
