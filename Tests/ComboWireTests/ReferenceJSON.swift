/// A JSON parser that is slow and plain, to judge the fast ones by.
///
/// It shares nothing with them: it decodes the whole text to scalars with the standard library's
/// own UTF-8 check, then follows RFC 8259 rule by rule, recursively, with a copy of everything.
indirect enum ReferenceJSON: Equatable {
    case object([ReferenceField])
    case array([ReferenceJSON])
    case string(String)
    /// A number as it was written.
    case number(String)
    case boolean(Bool)
    case null

    enum Refusal: Error, Equatable {
        case notUTF8
        case notJSON
    }

    static func parse(
        _ bytes: [UInt8],
        nestingLimit: Int
    ) throws(ReferenceJSON.Refusal) -> ReferenceJSON {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .notUTF8 }
        var parser = ReferenceParser(rest: text.unicodeScalars[...], nestingLimit: nestingLimit)
        let value = try parser.value(depth: 0)
        parser.skipSpace()
        guard parser.rest.isEmpty else { throw .notJSON }
        return value
    }
}

/// A field, in the order of the text; names may repeat.
struct ReferenceField: Equatable {
    let name: String
    let value: ReferenceJSON

    /// Strings are compared by their scalars: é and e + ́ are two names.
    static func == (left: ReferenceField, right: ReferenceField) -> Bool {
        Array(left.name.unicodeScalars) == Array(right.name.unicodeScalars)
            && left.value == right.value
    }
}

private struct ReferenceParser {
    var rest: Substring.UnicodeScalarView
    let nestingLimit: Int

    mutating func value(depth: Int) throws(ReferenceJSON.Refusal) -> ReferenceJSON {
        skipSpace()
        switch rest.first {
        case "{": return try object(depth: depth + 1)
        case "[": return try array(depth: depth + 1)
        case "\"": return .string(try string())
        case "t": return try literal("true", .boolean(true))
        case "f": return try literal("false", .boolean(false))
        case "n": return try literal("null", .null)
        default: return .number(try number())
        }
    }

    mutating func skipSpace() {
        while let first = rest.first, [" ", "\t", "\n", "\r"].contains(first) {
            rest.removeFirst()
        }
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard rest.first == scalar else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func literal(
        _ word: String,
        _ value: ReferenceJSON
    ) throws(ReferenceJSON.Refusal) -> ReferenceJSON {
        for scalar in word.unicodeScalars {
            guard take(scalar) else { throw .notJSON }
        }
        return value
    }

    private mutating func object(depth: Int) throws(ReferenceJSON.Refusal) -> ReferenceJSON {
        guard depth <= nestingLimit, take("{") else { throw .notJSON }
        var fields: [ReferenceField] = []
        skipSpace()
        if take("}") { return .object(fields) }
        repeat {
            skipSpace()
            let name = try string()
            skipSpace()
            guard take(":") else { throw .notJSON }
            fields.append(ReferenceField(name: name, value: try value(depth: depth)))
            skipSpace()
        } while take(",")
        guard take("}") else { throw .notJSON }
        return .object(fields)
    }

    private mutating func array(depth: Int) throws(ReferenceJSON.Refusal) -> ReferenceJSON {
        guard depth <= nestingLimit, take("[") else { throw .notJSON }
        var elements: [ReferenceJSON] = []
        skipSpace()
        if take("]") { return .array(elements) }
        repeat {
            elements.append(try value(depth: depth))
            skipSpace()
        } while take(",")
        guard take("]") else { throw .notJSON }
        return .array(elements)
    }

    private mutating func string() throws(ReferenceJSON.Refusal) -> String {
        guard take("\"") else { throw .notJSON }
        var units: [UInt16] = []
        while !take("\"") {
            guard let scalar = rest.popFirst(), scalar.value >= 0x20 else { throw .notJSON }
            if scalar == "\\" {
                units.append(try escape())
            } else {
                units.append(contentsOf: String(Character(scalar)).utf16)
            }
        }
        guard let text = String(validating: units, as: UTF16.self) else { throw .notJSON }
        return text
    }

    private mutating func escape() throws(ReferenceJSON.Refusal) -> UInt16 {
        switch rest.popFirst() {
        case "\"": return 0x22
        case "\\": return 0x5c
        case "/": return 0x2f
        case "b": return 0x08
        case "f": return 0x0c
        case "n": return 0x0a
        case "r": return 0x0d
        case "t": return 0x09
        case "u":
            let digits = rest.prefix(4)
            rest.removeFirst(digits.count)
            let hex = "0123456789abcdefABCDEF".unicodeScalars
            guard digits.count == 4, digits.allSatisfy({ hex.contains($0) }),
                let unit = UInt16(String(digits), radix: 16)
            else { throw .notJSON }
            return unit
        default: throw .notJSON
        }
    }

    private mutating func number() throws(ReferenceJSON.Refusal) -> String {
        var written = String.UnicodeScalarView()
        func isDigit(_ scalar: Unicode.Scalar?) -> Bool {
            scalar.map { ("0"..."9").contains($0) } ?? false
        }
        func move() {
            if let scalar = rest.popFirst() { written.append(scalar) }
        }
        func digits() throws(ReferenceJSON.Refusal) {
            guard isDigit(rest.first) else { throw .notJSON }
            while isDigit(rest.first) { move() }
        }
        if rest.first == "-" { move() }
        if rest.first == "0" { move() } else { try digits() }
        if rest.first == "." {
            move()
            try digits()
        }
        if rest.first == "e" || rest.first == "E" {
            move()
            if rest.first == "+" || rest.first == "-" { move() }
            try digits()
        }
        return String(written)
    }
}
