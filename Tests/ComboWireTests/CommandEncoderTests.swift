import ComboCore
import Testing

@testable import ComboWire

/// A command with everything that one can hold, as Swift values, to be encoded in two ways.
struct SampleCommand {
    var kind = CommandKind.update
    var resumed = false
    var lane: UInt16 = 1
    var sequence: UInt32 = 2
    var partition: Int32 = 3
    /// Offset, previous count, count, value, at, hide at, end at.
    var numbers: [Int64] = [
        1_200, 1, 11, 155, 1_760_000_000_100, 1_760_000_002_100, 1_760_000_005_100,
    ]
    /// Room, user, name, avatar, recipient, gift, its name and image, in JSON text form.
    var texts = ["room-000", "1011537", "送禮者11537 🎁", "", "", "g22", "Gift 22", ""]

    /// Whether the texts, which hold no escapes then, are handed over as a record has them.
    var isRecorded = false

    /// The members that the texts are, as a record has them.
    private var asRecorded: String {
        let names = [
            "room_id", "user_id", "user_name", "user_avatar", "recipient_id", "gift_id",
            "gift_name", "gift_image",
        ]
        return zip(names, texts).filter { !$0.1.isEmpty }.map { "\"\($0)\":\"\($1)\"" }
            .joined(separator: ",")
    }

    /// The command with its texts in `memory`, for as long as `body` runs.
    func withCommand<R>(_ body: (inout OverlayCommand) throws -> R) rethrows -> R {
        let recorded = isRecorded ? asRecorded : ""
        let all = Array(texts.joined().utf8) + Array(recorded.utf8)
        // An exact copy at the end of a page: the encoder must not read on.
        let memory = GuardedBytes(capacity: max(all.count, 1))
        return unsafe try memory.withCopy(of: all) { bytes in
            var start = 0
            let parts = texts.map { text in
                defer { start += text.utf8.count }
                let part = unsafe UnsafeRawBufferPointer(
                    rebasing: bytes[start..<(start + text.utf8.count)]
                )
                return unsafe text.isEmpty ? Text.empty : Text(part)
            }
            var command = OverlayCommand()
            command.kind = kind
            command.resumed = resumed
            command.lane = lane
            command.sequence = sequence
            command.comboOffset = numbers[0]
            command.previousCount = numbers[1]
            command.count = numbers[2]
            command.value = numbers[3]
            command.at = EventTime(milliseconds: numbers[4])
            command.hideAt = EventTime(milliseconds: numbers[5])
            command.endAt = EventTime(milliseconds: numbers[6])
            command.fields = CommandFields(
                roomID: parts[0],
                userID: parts[1],
                userName: parts[2],
                userAvatar: parts[3],
                recipientID: parts[4],
                giftID: parts[5],
                giftName: parts[6],
                giftImage: parts[7]
            )
            if isRecorded {
                command.asRecorded = unsafe Text(UnsafeRawBufferPointer(rebasing: bytes[start...]))
            }
            return try body(&command)
        }
    }

    /// The fields that the JSON must have, in any order, numbers as they are written.
    var fields: [String: ReferenceJSON] {
        let combo = "\(partition)-\(numbers[0])"
        var fields: [String: ReferenceJSON] = [
            "command": .string("\(kind)"), "id": .string("\(combo)#\(sequence)"),
            "combo_id": .string(combo), "seq": .number("\(sequence)"),
            "from": .number("\(numbers[1])"), "count": .number("\(numbers[2])"),
            "value": .number("\(numbers[3])"), "lane": .number("\(lane)"),
            "at": .number("\(numbers[4])"), "hide_at": .number("\(numbers[5])"),
            "end_at": .number("\(numbers[6])"),
        ]
        let names = [
            "room_id", "user_id", "user_name", "user_avatar", "recipient_id", "gift_id",
            "gift_name", "gift_image",
        ]
        for (name, text) in zip(names, texts) where !text.isEmpty {
            fields[name] = try? ReferenceJSON.parse(Array("\"\(text)\"".utf8), nestingLimit: 1)
        }
        if kind == .show { fields["resumed"] = .boolean(resumed) }
        return fields
    }
}

