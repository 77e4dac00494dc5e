package import ComboCore

/// A gift event with texts of its own.
package struct Gift: Sendable {
    package var eventID = ""
    package var room = ""
    package var user = "8"
    package var userName = ""
    package var recipient = ""
    package var gift = ""
    package var giftName = ""
    package var streakID = ""
    package var count: Int64?
    package var streakCount: Int64?
    package var value: Int64 = 0
    package var streakEnd = false
    package var streakable = true

    /// Creates a gift of one unit of nothing in particular.
    package init() {}
}

/// A command with texts of its own.
package struct Shown: Equatable, Sendable {
    package var kind: CommandKind
    package var comboOffset: Int64
    package var sequence: UInt32
    package var from: Int64
    package var count: Int64
    package var value: Int64
    package var at: Int64
    package var hideAt: Int64
    package var endAt: Int64
    package var lane: UInt16
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
