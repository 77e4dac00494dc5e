/// Space that was reserved in an ``OutputBytes``, and how much of it is written.
@safe
struct ReservedBytes {
    /// Where the next byte goes.
    fileprivate(set) var cursor: UnsafeMutableRawPointer
    /// One behind the last byte reserved.
    let end: UnsafeMutableRawPointer

    init(cursor: UnsafeMutableRawPointer, end: UnsafeMutableRawPointer) {
        unsafe self.cursor = cursor
        unsafe self.end = end
    }

    /// How many bytes are left.
    var room: Int { unsafe end - cursor }

    /// Keeps `count` bytes that were put at the cursor.
    @inline(__always)
    mutating func advance(_ count: Int) {
        unsafe cursor += count
        assert(unsafe cursor <= end, "more is written than reserved")
    }

    @inline(__always)
    mutating func write(_ byte: UInt8) {
        unsafe cursor.storeBytes(of: byte, as: UInt8.self)
        advance(1)
    }

    /// Writes the `count` lowest bytes of `bytes`, the lowest first.
    mutating func write(_ bytes: UInt32, count: Int) {
        for index in 0..<count { write(UInt8(truncatingIfNeeded: bytes >> (8 * index))) }
    }

    /// Writes a byte of a character into a JSON string, escaped if it has to be: at most six bytes.
    mutating func writeEscaped(_ byte: UInt8) {
        switch byte {
        case Byte.quote: write("\\\"")
        case Byte.backslash: write("\\\\")
        case 0x08: write("\\b")
        case 0x09: write("\\t")
        case 0x0a: write("\\n")
        case 0x0c: write("\\f")
        case 0x0d: write("\\r")
        case 0..<Byte.space:
            write(byte < 0x10 ? "\\u000" : "\\u001")
            let digit = byte & 0x0f
            write(digit < 10 ? Byte.zero + digit : UInt8(ascii: "a") + digit - 10)
        default: write(byte)
        }
    }

    /// Writes text that is known when the program is compiled.
    @inline(__always)
    mutating func write(_ text: StaticString) {
        unsafe cursor.copyMemory(from: text.utf8Start, byteCount: text.utf8CodeUnitCount)
        advance(text.utf8CodeUnitCount)
    }

    /// Copies bytes, most often 64 and more.
    @inline(__always)
    mutating func writeLong(from start: UnsafeRawPointer, count: Int) {
        guard count >= 32 else {
            unsafe write(from: start, count: count)
            return
        }
        let target = unsafe cursor
        let last = count &- 32
        advance(count)
        var offset = 0
        while offset < last {
            unsafe target.copy(SIMD32<UInt8>.self, from: start, at: offset)
            offset &+= 32
        }
        // The last 32 may overlap those before.
        unsafe target.copy(SIMD32<UInt8>.self, from: start, at: last)
    }

    /// Writes the `count` lowest bytes of `word`, the lowest first; eight must be reserved.
    @inline(__always)
    mutating func writeWord(_ word: UInt64, count: Int) {
        unsafe cursor.storeBytes(of: word.littleEndian, as: UInt64.self)
        advance(count)
    }

    /// Writes the digits in the three lowest bytes of `digits`, whose highest says how many they
    /// are; four bytes must be reserved.
    @inline(__always)
    mutating func writeDigits(_ digits: UInt32) {
        unsafe cursor.storeBytes(of: digits.littleEndian, as: UInt32.self)
        advance(Int(digits &>> 24))
    }

    /// Writes the first `count` of sixteen bytes; sixteen must be reserved.
    @inline(__always)
    mutating func write(_ bytes: SIMD16<UInt8>, count: Int) {
        unsafe cursor.storeBytes(of: bytes, as: SIMD16<UInt8>.self)
        advance(count)
    }

    /// Writes again what was written at `source`: up to 32 bytes, for which 32 must be reserved.
    ///
    /// The bytes must not reach up to the cursor.
    @inline(__always)
    mutating func writeCopy(of source: UnsafeMutableRawPointer, count: Int) {
        let low = unsafe source.loadUnaligned(as: SIMD16<UInt8>.self)
        let high = unsafe source.loadUnaligned(fromByteOffset: 16, as: SIMD16<UInt8>.self)
        unsafe cursor.storeBytes(of: low, as: SIMD16<UInt8>.self)
        unsafe cursor.storeBytes(of: high, toByteOffset: 16, as: SIMD16<UInt8>.self)
        advance(count)
    }

    /// Copies `source`, most often a short text, without the cost of a call.
    @inline(__always)
    mutating func write(_ source: UnsafeRawBufferPointer) {
        guard let start = source.baseAddress else { return }
        unsafe write(from: start, count: source.count)
    }

    /// The same from `start`.
    @inline(__always)
    mutating func write(from start: UnsafeRawPointer, count: Int) {
        let target = unsafe cursor
        advance(count)
        if count >= 16 {
            // Sixteen at a time, then the last sixteen, which may overlap those before.
            var offset = 0
            while offset < count &- 16 {
                unsafe target.copy(SIMD16<UInt8>.self, from: start, at: offset)
                offset &+= 16
            }
            unsafe target.copy(SIMD16<UInt8>.self, from: start, at: count &- 16)
        } else if count >= 8 {
            unsafe target.copy(UInt64.self, from: start, at: 0)
            unsafe target.copy(UInt64.self, from: start, at: count &- 8)
        } else if count >= 4 {
            unsafe target.copy(UInt32.self, from: start, at: 0)
            unsafe target.copy(UInt32.self, from: start, at: count &- 4)
        } else if count > 0 {
            // One to three: the first, the middle and the last.
            unsafe target.copy(UInt8.self, from: start, at: 0)
            unsafe target.copy(UInt8.self, from: start, at: count &>> 1)
            unsafe target.copy(UInt8.self, from: start, at: count &- 1)
        }
    }
}

extension UnsafeMutableRawPointer {
    /// Copies one word from `source` to here, both `offset` bytes on.
    @inline(__always)
    fileprivate func copy<Word: BitwiseCopyable>(
        _ type: Word.Type,
        from source: UnsafeRawPointer,
        at offset: Int
    ) {
        let word = unsafe source.loadUnaligned(fromByteOffset: offset, as: type)
        unsafe storeBytes(of: word, toByteOffset: offset, as: type)
    }
}
