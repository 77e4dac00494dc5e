/// Strings in JSON text form: what stands between the quotes of a JSON string.
enum JSONText {
    /// Appends the canonical form of `written` to `output`: as few escapes as possible.
    ///
    /// Escaped are quote, backslash and controls: `\b`, `\t`, `\n`, `\f`, `\r`, and the other
    /// controls as `\u00` with two lower-case digits. The canonical form is never longer.
    ///
    /// `written` was scanned before, so it is well-formed.
    static func appendCanonical(_ written: UnsafeRawBufferPointer, to output: inout OutputBytes) {
        var reserved = output.reserve(written.count)
        var characters = unsafe EscapedCharacters(written)
        while let (bytes, count) = characters.next() {
            if count == 1 {
                reserved.writeEscaped(UInt8(truncatingIfNeeded: bytes))
            } else {
                reserved.write(bytes, count: count)
            }
        }
        output.commit(reserved)
    }

    /// Appends what `text` stands for to `output`.
    static func appendUnescaped(_ text: UnsafeRawBufferPointer, to output: inout OutputBytes) {
        var reserved = output.reserve(text.count)
        if unsafe hasBackslash(text) {
            var characters = unsafe EscapedCharacters(text)
            while let (bytes, count) = characters.next() { reserved.write(bytes, count: count) }
        } else {
            unsafe reserved.write(text)
        }
        output.commit(reserved)
    }

    /// Whether `text` holds a backslash: escapes, that is.
    @inline(__always)
    private static func hasBackslash(_ text: UnsafeRawBufferPointer) -> Bool {
        guard let start = text.baseAddress else { return false }
        let count = text.count
        guard count >= 8 else { return unsafe text.contains { $0 == Byte.backslash } }
        // The last eight bytes may overlap the words before.
        var found = unsafe backslashes(start.word(at: count &- 8, as: UInt64.self))
        var offset = 0
        while offset < count &- 8 {
            found |= unsafe backslashes(start.word(at: offset, as: UInt64.self))
            offset &+= 8
        }
        return found != 0
    }

    /// Not 0 if a byte of `word` is a backslash.
    @inline(__always)
    private static func backslashes(_ word: UInt64) -> UInt64 {
        let moved = word ^ 0x5c5c_5c5c_5c5c_5c5c
        return (moved &- 0x0101_0101_0101_0101) & ~moved & 0x8080_8080_8080_8080
    }

    /// Whether `bytes` are what `text` stands for.
    @inline(never)
    static func isUnescaped(
        _ bytes: UnsafeRawBufferPointer,
        of text: UnsafeRawBufferPointer
    ) -> Bool {
        var characters = unsafe EscapedCharacters(text)
        var position = 0
        while let (character, count) = characters.next() {
            guard bytes.count - position >= count else { return false }
            for index in 0..<count {
                let byte = UInt8(truncatingIfNeeded: character >> (8 * index))
                guard unsafe bytes[position + index] == byte else { return false }
            }
            position += count
        }
        return position == bytes.count
    }

    /// Whether two short runs of bytes are the same, without the cost of a call.
    @inline(__always)
    static func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        let count = left.count
        guard count == right.count, let one = left.baseAddress, let other = right.baseAddress
        else { return false }
        if count >= 8 {
            // Whole words, then the last eight bytes, which may overlap the word before.
            var offset = 0
            while offset < count - 8 {
                let word = unsafe one.word(at: offset, as: UInt64.self)
                guard unsafe other.word(at: offset, as: UInt64.self) == word else { return false }
                offset += 8
            }
            return unsafe one.word(at: count - 8, as: UInt64.self)
                == other.word(at: count - 8, as: UInt64.self)
        }
        if count >= 4 {
            return unsafe one.word(at: 0, as: UInt32.self) == other.word(at: 0, as: UInt32.self)
                && one.word(at: count - 4, as: UInt32.self)
                    == other.word(at: count - 4, as: UInt32.self)
        }
        for offset in 0..<count {
            guard
                unsafe one.word(at: offset, as: UInt8.self)
                    == other.word(at: offset, as: UInt8.self)
            else { return false }
        }
        return true
    }
}

extension UnsafeRawPointer {
    @inline(__always)
    fileprivate func word<Word: FixedWidthInteger & BitwiseCopyable>(
        at offset: Int,
        as type: Word.Type
    ) -> Word {
        unsafe loadUnaligned(fromByteOffset: offset, as: type)
    }
}

/// The characters of a string in JSON text form, its escapes resolved.
///
/// What is no escape after all, which no scanned string holds, stands for itself.
@safe
struct EscapedCharacters {
    private var scanner: JSONScanner

    /// Takes what stands between a string's quotes.
    init(_ text: UnsafeRawBufferPointer) {
        scanner = unsafe JSONScanner(text)
    }

    /// The next character's UTF-8, the first byte lowest, and how many bytes these are.
    mutating func next() -> (bytes: UInt32, count: Int)? {
        guard !scanner.isAtEnd else { return nil }
        let byte = scanner.peek()
        if byte == Byte.backslash {
            var escape = scanner
            if let scalar = try? escape.scanEscape() {
                scanner = escape
                return UTF8Text.encode(scalar)
            }
        }
        // The bytes of a longer character are passed on singly: only escapes need a closer look.
        scanner.advance()
        return (UInt32(byte), 1)
    }
}
