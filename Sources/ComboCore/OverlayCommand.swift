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
    package var kind = CommandKind.show
    /// Whether a `show` continues a hidden combo.
    package var resumed = false
    /// Display row, 0 … `combo.lanes` − 1.
    package var lane: UInt16 = 0
    /// Number of the command within its combo, from 1.
    package var sequence: UInt32 = 0
    /// Offset of the combo's first event; with the partition it is the combo's id.
    package var comboOffset: Int64 = 0
    /// The number in the combo's previous command, 0 on its first.
    package var previousCount: Int64 = 0
    /// The number now.
    package var count: Int64 = 0
    /// Total value so far.
    package var value: Int64 = 0
    /// Event time of the change; for `hide` and `end` the deadline.
    package var at = EventTime.zero
    /// When the combo hides if nothing more comes.
    package var hideAt = EventTime.zero
    /// When the combo ends if nothing more comes.
    package var endAt = EventTime.zero
    /// Fields of the combo's latest counted event.
    package var fields = CommandFields()
    /// The same fields as members of a JSON object, as ``GiftEvent/asRecorded``; empty: there is
    /// no such text.
    package var asRecorded = Text.empty

    /// Creates a command to be filled in.
    package init() {}
}

/// The fields of a combo's latest counted event that its commands carry.
package struct CommandFields: BitwiseCopyable {
    /// `room_id`.
    package var roomID = Text.empty
    /// `user_id`.
    package var userID = Text.empty
    /// `user_name`.
    package var userName = Text.empty
    /// `user_avatar`.
    package var userAvatar = Text.empty
    /// `recipient_id`.
    package var recipientID = Text.empty
    /// `gift_id`.
    package var giftID = Text.empty
    /// `gift_name`.
    package var giftName = Text.empty
    /// `gift_image`.
    package var giftImage = Text.empty

    /// Creates fields that are all absent.
    package init() {}

    /// Creates fields from texts.
    package init(
        roomID: Text,
        userID: Text,
        userName: Text,
        userAvatar: Text,
        recipientID: Text,
        giftID: Text,
        giftName: Text,
        giftImage: Text
    ) {
        self.roomID = roomID
        self.userID = userID
        self.userName = userName
        self.userAvatar = userAvatar
        self.recipientID = recipientID
        self.giftID = giftID
        self.giftName = giftName
        self.giftImage = giftImage
    }
}
