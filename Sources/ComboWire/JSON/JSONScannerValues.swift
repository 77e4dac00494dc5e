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
    mutating func scanNumber() throws(JSONProblem) -> NumberToken {
        let isNegative = peek() == Byte.minus
        if isNegative { advance() }
        let first = peek() &- Byte.zero
        guard first < 10 else { throw isAtEnd ? .unexpectedEnd : .badNumber }
        advance()
        var magnitude = UInt64(first)
        var overflows = false
        while peek() &- Byte.zero < 10 {
            guard first != 0 else { throw .badNumber }
            let (product, isTooLarge) = magnitude.multipliedReportingOverflow(by: 10)
            let (sum, carries) = product.addingReportingOverflow(UInt64(peek() &- Byte.zero))
            magnitude = sum
            if isTooLarge || carries { overflows = true }
            advance()
        }
        let next = peek()
        if next == UInt8(ascii: ".") || next | 0x20 == UInt8(ascii: "e") {
            try scanFractionAndExponent()
            return NumberToken(value: 0, isInteger: false, overflows: false)
        }
        let limit = UInt64(Int64.max) + (isNegative ? 1 : 0)
        let value = Int64(bitPattern: isNegative ? 0 &- magnitude : magnitude)
        return NumberToken(
            value: value,
            isInteger: true,
            overflows: overflows || magnitude > limit
        )
    }

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
        if isAtEnd { return }
        _ = peekToken()
        guard isAtEnd else { throw .trailingBytes }
    }
}
