import Testing

@testable import ComboWire

/// Reads `text` with the reader and gives what `body` makes of it.
private func reading<R>(
    _ text: String,
    _ body: (inout JSONReader) throws(JSONError) -> R
) throws -> R {
    try unsafe Array(text.utf8).withUnsafeBytes { bytes throws(JSONError) in
        var reader = unsafe JSONReader(bytes)
        return try body(&reader)
    }
}

@Suite
struct JSONReaderTests {
    @Test func `an object's fields come one by one in the order of the text`() throws {
        let text = #" {"a" : -12 , "b":[true,false,null], "c\u0041":"x\ny\ud83c\udf81", "d":{}} "#
        let seen = try reading(text) { reader throws(JSONError) in
            var seen: [String] = []
            try reader.beginObject()
            while let name = try reader.nextField() {
                switch name {
                case "a": seen.append("a=\(try reader.integer())")
                case "b":
                    try reader.beginArray()
                    while try reader.nextElement() {
                        let isNull = try reader.consumeNull()
                        seen.append(isNull ? "null" : "\(try reader.boolean())")
                    }
                case "cA": seen.append("c=\(try reader.string())")
                default: seen.append("\(name)@\(try reader.skipValue())")
                }
            }
            try reader.finish()
            return seen
        }
        #expect(seen == ["a=-12", "true", "false", "null", "c=x\ny🎁", "d@71..<73"])
    }

    @Test(arguments: [
        ("9223372036854775807", Int64.max), ("-9223372036854775808", .min), ("-0", 0), ("10", 10),
        ("12345678", 12_345_678), ("1760000000000", 1_760_000_000_000),
        ("123456789012345678", 123_456_789_012_345_678),
    ])
    func `integers are read up to the bounds of 64 bits`(text: String, value: Int64) throws {
        #expect(try reading(text) { reader throws(JSONError) in try reader.integer() } == value)
    }

    @Test(arguments: [
        ("1.0", JSONProblem.notAnInteger), ("1e3", .notAnInteger), ("-0.0", .notAnInteger),
        ("123456789012345678901234.5", .notAnInteger), ("9223372036854775808", .integerOverflow),
        ("-9223372036854775809", .integerOverflow), ("18446744073709551615", .integerOverflow),
        ("18446744073709551616", .integerOverflow), ("18446744073709551617", .integerOverflow),
        ("100000000000000000000", .integerOverflow), ("\"1\"", .otherKind), ("01", .badNumber),
        ("-", .unexpectedEnd), ("-x", .badNumber), ("1.", .unexpectedEnd), ("1.x", .badNumber),
        ("1e+", .unexpectedEnd), ("", .unexpectedEnd), ("+1", .unexpectedByte),
    ])
    func `what is no integer is told apart`(text: String, problem: JSONProblem) throws {
        let error = #expect(throws: JSONError.self) {
            try reading(text) { reader throws(JSONError) in try reader.integer() }
        }
        #expect(error?.problem == problem)
    }

    @Test(arguments: [
        (#"{"a":1,}"#, JSONProblem.unexpectedByte, 7), (#"{"a" 1}"#, .unexpectedByte, 5),
        (#"{"a":1 "b":2}"#, .unexpectedByte, 7), (#"[1,2"#, .unexpectedEnd, 4),
        (#"{a:1}"#, .unexpectedByte, 1), (#"["\q"]"#, .badEscape, 3),
        (#"["\ud800x"]"#, .loneSurrogate, 2), (#"["\udc00"]"#, .loneSurrogate, 2),
        (#"["\ud800\u0041"]"#, .loneSurrogate, 2), ("[\"a\tb\"]", .controlCharacter, 3),
        ("[1] x", .trailingBytes, 4), ("[1]]", .trailingBytes, 3), ("[}", .unexpectedByte, 1),
        ("[tru]", .unexpectedByte, 4), ("\u{feff}[]", .unexpectedByte, 0),
        ("[\"a", .unexpectedEnd, 3),
    ])
    func `an error names the byte`(text: String, problem: JSONProblem, position: Int) throws {
        #expect(throws: JSONError(problem: problem, position: position)) {
            try reading(text) { reader throws(JSONError) in
                try reader.skipValue()
                try reader.finish()
            }
        }
    }

    @Test func `128 arrays may be open, and one more is refused`() throws {
        let deep = String(repeating: "[", count: 128) + String(repeating: "]", count: 128)
        #expect(try reading(deep) { reader throws(JSONError) in try reader.skipValue() } == 0..<256)
        #expect(throws: JSONError(problem: .tooDeep, position: 128)) {
            try reading("[\(deep)]") { reader throws(JSONError) in try reader.skipValue() }
        }
        #expect(throws: JSONError(problem: .tooDeep, position: 128)) {
            try reading("[\(deep)]") { reader throws(JSONError) in
                try reader.beginArray()
                while try reader.nextElement() { try reader.skipValue() }
            }
        }
    }
}
