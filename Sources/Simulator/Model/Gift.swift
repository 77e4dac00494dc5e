package import ComboCore

/// A gift event with texts of its own.
package struct Gift: Sendable {
    /// `event_id`; "": absent.
    package var eventID = ""
    /// `room_id`; "": absent.
    package var room = ""
    /// `user_id`.
    package var user = "8"
    /// `user_name`; "": absent.
    package var userName = ""
    /// `recipient_id`; "": absent.
    package var recipient = ""
    /// `gift_id`; "": absent.
    package var gift = ""
    /// `gift_name`; "": absent.
    package var giftName = ""
    /// `streak_id`; "": absent.
    package var streakID = ""
    /// Units sent, or the number now.
    package var count: Int64?
    /// Upstream's running total; nil: absent.
    package var streakCount: Int64?
    /// Total price, in the platform's unit.
    package var value: Int64 = 0
    /// Whether it is upstream's end marker.
    package var streakEnd = false
    /// Whether it may merge with others.
    package var streakable = true

    /// Creates a gift of one unit of nothing in particular.
    package init() {}
}

/// A command with texts of its own.
package struct Shown: Equatable, Sendable {
    /// What the command does.
    package var kind: CommandKind
    /// Offset of the combo's first gift.
    package var comboOffset: Int64
    /// 1, 2, 3 … within the combo.
    package var sequence: UInt32
    /// The number in the combo's previous command.
    package var from: Int64
    /// Units sent, or the number now.
    package var count: Int64
    /// Total price, in the platform's unit.
    package var value: Int64
    /// Event time of the change, epoch milliseconds.
    package var at: Int64
    /// When it hides if nothing more comes, epoch milliseconds.
    package var hideAt: Int64
    /// When it ends if nothing more comes, epoch milliseconds.
    package var endAt: Int64
    /// Display lane, from 0.
    package var lane: UInt16
    /// Whether it continues a hidden combo.
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
