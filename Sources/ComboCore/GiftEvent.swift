/// One gift event as read from a record: texts borrowed from its bytes, numbers within their
/// bounds.
///
/// A field that is absent has its default; an empty id is an absent one.
package struct GiftEvent: BitwiseCopyable {
    /// Unique per gift message; empty: the message is not checked for duplicates.
    package var eventID = Text.empty
    /// Live room.
    package var roomID = Text.empty
    /// Sender; never empty.
    package var userID = Text.empty
    /// Sender's name, carried to the overlay.
    package var userName = Text.empty
    /// Sender's picture, carried to the overlay.
    package var userAvatar = Text.empty
    /// Receiver in a multi-guest room; empty is the host.
    package var recipientID = Text.empty
    /// Which gift.
    package var giftID = Text.empty
    /// Gift's name, carried to the overlay.
    package var giftName = Text.empty
    /// Gift's picture, carried to the overlay.
    package var giftImage = Text.empty
    /// Upstream's own streak; empty is the unnamed one.
    package var streakID = Text.empty
    /// Units in this message, 1 … 1,000,000,000; nil: not given, which counts as 1.
    package var count: Int64?
    /// Upstream's running total, at least 1; nil: not given.
    package var streakCount: Int64?
    /// Total price of this message in the platform's unit, at least 0.
    package var value: Int64 = 0
    /// When the sender sent it, epoch milliseconds as given; nil: not given.
    package var sentAt: Int64?
    /// Upstream's end marker.
    package var streakEnd = false
    /// Whether the gift may merge with others.
    package var streakable = true

    /// The fields that commands carry, as they stand in the record, its commas between them.
    ///
    /// All that are present, each once, ids without escapes; empty: they do not stand so.
    package var asRecorded = Text.empty

    /// Creates an event in which every field is absent.
    package init() {}
}
