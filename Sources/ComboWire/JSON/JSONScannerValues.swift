/// A number as it was written.
struct NumberToken: BitwiseCopyable {
    /// Its value, if it is an integer within Int64.
    var value: Int64
    /// Whether it was written without fraction and exponent.
    var isInteger: Bool
    /// Whether it is an integer beyond Int64.
    var overflows: Bool
}

extension JSONScanner {
    /// Moves over the number at the cursor, which holds a minus sign or a digit.
    @inline(__always)
    mutating func scanNumber() throws(JSONProblem) -> NumberToken {
        let isNegative = peek() == Byte.minus
        if isNegative { advance() }
        let first = peek() &- Byte.zero
        guard first < 10 else { throw isAtEnd ? .unexpectedEnd : .badNumber }
        let digits = unsafe cursor
        advance()
        var magnitude = UInt64(first)
        if first != 0 { scanDigits(into: &magnitude) }
        let overflows =
            unsafe cursor - digits > 18
            && Self.overflows(unsafe UnsafeRawBufferPointer(start: digits, count: cursor - digits))
        let next = peek()
        if next == UInt8(ascii: ".") || next | 0x20 == UInt8(ascii: "e") {
            try scanFractionAndExponent()
            return NumberToken(value: 0, isInteger: false, overflows: false)
        }
        guard next &- Byte.zero >= 10 else { throw .badNumber }
        let value = Int64(bitPattern: isNegative ? 0 &- magnitude : magnitude)
        // 9223372036854775808 has the bit pattern of Int64.min and is one only with the sign.
        let isBeyond = overflows || (value < 0 && !isNegative) || (value > 0 && isNegative)
        return NumberToken(value: value, isInteger: true, overflows: isBeyond)
    }

    /// Adds the digits at the cursor to `magnitude`, modulo 2^64.
    @inline(__always)
    private mutating func scanDigits(into magnitude: inout UInt64) {
        // Eight at once: times are thirteen digits long.
        while unsafe end - cursor >= 8 {
            let word = UInt64(littleEndian: unsafe cursor.loadUnaligned(as: UInt64.self))
            let digits = word ^ 0x3030_3030_3030_3030
            guard (digits | (digits &+ 0x0606_0606_0606_0606)) & 0xf0f0_f0f0_f0f0_f0f0 == 0
            else { break }
            let pairs = (digits &* 0x0a01) >> 8 & 0x00ff_00ff_00ff_00ff
            let fours = (pairs &* 0x0064_0001) >> 16 & 0x0000_ffff_0000_ffff
            magnitude = magnitude &* 100_000_000 &+ (fours &* 0x2710_0000_0001) >> 32
            unsafe cursor += 8
        }
        while peek() &- Byte.zero < 10 {
            magnitude = magnitude &* 10 &+ UInt64(peek() &- Byte.zero)
            advance()
        }
    }

    /// Whether the value of `digits`, more than 18 of them and the first not 0, exceeds 2^64 − 1.
    @inline(never)
    private static func overflows(_ digits: UnsafeRawBufferPointer) -> Bool {
        var magnitude: UInt64 = 0
        for index in 0..<digits.count {
            let digit = UInt64(unsafe digits[index] - Byte.zero)
            let (product, tooLarge) = magnitude.multipliedReportingOverflow(by: 10)
            let (sum, carries) = product.addingReportingOverflow(digit)
            if tooLarge || carries { return true }
            magnitude = sum
        }
        return false
    }

    @inline(never)
    private mutating func scanFractionAndExponent() throws(JSONProblem) {
        if peek() == UInt8(ascii: ".") {
            advance()
            try scanOneOrMoreDigits()
        }
        if peek() | 0x20 == UInt8(ascii: "e") {
            advance()
            if peek() == UInt8(ascii: "+") || peek() == Byte.minus { advance() }
            try scanOneOrMoreDigits()
        }
    }

    private mutating func scanOneOrMoreDigits() throws(JSONProblem) {
        guard peek() &- Byte.zero < 10 else { throw isAtEnd ? .unexpectedEnd : .badNumber }
        repeat { advance() } while peek() &- Byte.zero < 10
    }

    /// Moves over any value, checking all of it.
    ///
    /// Which of the open containers are objects is kept in the bits of a number, so that no input
    /// can exhaust the stack.
    ///
    /// - Parameters:
    ///   - depth: how many containers are open around the value.
    ///   - limit: how many may be open, at most ``deepestNesting``.
    /// - Throws: what is wrong with the value, the cursor being there.
    @inline(never)
    mutating func skipValue(depth: Int = 0, limit: Int) throws(JSONProblem) {
        var objects: UInt128 = 0
        var open = 0
        while true {
            // Here a value begins.
            let byte = peekToken()
            if byte == Byte.openBrace || byte == Byte.openBracket {
                guard depth + open < limit else { throw .tooDeep }
                advance()
                objects = objects << 1 | (byte == Byte.openBrace ? 1 : 0)
                open += 1
                let next = peekToken()
                if next != (byte == Byte.openBrace ? Byte.closeBrace : Byte.closeBracket) {
                    if byte == Byte.openBrace { try scanFieldName() }
                    continue
                }
            } else {
                try skipScalar(startingWith: byte)
            }
            // Here a value has ended, or an empty container is about to; so may those around it.
            while true {
                guard open > 0 else { return }
                let isObject = objects & 1 == 1
                let next = peekToken()
                if next == Byte.comma {
                    advance()
                    if isObject { try scanFieldName() }
                    break
                }
                guard next == (isObject ? Byte.closeBrace : Byte.closeBracket)
                else { throw unexpected() }
                advance()
                objects >>= 1
                open -= 1
            }
        }
    }

    private mutating func scanFieldName() throws(JSONProblem) {
        guard peekToken() == Byte.quote else { throw unexpected() }
        advance()
        _ = try scanString()
        guard peekToken() == Byte.colon else { throw unexpected() }
        advance()
    }

    /// Moves over a string, number, boolean or null that begins with `byte`.
    private mutating func skipScalar(startingWith byte: UInt8) throws(JSONProblem) {
        switch byte {
        case Byte.quote:
            advance()
            _ = try scanString()
        case Byte.minus, Byte.zero...UInt8(ascii: "9"): _ = try scanNumber()
        case UInt8(ascii: "t"): try scanLiteral("true")
        case UInt8(ascii: "f"): try scanLiteral("false")
        case UInt8(ascii: "n"): try scanLiteral("null")
        default: throw unexpected()
        }
    }

    /// Moves over white space to the end of the text.
    mutating func finish() throws(JSONProblem) {
        _ = peekToken()
        guard isAtEnd else { throw .trailingBytes }
    }
}
