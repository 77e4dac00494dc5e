/// What kind of value a JSON text holds.
package enum JSONKind: Sendable {
    case object
    case array
    case string
    case number
    case boolean
    case null
}

/// Reads any JSON text piece by piece, in the order in which it stands there.
///
/// For recordings, commands and tests; records of the input are read by ``GiftEventDecoder``. It
/// is as strict (RFC 8259, UTF-8 checked, half surrogate pairs refused), except that 128 arrays
/// and objects may be open at once. A reader that threw must not be used again.
///
/// ```swift
/// var reader = unsafe JSONReader(bytes)
/// try reader.beginObject()
/// while let name = try reader.nextField() {
///     switch name {
///     case "offset": offset = try reader.integer()
///     case "key": key = try reader.consumeNull() ? nil : reader.string()
///     case "value": rawValue = try reader.skipValue()
///     default: try reader.skipValue()
///     }
/// }
/// try reader.finish()
/// ```
@safe
package struct JSONReader {
    private var scanner: JSONScanner
    /// How many arrays and objects are open.
    private var depth = 0
    /// Whether the array or object that was begun last has had no element yet.
    private var isAtFirst = false

    /// Reads from `bytes`, which must stay unchanged while the reader is used.
    package init(_ bytes: UnsafeRawBufferPointer) {
        scanner = unsafe JSONScanner(bytes)
    }

    /// Byte position of what is read next.
    package var position: Int { scanner.position }

    /// The kind of the value that comes next.
    package mutating func nextKind() throws(JSONError) -> JSONKind {
        switch scanner.peekToken() {
        case Byte.openBrace: .object
        case Byte.openBracket: .array
        case Byte.quote: .string
        case Byte.minus, Byte.zero...UInt8(ascii: "9"): .number
        case UInt8(ascii: "t"), UInt8(ascii: "f"): .boolean
        case UInt8(ascii: "n"): .null
        default: throw error(scanner.unexpected())
        }
    }

    /// Enters an object; ``nextField()`` then gives its fields' names, and nil at its end.
    package mutating func beginObject() throws(JSONError) {
        try begin(.object)
    }

    /// Enters an array; ``nextElement()`` then says whether there is an element, until its end.
    package mutating func beginArray() throws(JSONError) {
        try begin(.array)
    }

    /// Moves to the next field's value and returns the field's name, or nil behind the last one.
    package mutating func nextField() throws(JSONError) -> String? {
        guard try next(closing: Byte.closeBrace) else { return nil }
        guard scanner.peekToken() == Byte.quote else { throw error(scanner.unexpected()) }
        let name = try string()
        guard scanner.peekToken() == Byte.colon else { throw error(scanner.unexpected()) }
        scanner.advance()
        return name
    }

    /// Moves to the next element, or returns false behind the last one.
    package mutating func nextElement() throws(JSONError) -> Bool {
        try next(closing: Byte.closeBracket)
    }

    /// The string that comes next.
    package mutating func string() throws(JSONError) -> String {
        let (written, hasEscapes) = try unsafe writtenString()
        guard hasEscapes else { return unsafe String(decoding: written, as: UTF8.self) }
        return String(decoding: unsafe unescaped(written), as: UTF8.self)
    }

    /// The string that comes next, as UTF-8.
    package mutating func bytes() throws(JSONError) -> [UInt8] {
        let (written, hasEscapes) = try unsafe writtenString()
        return hasEscapes ? unsafe unescaped(written) : unsafe [UInt8](written)
    }

    /// Moves over a string; answers its bytes as written and whether there are escapes in them.
    private mutating func writtenString() throws(JSONError) -> (UnsafeRawBufferPointer, Bool) {
        try expect(.string)
        scanner.advance()
        let start = unsafe scanner.cursor
        do {
            let hasEscapes = try scanner.scanString()
            let count = unsafe scanner.cursor - start - 1
            return unsafe (UnsafeRawBufferPointer(start: start, count: count), hasEscapes)
        } catch {
            throw self.error(error)
        }
    }

    private func unescaped(_ written: UnsafeRawBufferPointer) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(written.count)
        var characters = unsafe EscapedCharacters(written)
        while let (character, count) = characters.next() {
            for index in 0..<count {
                bytes.append(UInt8(truncatingIfNeeded: character >> (8 * index)))
            }
        }
        return bytes
    }

    /// The integer that comes next.
    ///
    /// - Throws: ``JSONProblem/notAnInteger`` if it was written with a fraction or an exponent,
    ///   ``JSONProblem/integerOverflow`` if it lies beyond Int64.
    package mutating func integer() throws(JSONError) -> Int64 {
        try expect(.number)
        let start = position
        let number: NumberToken
        do {
            number = try scanner.scanNumber()
        } catch {
            throw self.error(error)
        }
        if !number.isInteger { throw JSONError(problem: .notAnInteger, position: start) }
        if number.overflows { throw JSONError(problem: .integerOverflow, position: start) }
        return number.value
    }

    /// The number that comes next, as it is written.
    package mutating func numberText() throws(JSONError) -> String {
        try expect(.number)
        let start = unsafe scanner.cursor
        do {
            _ = try scanner.scanNumber()
        } catch {
            throw self.error(error)
        }
        let written = unsafe UnsafeRawBufferPointer(start: start, count: scanner.cursor - start)
        return unsafe String(decoding: written, as: UTF8.self)
    }

    /// The boolean that comes next.
    package mutating func boolean() throws(JSONError) -> Bool {
        try expect(.boolean)
        let isTrue = scanner.peek() == UInt8(ascii: "t")
        do {
            try scanner.scanLiteral(isTrue ? "true" : "false")
        } catch {
            throw self.error(error)
        }
        return isTrue
    }

    /// Moves over null and returns true, or stays before another value and returns false.
    package mutating func consumeNull() throws(JSONError) -> Bool {
        guard try nextKind() == .null else { return false }
        do {
            try scanner.scanLiteral("null")
        } catch {
            throw self.error(error)
        }
        return true
    }

    /// Moves over any value, checking all of it.
    ///
    /// - Returns: where its bytes are, as written.
    @discardableResult
    package mutating func skipValue() throws(JSONError) -> Range<Int> {
        _ = try nextKind()
        let start = position
        do {
            try scanner.skipValue(depth: depth, limit: JSONScanner.deepestNesting)
        } catch {
            throw self.error(error)
        }
        return start..<position
    }

    /// Makes sure that nothing but white space is left.
    package mutating func finish() throws(JSONError) {
        do {
            try scanner.finish()
        } catch {
            throw self.error(error)
        }
    }

    private func error(_ problem: JSONProblem) -> JSONError {
        JSONError(problem: problem, position: position)
    }

    private mutating func expect(_ kind: JSONKind) throws(JSONError) {
        guard try nextKind() == kind else { throw error(.otherKind) }
    }

    private mutating func begin(_ kind: JSONKind) throws(JSONError) {
        try expect(kind)
        guard depth < JSONScanner.deepestNesting else { throw error(.tooDeep) }
        scanner.advance()
        depth += 1
        isAtFirst = true
    }

    private mutating func next(closing: UInt8) throws(JSONError) -> Bool {
        precondition(depth > 0, "no array or object is open")
        let byte = scanner.peekToken()
        defer { isAtFirst = false }
        if byte == closing {
            scanner.advance()
            depth -= 1
            return false
        }
        if isAtFirst { return true }
        guard byte == Byte.comma else { throw error(scanner.unexpected()) }
        scanner.advance()
        return true
    }
}
