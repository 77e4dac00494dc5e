/// Numbers to decimal digits, eight at a time.
enum DecimalDigits {
    /// The eight digits of `number`, which is below 10^8, as 0 to 9 in a byte each: the first digit
    /// lowest.
    ///
    /// Splits in parallel: the number to fours, fours to pairs, pairs to digits. Divisions are
    /// multiplications that are exact for numbers so small.
    @inline(__always)
    static func eight(_ number: UInt64) -> UInt64 {
        let first = number / 10_000
        let fours = first | (number &- first &* 10_000) << 32
        let hundreds = (fours &* 10_486) >> 20 & 0x0000_007f_0000_007f
        let pairs = hundreds | (fours &- hundreds &* 100) << 16
        let tens = (pairs &* 103) >> 10 & 0x000f_000f_000f_000f
        return tens | (pairs &- tens &* 10) << 8
    }

    /// What makes eight digits ASCII.
    @inline(__always)
    static var zeros: UInt64 { 0x3030_3030_3030_3030 }

    /// The digits of a number below 10^8, in ASCII, without zeros before it.
    struct Short {
        /// The first digit lowest.
        let text: UInt64
        let count: Int

        @inline(__always)
        init(_ number: UInt64) {
            let digits = DecimalDigits.eight(number)
            // The bit in the last byte stands for its being written even if it is 0.
            let missing = (digits | 1 << 56).trailingZeroBitCount & ~7
            text = (digits | DecimalDigits.zeros) &>> UInt64(missing)
            count = 8 &- missing &>> 3
        }
    }
}

extension ReservedBytes {
    /// Writes an integer, at most 20 bytes; up to 24 must be reserved.
    @inline(__always)
    mutating func write(number: Int64) {
        if UInt64(bitPattern: number) < 10 {
            write(Byte.zero &+ UInt8(truncatingIfNeeded: number))
        } else if UInt64(bitPattern: number) < 100 {
            let tens = (UInt64(bitPattern: number) &* 103) >> 10
            let digits = tens | (UInt64(bitPattern: number) &- tens &* 10) << 8
            writeWord(digits | 0x3030, count: 2)
        } else if UInt64(bitPattern: number) < 100_000_000 {
            write(DecimalDigits.Short(UInt64(bitPattern: number)))
        } else {
            // A copy keeps the cursor in a register: only the copy's address is taken.
            var copy = self
            copy.write(longNumber: number)
            self = copy
        }
    }

    @inline(never)
    private mutating func write(longNumber number: Int64) {
        if number < 0 { write(Byte.minus) }
        let upper = number.magnitude / 100_000_000
        if upper == 0 {
            write(DecimalDigits.Short(number.magnitude))
            return
        }
        if upper < 100_000_000 {
            write(DecimalDigits.Short(upper))
        } else {
            write(DecimalDigits.Short(upper / 100_000_000))
            writeEightDigits(upper % 100_000_000)
        }
        writeEightDigits(number.magnitude % 100_000_000)
    }

    /// Writes up to eight digits; eight bytes must be reserved.
    @inline(__always)
    mutating func write(_ digits: DecimalDigits.Short) {
        writeWord(digits.text, count: digits.count)
    }

    /// Writes `number`, which is below 10^8, as eight digits.
    @inline(__always)
    mutating func writeEightDigits(_ number: UInt64) {
        writeWord(DecimalDigits.eight(number) | DecimalDigits.zeros, count: 8)
    }
}
