@testable import ComboWire

/// Random records: gift events in all the ways one can write them, and what is almost one.
struct RandomRecords {
    var random: SeededRandom

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
    }

    /// A record's value, and the key that its writer would have given it.
    mutating func record() -> (value: [UInt8], key: [UInt8]?) {
        if random.oneIn(3) { return usualRecord() }
        var userID = random.oneIn(8) ? string(oddities: true) : "u\(random.below(1_000))"
        var fields: [String] = []
        let isTidy = random.oneIn(2)
        for field in GiftField.allCases where random.oneIn(2) || field == .userID {
            let name = "\(field.name)"
            if field == .userID, !random.oneIn(20) {
                if random.oneIn(5) { userID = "\(random.below(100_000))" }
                let isNumber = userID.allSatisfy { ("0"..."9").contains($0) } && random.oneIn(2)
                let isPlain = isNumber && (userID.first != "0" || userID.count == 1)
                fields.append("\"\(name)\":" + (isPlain ? userID : quoted(userID)))
            } else {
                let value = random.oneIn(isTidy ? 60 : 12) ? anyValue(depth: 1) : value(of: field)
                fields.append(
                    (random.oneIn(30) ? quoted(name) : "\"\(name)\"") + space() + ":" + value
                )
            }
            if !isTidy, random.oneIn(6) {
                fields.append(quoted(string(oddities: true)) + ":" + space() + anyValue(depth: 1))
            }
            if !isTidy, random.oneIn(12) { fields.append("\"\(name)\":" + anyValue(depth: 1)) }
        }
        if random.oneIn(2) { fields.shuffle(using: &random) }
        let separator = random.oneIn(3) ? ", " : ","
        let text = space() + "{" + space() + fields.joined(separator: separator) + space() + "}"
        var bytes = Array((text + space()).utf8)
        if random.oneIn(2) { mutate(&bytes) }
        let key: [UInt8]? = random.oneIn(20) ? nil : random.oneIn(20) ? [] : Array(userID.utf8)
        return (bytes, key)
    }

    /// A record as most producers write it, now and then with fields that stand elsewhere, come
    /// twice, are empty or damaged.
    private mutating func usualRecord() -> (value: [UInt8], key: [UInt8]?) {
        var fields: [(name: String, value: String)] = GiftField.allCases.compactMap { field in
            guard field == .userID || !random.oneIn(4) else { return nil }
            let letters = random.pick(["送禮", "é🎁", "abc 7", "Gift 22", "-"])
            let count = random.oneIn(30) ? 0 : 1 + random.below(random.oneIn(9) ? 20 : 3)
            let text = String(repeating: letters, count: count)
            return switch field.kind {
            case .id, .string: ("\(field.name)", "\"\(field == .userID ? "u" : "")\(text)\"")
            case .integer: ("\(field.name)", "\(1 + random.next() >> UInt64(1 + random.below(63)))")
            case .boolean: ("\(field.name)", random.pick(["true", "false"]))
            }
        }
        // The carried fields together, as the enumeration does not have them.
        if !random.oneIn(4) {
            let others = ["event_id", "streak_id"]
            fields =
                fields.filter { others.contains($0.name) }
                + fields.filter { !others.contains($0.name) }
        }
        if random.oneIn(4) { fields.shuffle(using: &random) }
        if random.oneIn(6) { fields.append(random.pick(fields)) }
        let userID = fields.last { $0.name == "user_id" }?.value.dropFirst().dropLast() ?? ""
        let text = fields.map { "\"\($0.name)\":\($0.value)" }.joined(separator: ",")
        var bytes = Array("{\(text)}".utf8)
        if random.oneIn(8) { mutate(&bytes) }
        return (bytes, Array(userID.utf8))
    }

    /// Any JSON text, now and then damaged.
    mutating func text() -> [UInt8] {
        var bytes = Array((space() + anyValue(depth: 0) + space()).utf8)
        if random.oneIn(2) { mutate(&bytes) }
        return bytes
    }

    private mutating func space() -> String {
        guard random.oneIn(6) else { return "" }
        return random.pick([" ", "\n", "\t", "\r\n", "   "])
    }

    private mutating func value(of field: GiftField) -> String {
        switch field.kind {
        case .id: random.oneIn(4) ? number() : quoted(string(oddities: random.oneIn(4)))
        case .string: quoted(string(oddities: random.oneIn(2)))
        case .integer: random.oneIn(3) ? number() : "\(1 + random.below(2_000))"
        case .boolean: random.pick(["true", "false"])
        }
    }

    private mutating func number() -> String {
        random.pick([
            "0", "-0", "1", "-1", "7", "1.0", "1e3", "0.5", "-2.5E-3", "1000000000", "1000000001",
            "1760000000000", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
            "-9223372036854775809", "18446744073709551616", "12345678901234567890123", "01", "1.",
            "-", "+1", ".5", "1e", "99999999", "123456789", "1234567890123456",
            "\(random.next())", "\(Int64(truncatingIfNeeded: random.next()))",
            "\(random.below(1_000_000))",
        ])
    }

    private mutating func anyValue(depth: Int) -> String {
        switch random.below(depth > 5 ? 5 : 8) {
        case 0: return "null"
        case 1: return random.pick(["true", "false", "tru", "nul", "NaN"])
        case 2: return number()
        case 3, 4: return quoted(string(oddities: true))
        case 5:
            let elements = (0..<random.below(4)).map { _ in anyValue(depth: depth + 1) }
            return "[" + elements.joined(separator: ",") + space() + "]"
        case 6:
            let fields = (0..<random.below(4)).map { _ in
                quoted(string(oddities: false)) + space() + ":" + anyValue(depth: depth + 1)
            }
            return "{" + space() + fields.joined(separator: "," + space()) + "}"
        default:
            // Around the limit of nesting.
            guard random.oneIn(8) else { return "[]" }
            let levels = 60 + random.below(8) - depth
            return String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        }
    }

    private mutating func string(oddities: Bool) -> String {
        let length = random.oneIn(6) ? random.below(60) : random.below(12)
        var text = String.UnicodeScalarView()
        for _ in 0..<length {
            let odd: [Unicode.Scalar] = [
                "\"", "\\", "/", "\n", "\u{1}", "\u{1f}", "\u{7f}", "é", "\u{7ff}", "\u{800}", "送",
                "\u{d7ff}", "\u{e000}", "\u{fffd}", "\u{ffff}", "🎁", "\u{10000}", "\u{10ffff}",
                "\u{200d}", "\0",
            ]
            let plain = Unicode.Scalar(UInt8(0x20 + random.below(0x5f)))
            text.append(oddities && random.oneIn(3) ? random.pick(odd) : plain)
        }
        return String(text)
    }

    /// A JSON string, each character escaped where it must be and now and then where it need not.
    private mutating func quoted(_ string: String) -> String {
        var text = "\""
        let escapesOften = random.oneIn(4)
        for scalar in string.unicodeScalars {
            let mustEscape = scalar < " " || scalar == "\"" || scalar == "\\"
            guard mustEscape || random.oneIn(escapesOften ? 2 : 200) else {
                text.unicodeScalars.append(scalar)
                continue
            }
            let short: [Unicode.Scalar: String] = [
                "\"": "\\\"", "\\": "\\\\", "/": "\\/", "\n": "\\n", "\t": "\\t",
            ]
            if let short = short[scalar], random.oneIn(2) {
                text += short
            } else {
                for unit in String(Character(scalar)).utf16 {
                    let digits = String(unit, radix: 16, uppercase: random.oneIn(2))
                    text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            }
        }
        return text + "\""
    }

    private mutating func mutate(_ bytes: inout [UInt8]) {
        for _ in 0...random.below(3) where !bytes.isEmpty {
            let place = random.below(bytes.count)
            switch random.below(7) {
            case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
            case 1: bytes[place] ^= 1 << UInt8(random.below(8))
            case 2: bytes.remove(at: place)
            case 3: bytes.removeSubrange(place...)
            case 4:
                let odd: [UInt8] = [0x22, 0x5c, 0x2c, 0x3a, 0x7b, 0x7d, 0x5b, 0x5d, 0, 0x80, 0xed]
                bytes.insert(random.pick(odd), at: place)
            case 5: bytes.insert(contentsOf: Array("\\ud83c".utf8), at: place)
            default:
                let length = min(random.below(12), bytes.count - place)
                bytes.insert(
                    contentsOf: bytes[place..<(place + length)],
                    at: random.below(bytes.count)
                )
            }
        }
    }
}
