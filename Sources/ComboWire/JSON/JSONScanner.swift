/// Moves over JSON text, one token at a time, and checks it (RFC 8259; UTF-8 as RFC 3629 has it).
///
/// The scanner is the one place that knows the grammar; the readers above it know what to expect.
/// A method that throws leaves the cursor at the byte that is wrong. Nothing is read at or behind
/// `end`: records come from a network buffer that has no padding.
///
/// Strings are scanned a word of eight bytes at a time. In a word, three kinds of byte need a
/// closer look: quotes and controls, backslashes, and bytes of multi-byte characters.
@safe
struct JSONScanner {
    /// First byte of the text.
    let start: UnsafeRawPointer
    /// One behind the last byte.
    let end: UnsafeRawPointer
    /// The next byte; never behind `end`.
    var cursor: UnsafeRawPointer

    /// The most arrays and objects that may be open at once: as many as ``skipValue(depth:limit:)``
    /// has bits for.
    static let deepestNesting = 128

    /// Starts at the first of `bytes`, which must stay unchanged while the scanner is used.
    init(_ bytes: UnsafeRawBufferPointer) {
        // An empty buffer may have no address; then any will do, for it is never read.
        unsafe start = bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1).unsafelyUnwrapped
        unsafe end = start + bytes.count
        unsafe cursor = start
    }

    /// The cursor as a byte position.
    var position: Int { unsafe cursor - start }
    /// Whether every byte was read.
    var isAtEnd: Bool { unsafe cursor == end }

    /// The byte at the cursor, 0 at the end: a byte that begins nothing.
    @inline(__always)
    func peek() -> UInt8 {
        unsafe cursor < end ? cursor.load(as: UInt8.self) : 0
    }

    /// Moves over white space and returns the byte behind it, 0 at the end.
    @inline(__always)
    mutating func peekToken() -> UInt8 {
        let byte = peek()
        return byte > Byte.space ? byte : peekAfterSpace()
    }

    @inline(never)
    private mutating func peekAfterSpace() -> UInt8 {
        while unsafe cursor < end {
            let byte = unsafe cursor.load(as: UInt8.self)
            guard
                byte == Byte.space || byte == Byte.lineFeed || byte == Byte.carriageReturn
                    || byte == Byte.tab
            else { return byte }
            unsafe cursor += 1
        }
        return 0
    }

    /// What to say of a byte that cannot stand at the cursor.
    func unexpected() -> JSONProblem {
        isAtEnd ? .unexpectedEnd : .unexpectedByte
    }

    /// Moves over the byte at the cursor, which is no part of what follows.
    @inline(__always)
    mutating func advance() {
        unsafe cursor += 1
    }

    /// Moves over `word`, whose first byte is at the cursor.
    mutating func scanLiteral(_ word: StaticString) throws(JSONProblem) {
        for index in 0..<word.utf8CodeUnitCount {
            guard unsafe word.utf8Start[index] == peek() else { throw unexpected() }
            advance()
        }
    }
}

// MARK: - Strings

extension JSONScanner {
    /// Moves behind the closing quote of a string whose opening quote is behind the cursor.
    ///
    /// - Returns: whether the string holds escapes.
    mutating func scanString() throws(JSONProblem) -> Bool {
        var hasEscapes = false
        while true {
            skipPlainWords()
            switch peek() {
            case Byte.quote:
                advance()
                return hasEscapes
            case Byte.backslash:
                hasEscapes = true
                _ = try scanEscape()
            case 0x80...:
                try scanMultiByteCharacters()
            case 0..<Byte.space:
                throw isAtEnd ? .unexpectedEnd : .controlCharacter
            default:
                // Plain, but too near the end for a whole word.
                advance()
            }
        }
    }

    /// Moves to the first byte that is not plain, or to the last seven bytes of the text.
    @inline(__always)
    private mutating func skipPlainWords() {
        while unsafe end - cursor >= 8 {
            let special = unsafe Self.specialBytes(at: cursor)
            unsafe cursor += special == 0 ? 8 : special.trailingZeroBitCount &>> 3
            if special != 0 { return }
        }
    }

    /// Moves over the characters at the cursor that are not ASCII, at least one of them.
    @inline(__always)
    private mutating func scanMultiByteCharacters() throws(JSONProblem) {
        var pointer = unsafe cursor
        defer { unsafe cursor = pointer }
        repeat {
            let length = unsafe UTF8Text.sequenceLength(at: pointer, end: end)
            guard length > 0 else { throw .notUTF8 }
            unsafe pointer += length
        } while unsafe pointer < end && pointer.load(as: UInt8.self) >= 0x80
    }

    /// The index of the first of sixteen bytes that is a quote, a backslash, a control or not
    /// ASCII; 16 if there is none.
    @inline(__always)
    static func firstSpecialByte(at pointer: UnsafeRawPointer) -> Int {
        // As signed numbers, bytes that are not ASCII are negative. XOR with 2 moves the quote to
        // 0x20, keeps the controls below it, and makes the backslash 0x5e.
        let bytes = unsafe pointer.loadUnaligned(as: SIMD16<Int8>.self) ^ 2
        let special = (bytes .< 0x21) .| (bytes .== 0x5e)
        let words = unsafe unsafeBitCast(special, to: SIMD2<UInt64>.self)
        if words[0] != 0 { return words[0].littleEndian.trailingZeroBitCount &>> 3 }
        return 8 &+ words[1].littleEndian.trailingZeroBitCount &>> 3
    }

