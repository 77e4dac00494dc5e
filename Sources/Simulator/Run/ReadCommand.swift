internal import ComboCore
internal import ComboWire

/// What tells a command from every other one.
struct CommandID: Hashable, Comparable, CustomStringConvertible {
    var partition: Int
    /// Offset of the combo's first event.
    var comboOffset: Int64
    var sequence: UInt32

    init(partition: Int, comboOffset: Int64, sequence: UInt32) {
        self.partition = partition
        self.comboOffset = comboOffset
        self.sequence = sequence
    }

    /// Reads `<partition>-<offset>#<sequence>`; nil: it is written in another way.
    init?(_ text: String) {
        let end = text.utf8.firstIndex(of: UInt8(ascii: "#")) ?? text.endIndex
        let dash = text.utf8.firstIndex(of: UInt8(ascii: "-")) ?? text.startIndex
        guard dash < end, end < text.endIndex,
            let partition = Int(text[..<dash]),
            let comboOffset = Int64(text[text.utf8.index(after: dash)..<end]),
            let sequence = UInt32(text[text.utf8.index(after: end)...])
        else { return nil }
        self.init(partition: partition, comboOffset: comboOffset, sequence: sequence)
    }

    var description: String { "\(partition)-\(comboOffset)#\(sequence)" }

    static func < (left: CommandID, right: CommandID) -> Bool {
        (left.partition, left.comboOffset, left.sequence)
            < (right.partition, right.comboOffset, right.sequence)
    }
}

/// A committed command, read back from its JSON.
struct ReadCommand {
    private enum Field {
        case text(Int)
        case command, id, comboID, sequence, from, count, value, lane, at, hideAt, endAt, resumed
    }

    /// In about the order in which they come, so that the next name is soon found.
    private static let fields: [(name: String, field: Field)] = [
        ("command", .command), ("combo_id", .comboID), ("id", .id), ("seq", .sequence),
        ("from", .from), ("count", .count), ("value", .value), ("lane", .lane), ("at", .at),
        ("hide_at", .hideAt), ("end_at", .endAt), ("resumed", .resumed), ("room_id", .text(0)),
        ("user_id", .text(1)), ("user_name", .text(2)), ("recipient_id", .text(3)),
        ("gift_id", .text(4)), ("gift_name", .text(5)),
    ]

    /// The field of a name, looked for from `place` on; the next search begins behind it.
    private static func field(_ name: String, from place: inout Int) -> Field? {
        for step in fields.indices {
            let index = (place + step) % fields.count
            if fields[index].name == name {
                place = index + 1
                return fields[index].field
            }
        }
        return nil
    }

    let id: CommandID
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

    /// Reads a command; nil: it is none, or its identifiers disagree.
    init?(_ value: [UInt8]) {
        var command = command
        let names = unsafe value.withUnsafeBytes { bytes in
            do throws(JSONError) {
                var names = (id: "", comboID: "")
                var place = 0
                var reader = unsafe JSONReader(bytes)
                try reader.beginObject()
                while let name = try reader.nextField() {
                    guard let field = Self.field(name, from: &place) else {
                        try reader.skipValue()
                        continue
                    }
                    try Self.take(field, &reader, &command, &names)
                }
                try reader.finish()
                return Optional(names)
            } catch {
                return nil
            }
        }
        guard let names, let id = CommandID(names.id), id.sequence == command.sequence,
            names.id.utf8.starts(with: names.comboID.utf8),
            names.id.utf8.dropFirst(names.comboID.utf8.count).first == UInt8(ascii: "#")
        else { return nil }
        self.id = id
        command.comboOffset = id.comboOffset
        self.command = command
    }

    private static func take(
        _ field: Field,
        _ reader: inout JSONReader,
        _ command: inout Shown,
        _ names: inout (id: String, comboID: String)
    ) throws(JSONError) {
        switch field {
        case .text(let index): command.texts[index] = try reader.string()
        case .command:
            switch try reader.string() {
            case "show": command.kind = .show
            case "update": command.kind = .update
            case "hide": command.kind = .hide
            default: command.kind = .end
            }
        case .id: names.id = try reader.string()
        case .comboID: names.comboID = try reader.string()
        case .sequence: command.sequence = UInt32(truncatingIfNeeded: try reader.integer())
        case .from: command.from = try reader.integer()
        case .count: command.count = try reader.integer()
        case .value: command.value = try reader.integer()
        case .lane: command.lane = UInt16(truncatingIfNeeded: try reader.integer())
        case .at: command.at = try reader.integer()
        case .hideAt: command.hideAt = try reader.integer()
        case .endAt: command.endAt = try reader.integer()
        case .resumed: command.resumed = try reader.boolean()
        }
    }
}
