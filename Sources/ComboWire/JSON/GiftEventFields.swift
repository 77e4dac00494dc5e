internal import ComboCore

/// An event's fields by their names in JSON.
extension GiftEvent {
    /// Makes every field absent, one by one: cheaper than another event, which is made by a call.
    @inline(__always)
    mutating func removeAll() {
        eventID = .empty
        roomID = .empty
        userID = .empty
        userName = .empty
        userAvatar = .empty
        recipientID = .empty
        giftID = .empty
        giftName = .empty
        giftImage = .empty
        streakID = .empty
        count = nil
        streakCount = nil
        value = 0
        sentAt = nil
        streakEnd = false
        streakable = true
        asRecorded = .empty
    }

    /// Sets a field that takes texts.
    mutating func set(_ field: GiftField, to text: Text) {
        switch field {
        case .eventID: eventID = text
        case .roomID: roomID = text
        case .userID: userID = text
        case .recipientID: recipientID = text
        case .giftID: giftID = text
        case .streakID: streakID = text
        case .userName: userName = text
        case .userAvatar: userAvatar = text
        case .giftName: giftName = text
        case .giftImage: giftImage = text
        case .count, .streakCount, .value, .sentAt, .streakEnd, .streakable:
            preconditionFailure("no text field")
        }
    }

    /// Sets a field that takes integers.
    mutating func set(_ field: GiftField, to number: Int64) {
        switch field {
        case .count: count = number
        case .streakCount: streakCount = number
        case .value: value = number
        case .sentAt: sentAt = number
        case .eventID, .roomID, .userID, .recipientID, .giftID, .streakID, .userName, .userAvatar,
            .giftName, .giftImage, .streakEnd, .streakable:
            preconditionFailure("no integer field")
        }
    }

    /// Sets a field that takes booleans.
    mutating func set(_ field: GiftField, to value: Bool) {
        precondition(field == .streakEnd || field == .streakable, "no boolean field")
        if field == .streakEnd { streakEnd = value } else { streakable = value }
    }

    /// Gives a field the value that it has when it is absent.
    mutating func setAbsent(_ field: GiftField) {
        switch field {
        case .count: count = nil
        case .streakCount: streakCount = nil
        case .value: value = 0
        case .sentAt: sentAt = nil
        case .streakEnd: streakEnd = false
        case .streakable: streakable = true
        case .eventID, .roomID, .userID, .recipientID, .giftID, .streakID, .userName, .userAvatar,
            .giftName, .giftImage:
            set(field, to: Text.empty)
        }
    }
}

extension GiftField {
    /// Where in a ``GiftEvent`` the field is kept, in bytes from its start.
    var offset: Int {
        let offset: Int? =
            switch self {
            case .eventID: MemoryLayout<GiftEvent>.offset(of: \.eventID)
            case .roomID: MemoryLayout<GiftEvent>.offset(of: \.roomID)
            case .userID: MemoryLayout<GiftEvent>.offset(of: \.userID)
            case .recipientID: MemoryLayout<GiftEvent>.offset(of: \.recipientID)
            case .giftID: MemoryLayout<GiftEvent>.offset(of: \.giftID)
            case .streakID: MemoryLayout<GiftEvent>.offset(of: \.streakID)
            case .userName: MemoryLayout<GiftEvent>.offset(of: \.userName)
            case .userAvatar: MemoryLayout<GiftEvent>.offset(of: \.userAvatar)
            case .giftName: MemoryLayout<GiftEvent>.offset(of: \.giftName)
            case .giftImage: MemoryLayout<GiftEvent>.offset(of: \.giftImage)
            case .count: MemoryLayout<GiftEvent>.offset(of: \.count)
            case .streakCount: MemoryLayout<GiftEvent>.offset(of: \.streakCount)
            case .value: MemoryLayout<GiftEvent>.offset(of: \.value)
            case .sentAt: MemoryLayout<GiftEvent>.offset(of: \.sentAt)
            case .streakEnd: MemoryLayout<GiftEvent>.offset(of: \.streakEnd)
            case .streakable: MemoryLayout<GiftEvent>.offset(of: \.streakable)
            }
        guard let offset else { preconditionFailure("a gift event keeps its fields in itself") }
        return offset
    }
}
