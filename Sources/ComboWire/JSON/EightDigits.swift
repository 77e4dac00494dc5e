/// Eight bytes that may be decimal digits, the first one lowest.
struct EightDigits {
    /// 0 to 9 in each byte that is a digit.
    private let digits: UInt64

    /// Looks at the eight bytes at `pointer`.
    @inline(__always)
    init(at pointer: UnsafeRawPointer) {
        let word = unsafe pointer.loadUnaligned(as: UInt64.self)
        digits = UInt64(littleEndian: word) ^ 0x3030_3030_3030_3030
    }

    /// The high bit of each byte that is no digit.
    ///
    /// Exact for the lowest such byte; one above it may be marked wrongly, for a sum carries into
    /// it.
    @inline(__always)
    private var others: UInt64 {
        (digits | (digits &+ 0x7676_7676_7676_7676)) & 0x8080_8080_8080_8080
    }

    /// Whether all eight are digits.
    @inline(__always)
    var areDigits: Bool { others == 0 }

    /// Whether the first is a zero.
    @inline(__always)
    var beginsWithZero: Bool { digits & 0xff == 0 }

    /// How many digits come before another byte, 0 to 8.
    @inline(__always)
    var count: Int { others.trailingZeroBitCount &>> 3 }

    /// The byte behind the first `count` digits, `count` below 8.
    @inline(__always)
    func byte(behind count: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: digits &>> UInt64(8 &* count)) ^ 0x30
    }

    /// The value of all eight digits.
    @inline(__always)
    var value: UInt64 { Self.value(digits) }

    /// The value of the first `count` digits, 1 to 7 of them.
    @inline(__always)
    func value(ofFirst count: Int) -> UInt64 {
        // Zeros come in before them.
        Self.value(digits &<< UInt64(64 &- 8 &* count))
    }

    /// Joins neighbours in parallel: digits to pairs, pairs to fours, fours to the number.
    @inline(__always)
    private static func value(_ digits: UInt64) -> UInt64 {
        let pairs = (digits &* 0x0a01) >> 8 & 0x00ff_00ff_00ff_00ff
        let fours = (pairs &* 0x0064_0001) >> 16 & 0x0000_ffff_0000_ffff
        return (fours &* 0x2710_0000_0001) >> 32
    }
}

/// An integer of one to seven digits directly before a comma or a brace.
struct ShortInteger {
    let value: Int64
    /// The number of its digits.
    let length: Int

    /// Reads it at `pointer`, where eight bytes can be read; nil if there is something else.
    @inline(__always)
    init?(at pointer: UnsafeRawPointer) {
        let digits = unsafe EightDigits(at: pointer)
        length = digits.count
        guard length &- 1 < 7 else { return nil }
        let next = digits.byte(behind: length)
        // A zero before other digits is no number, but that is not for here to say.
        guard next == Byte.comma || next == Byte.closeBrace,
            length == 1 || !digits.beginsWithZero
        else { return nil }
        value = Int64(bitPattern: digits.value(ofFirst: length))
    }
}
