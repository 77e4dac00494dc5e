import ComboCore
import Testing

@testable import ComboWire

struct ReceivedCommandTests {
    /// A command with every field, each as it is written.
    private static let fields: [(name: String, value: String)] = [
        ("command", "\"update\""), ("combo_id", "\"3-1200\""), ("id", "\"3-1200#2\""),
        ("seq", "2"), ("from", "1"), ("count", "11"), ("value", "155"), ("lane", "1"),
        ("at", "1760000000100"), ("hide_at", "1760000002100"), ("end_at", "1760000005100"),
        ("resumed", "false"), ("room_id", "\"民/..\\u0020\\\"é\""), ("user_id", "\"7\""),
        ("user_name", "\"<b>\""), ("user_avatar", "\"javascript:\""), ("recipient_id", "\"\""),
        ("gift_id", "\"g\""), ("gift_name", "\"G\""), ("gift_image", "\"data:\""),
    ]
    private static let required: Set = [
        "command", "combo_id", "id", "seq", "from", "count", "at", "hide_at", "end_at", "user_id",
    ]

    private func text(
        changing name: String = "",
        to value: String? = nil,
        adding more: String = ""
    ) -> String {
        let all = Self.fields.compactMap { field -> String? in
            let shown = field.name == name ? value : field.value
            return shown.map { "\"\(field.name)\":\($0)" }
        }
        return "{" + all.joined(separator: ",") + more + "}"
    }

    private func read(_ text: String) -> ReceivedCommand? {
        read(Array(text.utf8))
    }

    private func read(_ bytes: [UInt8]) -> ReceivedCommand? {
        // An exact copy at the end of a page: the decoder must not read on.
        let memory = GuardedBytes(capacity: max(bytes.count, 1))
        return unsafe memory.withCopy(of: bytes) { unsafe ReceivedCommand($0) }
    }

    @Test func `a command is read, whatever the order of its fields`() throws {
        let command = try #require(read(text()))
        #expect(command.kind == .update)
        #expect(command.id == CommandID(partition: 3, offset: 1_200, sequence: 2))
        #expect(command.id.description == "3-1200#2" && command.id.comboText == "3-1200")
        #expect(String(decoding: command.roomID, as: UTF8.self) == "民/.. \"é")
        #expect(command.at == 1_760_000_000_100)
        #expect(command.hideAt == 1_760_000_002_100 && command.endAt == 1_760_000_005_100)
        let members = Self.fields.reversed().map { "\"\($0.name)\" : \($0.value)" }
        #expect(read("{\(members.joined(separator: " ,\n"))}\n") == command)
    }

    @Test(arguments: CommandKind.allCases)
    func `what the worker writes is read`(kind: CommandKind) throws {
        var sample = SampleCommand()
        sample.kind = kind
        var encoder = CommandEncoder()
        var output = OutputBytes()
        let start = sample.withCommand { command in
            encoder.append(&command, partition: sample.partition, to: &output)
        }
        let json = unsafe Array(output.bytes[start...])
        let command = try #require(read(json))
        #expect(command.kind.rawValue == "\(kind)")
        #expect(command.id == CommandID(partition: 3, offset: 1_200, sequence: 2))
        #expect(String(decoding: command.roomID, as: UTF8.self) == "room-000")
    }

    @Test(arguments: fields.map(\.name))
    func `a field that is missing, null or of another type makes it none`(name: String) {
        #expect((read(text(changing: name)) == nil) == Self.required.contains(name))
        for value in ["null", "[]", "{}", "1.5", "-1", "1e3", "9223372036854775808"] {
            #expect(read(text(changing: name, to: value)) == nil, "\(name): \(value)")
        }
        let isNumber = Self.value(of: name).first?.isNumber == true
        let other = isNumber ? "\"7\"" : "7"
        #expect(read(text(changing: name, to: other)) == nil, "\(name): \(other)")
    }

    private static func value(of name: String) -> String {
        fields.first { $0.name == name }?.value ?? ""
    }

    @Test(arguments: [
        ("id", "\"3-1200#3\""), ("id", "\"3-1200\""), ("id", "\"03-1200#2\""),
        ("id", "\"3-+1200#2\""), ("id", "\"3-1200#2 \""), ("id", "\"\""),
        ("combo_id", "\"3-1201\""), ("seq", "3"),
        ("command", "\"Show\""), ("command", "\"\""), ("seq", "0"),
    ])
    func `an id that is not made of combo and number makes it none`(name: String, value: String) {
        #expect(read(text(changing: name, to: value)) == nil)
    }

    @Test func `an unknown field need only be JSON, and of a repeated one the last counts`() {
        #expect(read(text(adding: ",\"new\":[1.5,{\"a\":null}]")) != nil)
        #expect(read(text(adding: ",\"new\":[1.5,{\"a\":null]}")) == nil)
        #expect(read(text(adding: ",\"room_id\":\"b\""))?.roomID == Array("b".utf8))
        #expect(read(text(adding: ",\"at\":5"))?.at == 5)
    }

    @Test(arguments: ["", "{", "{}", "[]", "7", "null", "\"show\"", "{\"command\":\"show\"}"])
    func `other values are no commands`(text: String) {
        #expect(read(text) == nil)
        #expect(read(self.text() + text) == nil || text.isEmpty)
    }

    @Test(arguments: seeds)
    func `damaged bytes are read or refused, and never trap`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let whole = Array(text().utf8)
        for _ in 0..<3_000 {
            var bytes = whole
            for _ in 0..<random.below(4) + 1 {
                switch random.below(3) {
                case 0: bytes[random.below(bytes.count)] = UInt8(random.below(256))
                case 1: bytes.remove(at: random.below(bytes.count))
                default: bytes.insert(random.pick(bytes), at: random.below(bytes.count))
                }
            }
            if let command = read(bytes) {
                #expect(CommandID(command.id.description) == command.id)
                #expect(command.at >= 0 && command.hideAt >= 0 && command.endAt >= 0)
                #expect(String(validating: command.roomID, as: UTF8.self) != nil)
            }
        }
    }
}
