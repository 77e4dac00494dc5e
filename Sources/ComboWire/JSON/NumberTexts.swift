internal import ComboCore

/// The decimal digits of the numbers that commands are full of, ready to be copied.
///
/// A number below 1,000 is a look-up, a longer one is put together of groups of three digits. Times
/// come in seconds that the commands around share: the last sixteen different ones are kept.
@safe
struct NumberTexts: ~Copyable {
    /// One number's digits in the three lowest bytes, the first digit lowest.
    ///
    /// The highest byte is how many they are.
    private let short: UnsafeMutablePointer<UInt32>
    /// The same with zeros in front, always three.
    private let padded: UnsafeMutablePointer<UInt32>
    private let seconds: UnsafeMutablePointer<Second>

    /// A second since the epoch and its ten digits, as it has since 2001 and until 2286.
    private struct Second: BitwiseCopyable {
        var number: UInt64
        var digits: SIMD16<UInt8>
    }

    private static let secondsKept: UInt64 = 16

    init() {
        unsafe short = .allocate(capacity: 1_000)
        unsafe padded = .allocate(capacity: 1_000)
        for number in 0..<1_000 as Range<UInt32> {
            let digits = number / 100 | ((number / 10 % 10) << 8) | ((number % 10) << 16)
            let text = digits | 0x30_3030
            let count: UInt32 = number < 10 ? 1 : number < 100 ? 2 : 3
            unsafe short[Int(number)] = text >> (8 * (3 - count)) | count << 24
            unsafe padded[Int(number)] = text | 3 << 24
        }
        unsafe seconds = .allocate(capacity: Int(Self.secondsKept))
        let none = Second(number: .max, digits: SIMD16(repeating: 0))
        unsafe seconds.initialize(repeating: none, count: Int(Self.secondsKept))
    }

    deinit {
        unsafe short.deallocate()
        unsafe padded.deallocate()
        unsafe seconds.deallocate()
    }

    /// Writes a number, most often one below 1,000; 24 bytes must be reserved.
    @inline(__always)
    func write(_ number: Int64, to json: inout ReservedBytes) {
        if UInt64(bitPattern: number) < 1_000 {
            json.writeDigits(unsafe short[Int(number)])
        } else {
            // By value, so that the cursor stays in a register.
            json = writeLong(number, to: json)
        }
    }

    /// Writes a number, most often one from 1,000 on and below 10^9; 24 bytes must be reserved.
    @inline(__always)
    func writeOffset(_ number: Int64, to json: inout ReservedBytes) {
        let thousands = UInt64(bitPattern: number) / 1_000
        let ones = UInt64(bitPattern: number) &- thousands &* 1_000
        if thousands &- 1 < 999 {
            json.writeDigits(unsafe short[Int(thousands)])
        } else if thousands &- 1 < 999_999 {
            let millions = thousands / 1_000
            json.writeDigits(unsafe short[Int(millions)])
            json.writeDigits(unsafe padded[Int(thousands &- millions &* 1_000)])
        } else {
            json.write(number: number)
            return
        }
        json.writeDigits(unsafe padded[Int(ones)])
    }

    /// Writes a time; 32 bytes must be reserved.
    @inline(__always)
    func write(_ time: EventTime, to json: inout ReservedBytes) {
        let milliseconds = UInt64(bitPattern: time.milliseconds)
        let second = milliseconds / 1_000
        let kept = unsafe seconds + Int(second % Self.secondsKept)
        if unsafe kept.pointee.number != second, unsafe !keep(second, in: kept) {
            json.write(number: time.milliseconds)
            return
        }
        json.write(
            unsafe kept.pointee.digits,
            count: 10
        )
        json.writeDigits(unsafe padded[Int(milliseconds &- second &* 1_000)])
    }

    @inline(never)
    private func writeLong(_ number: Int64, to reserved: ReservedBytes) -> ReservedBytes {
        var json = reserved
        writeOffset(number, to: &json)
        return json
    }

    /// Keeps a second's digits; false: they are not ten.
    @inline(never)
    private func keep(_ second: UInt64, in kept: UnsafeMutablePointer<Second>) -> Bool {
        guard second / 1_000_000_000 &- 1 < 9 else { return false }
        var digits = SIMD16<UInt8>(repeating: 0)
        var rest = second
        for index in stride(from: 9, through: 0, by: -1) {
            digits[index] = Byte.zero + UInt8(rest % 10)
            rest /= 10
        }
        unsafe kept.pointee = Second(number: second, digits: digits)
        return true
    }
}
