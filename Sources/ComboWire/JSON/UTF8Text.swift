/// UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF.
enum UTF8Text {
    /// The length of the multi-byte character that begins at `pointer`, 0 if there is none.
    @inline(__always)
    static func sequenceLength(at pointer: UnsafeRawPointer, end: UnsafeRawPointer) -> Int {
        sequenceLength(unsafe firstFourBytes(at: pointer, end: end))
    }

    /// The same where four bytes can be read.
    @inline(__always)
    static func sequenceLength(at pointer: UnsafeRawPointer) -> Int {
        sequenceLength(UInt32(littleEndian: unsafe pointer.loadUnaligned(as: UInt32.self)))
    }

    /// The length of the multi-byte character that begins four bytes, the first of them lowest.
    ///
    /// Tells by masks what RFC 3629 says in a table: the lead and continuation bits, then the bits
    /// whose values make the form overlong or out of bounds.
    @inline(__always)
    private static func sequenceLength(_ word: UInt32) -> Int {
        if word & 0x00c0_c0f0 == 0x0080_80e0 {
            let top = word & 0x200f
            return top == 0 || top == 0x200d ? 0 : 3
        }
        if word & 0xc0c0_c0f8 == 0x8080_80f0 {
            let lead = word & 0x07
            let top = word & 0x3000
            return (lead == 0 && top == 0) || lead > 4 || (lead == 4 && top != 0) ? 0 : 4
        }
        return word & 0xc0e0 == 0x80c0 && word & 0x1e != 0 ? 2 : 0
    }

    /// Up to four bytes, the first lowest; 0 stands for those behind the end.
    @inline(__always)
    private static func firstFourBytes(
        at pointer: UnsafeRawPointer,
        end: UnsafeRawPointer
    ) -> UInt32 {
        if unsafe end - pointer >= 4 {
            return UInt32(littleEndian: unsafe pointer.loadUnaligned(as: UInt32.self))
        }
        var word: UInt32 = 0
        let count = unsafe end - pointer
        for index in 0..<count {
            let byte = unsafe pointer.load(fromByteOffset: index, as: UInt8.self)
            word |= UInt32(byte) << (8 * index)
        }
        return word
    }

    /// The position of the first byte that is no part of a character, nil if there is none.
    static func firstInvalidByte(in bytes: UnsafeRawBufferPointer) -> Int? {
        guard let start = bytes.baseAddress else { return nil }
        let end = unsafe start + bytes.count
        var pointer = unsafe start
        while unsafe pointer < end {
            if unsafe pointer.load(as: UInt8.self) < 0x80 {
                unsafe pointer += 1
                continue
            }
            let length = unsafe sequenceLength(at: pointer, end: end)
            guard length > 0 else { return unsafe pointer - start }
            unsafe pointer += length
        }
        return nil
    }

    /// The bytes of a scalar value, the first lowest, and how many they are.
    static func encode(_ scalar: UInt32) -> (bytes: UInt32, count: Int) {
        switch scalar {
        case 0..<0x80:
            (scalar, 1)
        case 0x80..<0x800:
            (0x80c0 | scalar >> 6 | (scalar & 0x3f) << 8, 2)
        case 0x800..<0x10000:
            (0x8080e0 | scalar >> 12 | (scalar >> 6 & 0x3f) << 8 | (scalar & 0x3f) << 16, 3)
        default:
            (
                0x808080f0 | scalar >> 18 | (scalar >> 12 & 0x3f) << 8
                    | (scalar >> 6 & 0x3f) << 16 | (scalar & 0x3f) << 24,
                4
            )
        }
    }
}
