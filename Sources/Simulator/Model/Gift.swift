package import ComboCore

/// A gift event with texts of its own.
package struct Gift: Sendable {
    /// The event i d.
    package var eventID = ""
    /// The room.
    package var room = ""
    /// The user.
    package var user = "8"
    /// The user name.
    package var userName = ""
    /// The recipient.
    package var recipient = ""
    /// The gift.
    package var gift = ""
    /// The gift name.
    package var giftName = ""
    /// The streak i d.
    package var streakID = ""
    /// The count.
    package var count: Int64?
    /// The streak count.
    package var streakCount: Int64?
    /// The value.
    package var value: Int64 = 0
    /// The streak end.
    package var streakEnd = false
    /// The streakable.
    package var streakable = true

    /// Creates a gift of one unit of nothing in particular.
    package init() {}
}

/// A command with texts of its own.
package struct Shown: Equatable, Sendable {
    /// The kind.
    package var kind: CommandKind
    /// The combo offset.
    package var comboOffset: Int64
    /// The sequence.
    package var sequence: UInt32
    /// The from.
    package var from: Int64
    /// The count.
    package var count: Int64
    /// The value.
    package var value: Int64
    /// The at.
    package var at: Int64
    /// The hide at.
    package var hideAt: Int64
    /// The end at.
    package var endAt: Int64
    /// The lane.
    package var lane: UInt16
    /// The resumed.
    package var resumed: Bool
    /// Room, user, user's name, recipient, gift, gift's name.
    package var texts: [String]

    /// Creates a command.
    package init(
        kind: CommandKind,
        comboOffset: Int64,
        sequence: UInt32,
        from: Int64,
        count: Int64,
        value: Int64,
        at: Int64,
        hideAt: Int64,
        endAt: Int64,
        lane: UInt16,
        resumed: Bool,
        texts: [String]
    ) {
        self.kind = kind
        self.comboOffset = comboOffset
        self.sequence = sequence
        self.from = from
        self.count = count
        self.value = value
        self.at = at
        self.hideAt = hideAt
        self.endAt = endAt
        self.lane = lane
        self.resumed = resumed
        self.texts = texts
    }
}
