/// What a consumer of the topic of overlay commands must know of one to pass it on.
///
/// The command itself stays the bytes that it came as, so that fields which this version does not
/// know reach the overlay.
package struct ReceivedCommand: Equatable, Sendable {
    /// What the overlay is told to do.
    package enum Kind: String, Sendable {
        case show
        case update
        case hide
        case end
    }

    /// What to do.
    package var kind = Kind.show
    /// The combo and the command's number in it.
    package var id = CommandID()
    /// `room_id` as UTF-8; empty: none.
    package var roomID: [UInt8] = []
    /// Event time of the change, epoch ms.
    package var at: Int64 = 0
    /// When the combo hides if nothing more comes, epoch ms.
    package var hideAt: Int64 = 0
    /// When the combo ends if nothing more comes, epoch ms.
    package var endAt: Int64 = 0

    /// Reads a command; nil: the bytes are none.
    ///
    /// Every field that an overlay relies on must be there and of its type, `id` must be made of
    /// `combo_id` and `seq`, and known texts must be strings. Of a repeated field the last one
    /// counts, as browsers read it. Unknown fields need only be JSON.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        do {
            var reader = unsafe JSONReader(bytes)
            guard try read(&reader) else { return nil }
        } catch {
            return nil
        }
    }

    private mutating func read(_ reader: inout JSONReader) throws(JSONError) -> Bool {
        var word = ""
        var (comboID, idText) = ("", "")
        var found: RequiredFields = []
        try reader.beginObject()
        while let name = try reader.nextField() {
            switch name {
            case "command": word = try reader.string()
            case "combo_id": comboID = try reader.string()
            case "id": idText = try reader.string()
            case "seq": id.sequence = try Self.natural(&reader, .sequence, &found)
            case "from": _ = try Self.natural(&reader, .from, &found)
            case "count": _ = try Self.natural(&reader, .count, &found)
            case "at": at = try Self.natural(&reader, .at, &found)
            case "hide_at": hideAt = try Self.natural(&reader, .hideAt, &found)
            case "end_at": endAt = try Self.natural(&reader, .endAt, &found)
            case "value", "lane": _ = try Self.natural(&reader, [], &found)
            case "resumed": _ = try reader.boolean()
            case "room_id": roomID = try reader.bytes()
            case "user_id":
                _ = try reader.bytes()
                found.insert(.user)
            case "user_name", "user_avatar", "recipient_id", "gift_id", "gift_name", "gift_image":
                _ = try reader.bytes()
            default: try reader.skipValue()
            }
        }
        try reader.finish()
        guard let kind = Kind(rawValue: word), let id = CommandID(idText), found == .all,
            id.sequence == self.id.sequence, id.comboText == comboID
        else { return false }
        self.kind = kind
        self.id = id
        return true
    }

    /// An integer from 0; any other number is an integer of another kind than asked for.
    private static func natural(
        _ reader: inout JSONReader,
        _ field: RequiredFields,
        _ found: inout RequiredFields
    ) throws(JSONError) -> Int64 {
        let position = reader.position
        let value = try reader.integer()
        guard value >= 0 else { throw JSONError(problem: .otherKind, position: position) }
        found.formUnion(field)
        return value
    }
}

/// The fields without which a command is none, besides those that its id is made of.
private struct RequiredFields: OptionSet {
    let rawValue: UInt8

    static let sequence = RequiredFields(rawValue: 1)
    static let from = RequiredFields(rawValue: 2)
    static let count = RequiredFields(rawValue: 4)
    static let at = RequiredFields(rawValue: 8)
    static let hideAt = RequiredFields(rawValue: 16)
    static let endAt = RequiredFields(rawValue: 32)
    static let user = RequiredFields(rawValue: 64)
    static let all = RequiredFields(rawValue: 127)
}

/// A command's identity: `<partition>-<offset>#<sequence>`, the same if it is made again.
package struct CommandID: Hashable, Sendable, CustomStringConvertible {
    /// The input partition of the combo's first event.
    package var partition: Int32 = 0
    /// That event's offset.
    package var offset: Int64 = 0
    /// Number of the command within its combo, from 1.
    package var sequence: Int64 = 0

    /// Creates the id of a combo's command.
    package init(partition: Int32 = 0, offset: Int64 = 0, sequence: Int64 = 0) {
        self.partition = partition
        self.offset = offset
        self.sequence = sequence
    }

    /// Reads an id as ``description`` writes it; nil: it is none, or written in another way.
    package init?(_ text: String) {
        guard text.utf8.count <= 64, let dash = text.utf8.firstIndex(of: UInt8(ascii: "-")),
            let hash = text.utf8[dash...].firstIndex(of: UInt8(ascii: "#")),
            let partition = Int32(text[..<dash]),
            let offset = Int64(text[text.utf8.index(after: dash)..<hash]),
            let sequence = Int64(text[text.utf8.index(after: hash)...]), sequence > 0
        else { return nil }
        self.init(partition: partition, offset: offset, sequence: sequence)
        // One way of writing it only: no signs, no leading zeros.
        guard partition >= 0, offset >= 0, description == text else { return nil }
    }

    /// The combo's id: `<partition>-<offset>`.
    package var comboText: String { "\(partition)-\(offset)" }

    /// The id as commands carry it.
    package var description: String { "\(comboText)#\(sequence)" }
}