/// The bytes that the encoder appends to a buffer with something in it.
private func encode(_ sample: SampleCommand) -> [UInt8] {
    var output = OutputBytes(capacity: 16)
    unsafe [UInt8](1...3).withUnsafeBytes { unsafe output.append($0) }
    var encoder = CommandEncoder()
    let start = sample.withCommand {
        encoder.append(&$0, partition: sample.partition, to: &output)
    }
    return unsafe [UInt8](output.bytes[start...])
}

private func parse(_ json: [UInt8]) -> [String: ReferenceJSON]? {
    guard case .object(let fields)? = try? ReferenceJSON.parse(json, nestingLimit: 1)
    else { return nil }
    return try? Dictionary(fields.map { ($0.name, $0.value) }) { _, _ in throw JSONProblem.otherKind
    }
}

private func key(room: String, user: String) -> [UInt8] {
    var sample = SampleCommand()
    (sample.texts[0], sample.texts[1]) = (room, user)
    var output = OutputBytes(capacity: 16)
    var encoder = CommandEncoder()
    let end = sample.withCommand {
        encoder.append(&$0, partition: sample.partition, to: &output)
    }
    return unsafe [UInt8](output.bytes[..<end])
}

@Suite
struct CommandEncoderTests {
    @Test func `a command is one JSON object with the fields of the design`() {
        let expected =
            #"{"command":"update","combo_id":"3-1200","id":"3-1200#2","seq":2,"#
            + #""from":1,"count":11,"value":155,"lane":1,"#
            + #""at":1760000000100,"hide_at":1760000002100,"end_at":1760000005100,"#
            + #""user_id":"1011537","room_id":"room-000","user_name":"送禮者11537 🎁","#
            + #""gift_id":"g22","gift_name":"Gift 22"}"#
        #expect(String(decoding: encode(SampleCommand()), as: UTF8.self) == expected)
    }

    @Test(arguments: CommandKind.allCases, [true, false])
    func `only a show says whether it resumes`(kind: CommandKind, resumed: Bool) {
        var sample = SampleCommand()
        sample.kind = kind
        sample.resumed = resumed
        #expect(parse(encode(sample)) == sample.fields)
        #expect((parse(encode(sample))?["resumed"] != nil) == (kind == .show))
    }

    @Test func `the largest and smallest numbers fit`() {
        for number in [Int64.min, -1, 0, 9, 10, 99, 100, .max] {
            var sample = SampleCommand()
            sample.kind = .show
            sample.numbers = Array(repeating: number, count: 7)
            (sample.lane, sample.sequence) = (.max, .max)
            for partition in [Int32.min, 0, .max] {
                sample.partition = partition
                sample.texts = Array(repeating: "text", count: 8)
                #expect(parse(encode(sample)) == sample.fields)
            }
        }
    }

    @Test(
        arguments: [
            [1_759_999_999_999, 1_760_000_000_000, 1_760_000_003_000],
            [99_999_999, 100_000_000, 5],
            [100_000_000, 99_999_999, 199_999_999],
            [9_999_999_999_999_999, 10_000_000_000_000_000, 0],
            [10_000_000_000_000_000, 10_000_000_000_000_000, .max], [0, 2_000, 5_000],
            [1_760_099_998_000, 1_760_100_000_000, 1_760_100_003_000], [-1, 1_999, 4_999],
        ] as [[Int64]]
    )
    func `times are written exactly where digits roll over`(times: [Int64]) {
        var sample = SampleCommand()
        sample.numbers.replaceSubrange(4..., with: times)
        #expect(parse(encode(sample)) == sample.fields)
    }

    @Test func `texts of any length are copied exactly`() {
        for length in Array(1...70) + [1_000, 3_456, 3_457, 4_096, 100_000] {
            var sample = SampleCommand()
            let letters = (0..<length).map { "\(UnicodeScalar(UInt8(0x61 + $0 % 26)))" }.joined()
            for place in 0..<8 {
                sample.texts = Array(repeating: "", count: 8)
                sample.texts[1] = "user"
                sample.texts[place] = letters
                #expect(parse(encode(sample)) == sample.fields)
            }
            sample.texts = Array(repeating: letters, count: 8)
            #expect(parse(encode(sample)) == sample.fields)
        }
    }

