/// The bytes of one string, borrowed from the record or the state that holds them.
///
/// The bytes are valid UTF-8 in *JSON text form*: what stands between the quotes of a JSON string.
/// A name keeps the escapes that its sender chose, for it is only carried through; an id is in
/// canonical form (only `"`, `\` and controls below U+0020 are escaped, each in one way), so that
/// equal ids are equal bytes. A string without a backslash is its own JSON text form, and writing
/// one to JSON is a copy.
///
/// A text does not own its bytes: it is valid until the next call that changes its source.
///
/// It is public, and the only such type, because just public functions are inlined across targets:
/// a call for each text costs more than making one.
@safe
public struct Text: BitwiseCopyable {
    /// The first byte; of an empty text any address, which is never read.
    public let start: UnsafeRawPointer
    /// The number of bytes; 0 for a string that is empty or absent, which count as the same.
    public let count: Int

    /// The text of an absent field.
    @inlinable public static var empty: Text {
        unsafe Text(start: UnsafeRawPointer(bitPattern: 1).unsafelyUnwrapped, count: 0)
    }

    /// Borrows `count` bytes, which must stay unchanged for as long as the text is used.
    @inlinable public init(start: UnsafeRawPointer, count: Int) {
        unsafe self.start = start
        self.count = count
    }

    /// Borrows `bytes`, which must stay unchanged for as long as the text is used.
    @inlinable public init(_ bytes: UnsafeRawBufferPointer) {
        unsafe self.init(
            start: bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1).unsafelyUnwrapped,
            count: bytes.count
        )
    }

    /// The bytes, borrowed as long as what holds them stays as it is.
    @inlinable public var bytes: UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(start: start, count: count)
    }
    /// Whether the string is empty or absent.
    @inlinable public var isEmpty: Bool { count == 0 }
}
