/// Walks over librdkafka's own JSON, once a second: takes it to be JSON, and stops where it isn't.
struct JSONScanner {
    private let bytes: [UInt8]
    private var index = 0

    init(_ json: RawSpan) {
        bytes = unsafe json.withUnsafeBytes { bytes in unsafe Array(bytes) }
    }

    /// Calls `body` with each member's name at its value, which it must consume; false: no object.
    mutating func members(_ body: (String, inout JSONScanner) -> Bool) -> Bool {
        guard take("{") else { return false }
        if take("}") { return true }
        repeat {
            guard let name = string(), take(":"), body(name, &self) else { return false }
        } while take(",")
        return take("}")
    }

    /// A string; its escapes stay as they are written, which no name that matters here has.
    mutating func string() -> String? {
        guard take("\"") else { return nil }
        let start = index
        while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        guard index < bytes.count else { return nil }
        defer { index += 1 }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    /// An integer; false if there is none.
    mutating func integer(into value: inout Int64) -> Bool {
        skipSpace()
        let start = index
        while index < bytes.count, isNumberByte(bytes[index]) { index += 1 }
        guard let number = Int64(String(decoding: bytes[start..<index], as: UTF8.self)) else {
            return false
        }
        value = number
        return true
    }

    /// Passes over any value; false if there is none.
    mutating func skipValue() -> Bool {
        skipSpace()
        guard index < bytes.count else { return false }
        switch bytes[index] {
        case UInt8(ascii: "\""): return string() != nil
        case UInt8(ascii: "{"), UInt8(ascii: "["): return skipNested()
        default:
            let start = index
            while index < bytes.count, !isEnd(bytes[index]) { index += 1 }
            return index > start
        }
    }

    private mutating func skipNested() -> Bool {
        var depth = 0
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: "\""):
                guard string() != nil else { return false }
                continue
            default: break
            }
            index += 1
            if depth == 0 { return true }
        }
        return false
    }

    private mutating func take(_ byte: Unicode.Scalar) -> Bool {
        skipSpace()
        guard index < bytes.count, bytes[index] == UInt8(ascii: byte) else { return false }
        index += 1
        return true
    }

    private mutating func skipSpace() {
        while index < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[index]) { index += 1 }
    }

    private func isNumberByte(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private func isEnd(_ byte: UInt8) -> Bool {
        [0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]")]
            .contains(byte)
    }
}
