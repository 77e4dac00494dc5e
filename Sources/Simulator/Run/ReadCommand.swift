internal import ComboCore
internal import ComboWire

/// A committed command, read back from its JSON.
struct ReadCommand {
    private(set) var id = ""
    private(set) var comboID = ""
    private(set) var command = Shown(
        kind: .show,
        comboOffset: 0,
        sequence: 0,
        from: 0,
        count: 0,
        value: 0,
        at: 0,
        hideAt: 0,
        endAt: 0,
        lane: 0,
        resumed: false,
        texts: Array(repeating: "", count: 6)
    )

    /// Reads a command; nil: it is none.
    init?(_ value: [UInt8]) {
        let isRead = unsafe value.withUnsafeBytes { bytes in
            do throws(JSONError) {
                var reader = unsafe JSONReader(bytes)
                try reader.beginObject()
                while let name = try reader.nextField() { try take(name, &reader) }
                try reader.finish()
                return true
            } catch {
                return false
            }
        }
        guard isRead else { return nil }
        guard let offset = comboID.split(separator: "-").last.flatMap({ Int64($0) }) else {
            return nil
        }
        command.comboOffset = offset
    }

    private static let texts = [
        "room_id", "user_id", "user_name", "recipient_id", "gift_id", "gift_name",
    ]

    private mutating func take(_ name: String, _ reader: inout JSONReader) throws(JSONError) {
        if let index = Self.texts.firstIndex(of: name) {
            command.texts[index] = try reader.string()
            return
        }
        switch name {
        case "command":
            switch try reader.string() {
            case "show": command.kind = .show
            case "update": command.kind = .update
            case "hide": command.kind = .hide
            default: command.kind = .end
            }
        case "id": id = try reader.string()
        case "combo_id": comboID = try reader.string()
        case "seq": command.sequence = UInt32(truncatingIfNeeded: try reader.integer())
        case "from": command.from = try reader.integer()
        case "count": command.count = try reader.integer()
        case "value": command.value = try reader.integer()
        case "lane": command.lane = UInt16(truncatingIfNeeded: try reader.integer())
        case "at": command.at = try reader.integer()
        case "hide_at": command.hideAt = try reader.integer()
        case "end_at": command.endAt = try reader.integer()
        case "resumed": command.resumed = try reader.boolean()
        default: try reader.skipValue()
        }
    }
}
