internal import ComboCore
internal import ComboWire
internal import StreamPorts

/// A gift event as a story about it needs it: everything by name, nothing checked but its form.
///
/// Read by the general reader, for the engine keeps no record of what it has read.
struct ExplainedGift: Equatable {
    var user = ""
    var room = ""
    var recipient = ""
    var gift = ""
    var giftName = ""
    var userName = ""
    var eventID = ""
    var count: Int64?
    var streak = ""
    var streakCount: Int64?
    var isEndMarker = false
    var isStreakable = true
    var sentAt: Int64?

    /// Reads a record's value; nil: it is no JSON object with such fields.
    init?(_ value: UnsafeRawBufferPointer) {
        do {
            var reader = unsafe JSONReader(value)
            try reader.beginObject()
            while let name = try reader.nextField() {
                if try reader.consumeNull() { continue }
                try read(name, &reader)
            }
            try reader.finish()
        } catch {
            return nil
        }
    }

    private mutating func read(_ name: String, _ reader: inout JSONReader) throws(JSONError) {
        switch name {
        case "user_id": user = try id(&reader)
        case "room_id": room = try id(&reader)
        case "recipient_id": recipient = try id(&reader)
        case "gift_id": gift = try id(&reader)
        case "event_id": eventID = try id(&reader)
        case "streak_id": streak = try id(&reader)
        case "gift_name": giftName = try reader.string()
        case "user_name": userName = try reader.string()
        case "count": count = try reader.integer()
        case "streak_count": streakCount = try reader.integer()
        case "sent_at": sentAt = try reader.integer()
        case "streak_end": isEndMarker = try reader.boolean()
        case "streakable": isStreakable = try reader.boolean()
        default: try reader.skipValue()
        }
    }

    private func id(_ reader: inout JSONReader) throws(JSONError) -> String {
        try reader.nextKind() == .number ? reader.numberText() : reader.string()
    }

    /// Whether it carries no gift, only the end of a streak.
    var isMarkerAlone: Bool { isEndMarker && count == nil && streakCount == nil }

    /// What is given, as a person says it.
    var what: String {
        if isMarkerAlone { return "end marker of the streak" }
        var text = "gift"
        if let streakCount {
            text += streak.isEmpty ? ", running total" : ", running total of streak \(streak):"
            text += " \(streakCount)"
        } else if let count, count != 1 {
            text += " of \(count)"
        }
        return eventID.isEmpty ? text : text + ", event \(eventID)"
    }
}

/// What makes two gifts of one user one combo: the fields of `combo.key`, and what never merges.
struct ExplainedKey: Hashable {
    var room: String?
    var recipient: String?
    var gift: String?
    /// The event id, or the place, of a gift that is not streakable.
    var only: String?

    init(
        _ gift: ExplainedGift,
        _ fields: ComboConfiguration.KeyFields,
        partition: Int32,
        offset: Int64
    ) {
        if fields.contains(.room) { room = gift.room }
        if fields.contains(.recipient) { recipient = gift.recipient }
        if fields.contains(.gift) { self.gift = gift.gift }
        if !gift.isStreakable {
            only = gift.eventID.isEmpty ? "\(partition)-\(offset)" : "event \(gift.eventID)"
        }
    }

    /// As the head of its story.
    var title: String {
        var parts: [String] = []
        if let room { parts.append(room.isEmpty ? "no room" : "room \(room)") }
        if let recipient, !recipient.isEmpty { parts.append("recipient \(recipient)") }
        if let gift { parts.append(gift.isEmpty ? "no gift id" : "gift \(gift)") }
        if let only { parts.append("not streakable: \(only)") }
        return parts.isEmpty ? "all gifts" : parts.joined(separator: ", ")
    }
}