    @Test func `texts as a record has them are copied whole, of any length`() {
        for length in Array(1...70) + [1_000, 4_096, 100_000] {
            var sample = SampleCommand()
            sample.isRecorded = true
            sample.kind = length % 2 == 0 ? .show : .update
            sample.texts[2] = String(repeating: "n", count: length)
            #expect(parse(encode(sample)) == sample.fields)
            sample.texts = ["", "u", "", "", "", "", "", ""]
            #expect(parse(encode(sample)) == sample.fields)
        }
    }

    @Test(arguments: seeds)
    func `random commands parse back to what they say`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let pieces = ["a", "Z", "7", " ", "送", "🎁", "é", #"\""#, #"\\"#, #"\n"#, #"\u0001"#]
        for round in 0..<400 {
            var sample = SampleCommand()
            sample.kind = random.pick(CommandKind.allCases)
            sample.resumed = random.oneIn(2)
            sample.lane = UInt16(truncatingIfNeeded: random.next() >> UInt64(random.below(64)))
            sample.sequence = UInt32(truncatingIfNeeded: random.next() >> UInt64(random.below(64)))
            sample.partition = Int32(truncatingIfNeeded: random.next() >> UInt64(random.below(64)))
            sample.numbers = (0..<7).map { _ in
                Int64(truncatingIfNeeded: random.next() >> UInt64(random.below(64)))
            }
            if random.oneIn(2) {
                let at = Int64(random.below(4_000_000_000_000))
                sample.numbers.replaceSubrange(4..., with: [at, at + 2_000, at + 5_000])
            }
            sample.texts = (0..<8).map { _ in
                (0..<random.below(random.oneIn(9) ? 800 : 24)).map { _ in random.pick(pieces) }
                    .joined()
            }
            // No command lacks its sender.
            sample.texts[1] += "8"
            if parse(encode(sample)) != sample.fields {
                Issue.record("seed \(seed), round \(round): \(sample)")
                return
            }
        }
    }

