/// What an overlay is told to do.
package enum CommandKind: UInt8, CaseIterable, Sendable, BitwiseCopyable {
    /// A combo appears, or appears again.
    case show
    /// The number of a displayed combo changed.
    case update
    /// A displayed combo disappears; its count is kept for a while.
    case hide
    /// The count is final.
    case end
}

/// One overlay command, its texts borrowed from the partition's state.
///
/// The texts are valid until the next call that changes the state it came from.
package struct OverlayCommand: BitwiseCopyable {
    /// What to do.
    package var kind: CommandKind
    /// Whether a `show` continues a hidden combo.
    package var resumed: Bool
    /// Display row, 0 … `combo.lanes` − 1.
    package var lane: UInt16
    /// Number of the command within its combo, from 1.
    package var sequence: UInt32
    /// Offset of the combo's first event; with the partition it is the combo's id.
    package var comboOffset: Int64
    /// The number in the combo's previous command, 0 on its first.
    package var previousCount: Int64
    /// The number now.
    package var count: Int64
    /// Total value so far.
    package var value: Int64
    /// Event time of the change; for `hide` and `end` the deadline.
    package var at: EventTime
    /// When the combo hides if nothing more comes.
    package var hideAt: EventTime
    /// When the combo ends if nothing more comes.
    package var endAt: EventTime
    /// Fields of the combo's latest counted event.
    package var fields: CommandFields
}

/// The fields of a combo's latest counted event that its commands carry.
package struct CommandFields: BitwiseCopyable {
    package var roomID: Text
    package var userID: Text
    package var userName: Text
    package var userAvatar: Text
    package var recipientID: Text
    package var giftID: Text
    package var giftName: Text
    package var giftImage: Text
}