    /// The closing quote of a text, from `pointer` in it on; nil if it holds escapes, or anything
    /// that is not allowed, or ends within the last sixteen bytes before `end`.
    @inline(never)
    static func endOfPlainText(
        at pointer: UnsafeRawPointer,
        end: UnsafeRawPointer
    ) -> UnsafeRawPointer? {
        var pointer = unsafe pointer
        let lastPlace = unsafe end - 16
        while unsafe pointer <= lastPlace {
            let byte = unsafe pointer.load(as: UInt8.self)
            if byte >= 0x80 {
                let length = unsafe UTF8Text.sequenceLength(at: pointer)
                if length == 0 { return nil }
                unsafe pointer += length
                continue
            }
            let special = unsafe firstSpecialByte(at: pointer)
            unsafe pointer += special
            if special < 16, unsafe pointer.load(as: UInt8.self) < 0x80 {
                return unsafe pointer.load(as: UInt8.self) == Byte.quote ? pointer : nil
            }
        }
        return nil
    }

    /// The high bit of each of eight bytes that is a quote, a backslash, a control or not ASCII.
    ///
    /// Exact for the lowest such byte; those above it may be marked wrongly, for a subtraction
    /// borrows from them.
    @inline(__always)
    static func specialBytes(at pointer: UnsafeRawPointer) -> UInt64 {
        let word = UInt64(littleEndian: unsafe pointer.loadUnaligned(as: UInt64.self))
        // XOR with 2 moves the quote to 0x20 and keeps the controls below it.
        let quotesAndControls = (word ^ 0x0202_0202_0202_0202) &- 0x2121_2121_2121_2121
        let backslashes = (word ^ 0x5c5c_5c5c_5c5c_5c5c) &- 0x0101_0101_0101_0101
        return (quotesAndControls | backslashes | word) & 0x8080_8080_8080_8080
    }

    /// Moves over the escape at the cursor, a surrogate pair being one.
    ///
    /// - Returns: the character it stands for, as its scalar value.
    mutating func scanEscape() throws(JSONProblem) -> UInt32 {
        let escape = unsafe cursor
        let unit = try scanEscapedUnit()
        guard unit & 0xf800 == 0xd800 else { return unit }
        let isFirstHalf = unit < 0xdc00
        if isFirstHalf, isAtEnd { throw .unexpectedEnd }
        if isFirstHalf, peek() == Byte.backslash {
            let low = try scanEscapedUnit()
            if low & 0xfc00 == 0xdc00 { return 0x10000 + (unit & 0x3ff) << 10 + low & 0x3ff }
        }
        unsafe cursor = escape
        throw .loneSurrogate
    }

    /// Moves over one escape and returns the UTF-16 unit it stands for.
    private mutating func scanEscapedUnit() throws(JSONProblem) -> UInt32 {
        advance()
        let letter = peek()
        let unit: UInt32
        switch letter {
        case Byte.quote, Byte.backslash, UInt8(ascii: "/"): unit = UInt32(letter)
        case UInt8(ascii: "b"): unit = 0x08
        case UInt8(ascii: "f"): unit = 0x0c
        case UInt8(ascii: "n"): unit = 0x0a
        case UInt8(ascii: "r"): unit = 0x0d
        case UInt8(ascii: "t"): unit = 0x09
        case UInt8(ascii: "u"):
            advance()
            return try scanFourHexDigits()
        default: throw isAtEnd ? .unexpectedEnd : .badEscape
        }
        advance()
        return unit
    }

    private mutating func scanFourHexDigits() throws(JSONProblem) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            let digit: UInt8
            switch peek() {
            case let byte where byte &- Byte.zero < 10: digit = byte - Byte.zero
            case let byte where (byte | 0x20) &- UInt8(ascii: "a") < 6:
                digit = (byte | 0x20) - UInt8(ascii: "a") + 10
            default: throw isAtEnd ? .unexpectedEnd : .badEscape
            }
            unit = unit << 4 | UInt32(digit)
            advance()
        }
        return unit
    }
}

/// Bytes that mean something in JSON.
enum Byte {
    static let tab: UInt8 = 0x09
    static let lineFeed: UInt8 = 0x0a
    static let carriageReturn: UInt8 = 0x0d
    static let space: UInt8 = 0x20
    static let quote = UInt8(ascii: "\"")
    static let backslash = UInt8(ascii: "\\")
    static let comma = UInt8(ascii: ",")
    static let colon = UInt8(ascii: ":")
    static let openBrace = UInt8(ascii: "{")
    static let closeBrace = UInt8(ascii: "}")
    static let openBracket = UInt8(ascii: "[")
    static let closeBracket = UInt8(ascii: "]")
    static let zero = UInt8(ascii: "0")
    static let minus = UInt8(ascii: "-")
}
