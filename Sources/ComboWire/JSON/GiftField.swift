/// The known fields of a gift event, those of one kind together.
package enum GiftField: UInt8, CaseIterable, Sendable, BitwiseCopyable {
    case eventID
    case roomID
    case userID
    case recipientID
    case giftID
    case streakID
    case userName
    case userAvatar
    case giftName
    case giftImage
    case count
    case streakCount
    case value
    case sentAt
    case streakEnd
    case streakable

    /// What a field's value must be.
    package enum Kind: Sendable {
        /// A string or an integer.
        case id
        case string
        case integer
        case boolean

        var description: String {
            switch self {
            case .id: "string or integer"
            case .string: "string"
            case .integer: "integer"
            case .boolean: "boolean"
            }
        }
    }

    /// What the field's value must be.
    package var kind: Kind {
        if isID { return .id }
        if isText { return .string }
        return isInteger ? .integer : .boolean
    }

    /// Whether a string may be the field's value.
    var isText: Bool { rawValue <= GiftField.giftImage.rawValue }
    /// Whether the field's value may be a string or an integer.
    var isID: Bool { rawValue <= GiftField.streakID.rawValue }
    /// Whether only an integer may be the field's value.
    var isInteger: Bool { GiftField.isInteger(rawValue) }

    /// The numbers that the field takes, if it is an integer one.
    package var bounds: ClosedRange<Int64> {
        switch self {
        case .count: 1...1_000_000_000
        case .streakCount: 1...Int64.max
        case .value: 0...Int64.max
        case .sentAt, .eventID, .roomID, .userID, .recipientID, .giftID, .streakID, .userName,
            .userAvatar, .giftName, .giftImage, .streakEnd, .streakable:
            Int64.min...Int64.max
        }
    }

    /// Whether only an integer may be the value of the field with this raw value.
    @inline(__always)
    static func isInteger(_ field: UInt8) -> Bool {
        field &- count.rawValue <= sentAt.rawValue - count.rawValue
    }

    /// The field's name in JSON; 5 to 12 bytes long, without anything that needs an escape.
    package var name: StaticString {
        switch self {
        case .eventID: "event_id"
        case .roomID: "room_id"
        case .userID: "user_id"
        case .recipientID: "recipient_id"
        case .giftID: "gift_id"
        case .streakID: "streak_id"
        case .userName: "user_name"
        case .userAvatar: "user_avatar"
        case .giftName: "gift_name"
        case .giftImage: "gift_image"
        case .count: "count"
        case .streakCount: "streak_count"
        case .value: "value"
        case .sentAt: "sent_at"
        case .streakEnd: "streak_end"
        case .streakable: "streakable"
        }
    }
}
