/// The characters of a string in JSON text form, its escapes resolved.
@safe
struct EscapedCharacters {
    private var scanner: JSONScanner

    /// Takes what stands between a string's quotes and was scanned before, so it is well-formed.
    init(_ written: UnsafeRawBufferPointer) {
        scanner = unsafe JSONScanner(written)
    }

    /// The next character's UTF-8, the first byte lowest, and how many bytes these are.
    mutating func next() -> (bytes: UInt32, count: Int)? {
        guard !scanner.isAtEnd else { return nil }
        let byte = scanner.peek()
        if byte == Byte.backslash {
            guard let scalar = try? scanner.scanEscape() else {
                preconditionFailure("a string was not scanned before")
            }
            return UTF8Text.encode(scalar)
        }
        // Bytes of a longer character are passed on singly: only escapes need a closer look.
        scanner.advance()
        return (UInt32(byte), 1)
    }
}