    @Test(arguments: [
        ("room-000", "room-000"), ("a", "a"), ("seven-7", "seven-7"), (#"a\"b"#, #"a"b"#),
        (#"a room with a \\ in it"#, #"a room with a \ in it"#), (#"\n"#, "\n"),
        (#"送\u0001"#, "送\u{1}"),
        (#"at the very end \\"#, #"at the very end \"#),
        ("twenty-four letters long", "twenty-four letters long"),
        (#"\\ at the very start"#, #"\ at the very start"#),
        (#"in the middle\\of it"#, #"in the middle\of it"#),
    ])
    func `the key is the room unescaped, or the sender where there is none`(
        text: String,
        plain: String
    ) {
        #expect(key(room: text, user: "sender") == Array(plain.utf8))
        #expect(key(room: "", user: text) == Array(plain.utf8))
    }

    @Test func `what is no escape stands for itself in a key`() {
        for text in [#"a\"#, #"\x"#, #"\u12"#, #"\ud800"#, #"\udc00\ud800"#] {
            #expect(key(room: text, user: "sender") == Array(text.utf8))
        }
    }
}

@Suite
struct DecimalDigitsTests {
    @Test func `eight digits are those of the number`() {
        var numbers = Array(0...20_000) as [UInt64]
        var power: UInt64 = 1
        while power <= 10_000_000 {
            for factor in 1...9 as ClosedRange<UInt64> {
                numbers += [power * factor - 1, power * factor, power * factor + 1]
            }
            power *= 10
        }
        var random = SeededRandom(seed: 1)
        numbers += (0..<20_000).map { _ in UInt64(random.below(100_000_000)) }
        numbers += [99_999_999, 99_990_000, 99_989_999]
        for number in numbers {
            var rest = number
            var expected: UInt64 = 0
            for _ in 0..<8 {
                expected = expected << 8 | rest % 10
                rest /= 10
            }
            if DecimalDigits.eight(number) != expected { Issue.record("\(number)") }
        }
    }
}

@Suite
struct NumberTextsTests {
    /// What `write` writes.
    private func text(
        _ write: (borrowing NumberTexts, inout ReservedBytes) -> Void,
        _ texts: borrowing NumberTexts
    ) -> String {
        var output = OutputBytes(capacity: 64)
        var reserved = output.reserve(64)
        write(texts, &reserved)
        output.commit(reserved)
        return unsafe String(decoding: output.bytes, as: UTF8.self)
    }

    @Test func `numbers and offsets are written as their digits`() {
        let texts = NumberTexts()
        var numbers = Array(0...12_000) as [Int64]
        var power: Int64 = 1
        for _ in 0..<19 {
            numbers += [power - 1, power, power + 1, -power, 7 * (power / 10) + 3]
            power = power.multipliedReportingOverflow(by: 10).partialValue
        }
        var random = SeededRandom(seed: 2)
        numbers += (0..<20_000).map { _ in
            Int64(bitPattern: random.next() >> UInt64(random.below(64)))
        }
        numbers += [.max, .min]
        for number in numbers {
            let written = text({ $0.write(number, to: &$1) }, texts)
            let offset = text({ $0.writeOffset(number, to: &$1) }, texts)
            if written != String(number) || offset != String(number) {
                Issue.record("\(number) is written as \(written), an offset as \(offset)")
            }
        }
    }

    @Test func `times are written as their digits, whatever seconds came before`() {
        let texts = NumberTexts()
        var random = SeededRandom(seed: 3)
        var times: [Int64] = [
            0, -1, .min, .max, 999_999_999_999, 1_000_000_000_000, 9_999_999_999_999,
            10_000_000_000_000,
        ]
        for _ in 0..<20_000 {
            let time = 1_760_000_000_000 + Int64(random.below(100_000))
            times += [time, time + 2_000, time + 5_000]
            if random.oneIn(50) {
                times.append(Int64(bitPattern: random.next() >> UInt64(random.below(64))))
            }
        }
        for time in times {
            let written = text({ $0.write(EventTime(milliseconds: time), to: &$1) }, texts)
            if written != String(time) { Issue.record("\(time) is written as \(written)") }
        }
    }
}

@Suite
struct EightDigitsTests {
    @Test(arguments: seeds)
    func `digits are counted and read as a loop over the bytes does it`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<20_000 {
            let bytes = (0..<8).map { _ in
                random.oneIn(6)
                    ? UInt8(truncatingIfNeeded: random.next())
                    : UInt8(ascii: "0") + UInt8(random.below(10))
            }
            let count = bytes.firstIndex { !(0x30...0x39).contains($0) } ?? 8
            let digits = unsafe bytes.withUnsafeBytes {
                unsafe EightDigits(at: $0.baseAddress.unsafelyUnwrapped)
            }
            let value = bytes[..<count].reduce(0 as UInt64) { $0 * 10 + UInt64($1 - 0x30) }
            var isRight = digits.count == count && digits.areDigits == (count == 8)
            if count == 8 {
                isRight = isRight && digits.value == value
            } else {
                isRight = isRight && digits.byte(behind: count) == bytes[count]
                if count > 0 { isRight = isRight && digits.value(ofFirst: count) == value }
            }
            if !isRight { Issue.record("\(bytes), seed \(seed)") }
        }
    }
}

@Suite
struct OutputBytesTests {
    @Test func `what was written stays when the buffer grows, is cut and is emptied`() {
        var output = OutputBytes(capacity: 1)
        for byte in 0..<100 as Range<UInt8> {
            unsafe Array(repeating: byte, count: 10).withUnsafeBytes { unsafe output.append($0) }
        }
        #expect(unsafe output.bytes.enumerated().allSatisfy { $0.element == $0.offset / 10 })
        output.truncate(to: 15)
        #expect(unsafe [UInt8](output.bytes) == Array(repeating: 0, count: 10) + [1, 1, 1, 1, 1])
        output.removeAll()
        #expect(output.count == 0)
        unsafe output.append(UnsafeRawBufferPointer(start: nil, count: 0))
        #expect(output.count == 0)
    }

    @Test func `reserved room does not move what is there`() {
        var output = OutputBytes(capacity: 16)
        output.reserveCapacity(1_000)
        let start = unsafe output.bytes.baseAddress
        for _ in 0..<100 { unsafe [UInt8](1...10).withUnsafeBytes { unsafe output.append($0) } }
        #expect(unsafe output.bytes.baseAddress == start)
        #expect(output.count == 1_000)
    }
}
