internal import ComboWire

/// An overlay command as a consumer of the topic reads it.
struct ParsedCommand: Equatable {
    /// What a command does.
    enum Kind: String {
        case show
        case update
        case hide
        case end
    }

    var kind = Kind.show
    var id = ""
    var comboID = ""
    var sequence: Int64 = 0
    var userID = ""
    var userName = ""
    var giftID = ""
    var giftName = ""
    var from: Int64 = 0
    var count: Int64 = 0
    var lane = 0
    var at: Int64 = 0
    var resumed = false

    /// Reads a command; nil: the bytes are none.
    init?(_ bytes: UnsafeRawBufferPointer) {
        do {
            var reader = unsafe JSONReader(bytes)
            var word = ""
            try reader.beginObject()
            while let name = try reader.nextField() {
                switch name {
                case "command": word = try reader.string()
                case "id": id = try reader.string()
                case "combo_id": comboID = try reader.string()
                case "seq": sequence = try reader.integer()
                case "user_id": userID = try reader.string()
                case "user_name": userName = try reader.string()
                case "gift_id": giftID = try reader.string()
                case "gift_name": giftName = try reader.string()
                case "from": from = try reader.integer()
                case "count": count = try reader.integer()
                case "lane": lane = Int(try reader.integer())
                case "at": at = try reader.integer()
                case "resumed": resumed = try reader.boolean()
                default: try reader.skipValue()
                }
            }
            try reader.finish()
            guard let kind = Kind(rawValue: word) else { return nil }
            self.kind = kind
        } catch {
            return nil
        }
    }

    /// Who sent the gift, in the way people call them.
    var sender: String { userName.isEmpty ? userID : userName }
    /// What was sent, in the way people call it.
    var gift: String { giftName.isEmpty ? giftID : giftName }
}
