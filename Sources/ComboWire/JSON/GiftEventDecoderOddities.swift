internal import ComboCore

/// What the usual case hands over: any name and any value, as RFC 8259 allows them.
extension GiftEventDecoder {
    /// Where a name ends and whose it is.
    @safe
    struct OddName {
        /// Behind the colon, or behind the closing brace.
        let cursor: UnsafeRawPointer
        /// The field's raw value or ``FieldNames/unknown``; nil at the end of the object.
        let field: UInt8?
    }

    /// Reads a record that does not begin with a brace.
    @inline(never)
    mutating func scanOddRecord(
        _ start: JSONScanner,
        _ event: inout GiftEvent
    ) throws(JSONError) {
        var scanner = start
        if scanner.peekToken() == Byte.openBrace {
            try scanObject(scanner, &event)
            return
        }
        faults.setNoObject()
        do {
            try scanner.skipValue(limit: Self.nestingLimit)
        } catch {
            throw JSONError(problem: error, position: scanner.position)
        }
        try finish(scanner)
    }

    /// Reads the rest of an object, one of whose fields has a fault that a repetition may clear.
    @inline(never)
    mutating func scanFaultyRest(
        _ start: JSONScanner,
        _ event: inout GiftEvent,
        after previous: UInt8
    ) throws(JSONError) {
        var scanner = start
        var field = previous
        while true {
            let name = unsafe try scanOddName(scanner, guess: names.guess(after: field))
            unsafe scanner.cursor = name.cursor
            guard let next = name.field else { break }
            field = next
            unsafe scanner.cursor = try scanOddValue(scanner, &event, field)
        }
        try finish(scanner)
    }

    /// Makes sure that only white space follows.
    @inline(never)
    func finish(_ start: JSONScanner) throws(JSONError) {
        var scanner = start
        do {
            try scanner.finish()
        } catch {
            throw JSONError(problem: error, position: scanner.position)
        }
    }

    /// Reads a name that was not expected or stands between white space, or the closing brace.
    @inline(never)
    mutating func scanOddName(
        _ start: JSONScanner,
        guess: UnsafeMutablePointer<FieldNames.Guess>
    ) throws(JSONError) -> OddName {
        var scanner = start
        do {
            let field = unsafe try names.scanName(&scanner, guess: guess)
            return unsafe OddName(cursor: scanner.cursor, field: field)
        } catch {
            throw JSONError(problem: error, position: scanner.position)
        }
    }

    /// Reads any value of the field with the raw value `field`, or of an unknown one.
    ///
    /// - Returns: the cursor behind it.
    @inline(never)
    mutating func scanOddValue(
        _ start: JSONScanner,
        _ event: inout GiftEvent,
        _ field: UInt8
    ) throws(JSONError) -> UnsafeRawPointer {
        var scanner = start
        do {
            let first = scanner.peekToken()
            if let known = GiftField(rawValue: field) {
                faults.remove(known)
                try scanValue(startingWith: first, &scanner, &event, known)
            } else {
                try scanner.skipValue(depth: 1, limit: Self.nestingLimit)
            }
            return unsafe scanner.cursor
        } catch {
            throw JSONError(problem: error, position: scanner.position)
        }
    }

    private mutating func scanValue(
        startingWith first: UInt8,
        _ scanner: inout JSONScanner,
        _ event: inout GiftEvent,
        _ field: GiftField
    ) throws(JSONProblem) {
        let start = unsafe scanner.cursor
        let position = scanner.position
        var isWrongType = true
        switch (first, field.kind) {
        case (Byte.quote, .id), (Byte.quote, .string):
            let text = try scanText(&scanner, isID: field.isID)
            event.set(field, to: text)
            return
        case (UInt8(ascii: "n"), _):
            try scanner.scanLiteral("null")
            event.setAbsent(field)
            return
        case (UInt8(ascii: "t"), .boolean):
            try scanner.scanLiteral("true")
            event.set(field, to: true)
            return
        case (UInt8(ascii: "f"), .boolean):
            try scanner.scanLiteral("false")
            event.set(field, to: false)
            return
        case (Byte.minus, .id), (Byte.zero...UInt8(ascii: "9"), .id):
            guard try scanner.scanNumber().isInteger else { break }
            let digits = unsafe UnsafeRawBufferPointer(start: start, count: scanner.cursor - start)
            event.set(field, to: unsafe Text(digits))
            return
        case (Byte.minus, .integer), (Byte.zero...UInt8(ascii: "9"), .integer):
            let number = try scanner.scanNumber()
            if number.isInteger, !number.overflows, field.bounds.contains(number.value) {
                event.set(field, to: number.value)
                return
            }
            isWrongType = !number.isInteger
        default:
            try scanner.skipValue(depth: 1, limit: Self.nestingLimit)
        }
        faults.insert(field, isWrongType: isWrongType, position: position)
    }

    private mutating func scanText(
        _ scanner: inout JSONScanner,
        isID: Bool
    ) throws(JSONProblem) -> Text {
        scanner.advance()
        let start = unsafe scanner.cursor
        let hasEscapes = try scanner.scanString()
        let written = unsafe UnsafeRawBufferPointer(
            start: start,
            count: scanner.cursor - start - 1
        )
        if hasEscapes, isID { return unsafe rewrite(written, in: scanner) }
        return unsafe Text(written)
    }

    /// The canonical form of an id that was written with escapes.
    private mutating func rewrite(
        _ written: UnsafeRawBufferPointer,
        in scanner: JSONScanner
    ) -> Text {
        // The canonical form is never longer than another, so the record's own length is room
        // enough for all its ids, and the memory stays where it is for the whole record.
        let before = rewrittenIDs.count
        if before == 0 { rewrittenIDs.reserveCapacity(unsafe scanner.end - scanner.start) }
        unsafe JSONText.appendCanonical(written, to: &rewrittenIDs)
        return unsafe Text(UnsafeRawBufferPointer(rebasing: rewrittenIDs.bytes[before...]))
    }
}
