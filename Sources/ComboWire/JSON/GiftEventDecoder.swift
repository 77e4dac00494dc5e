package import ComboCore

/// Reads gift events from the JSON of records, in place.
///
/// An event's texts point into the record's value. Only ids that were written with escapes are
/// rewritten, in canonical form, into memory that the decoder keeps for it; so equal ids are equal
/// bytes, whatever their sender escaped. In steady state nothing is allocated.
///
/// A record is refused for the first reason of ``RefusalReason`` that applies. So nothing short of
/// malformed JSON ends a scan: fields of a wrong type or out of range are noted in one bit each,
/// which a repetition of the field clears, for the last one counts.
///
/// What producers usually write is read by a loop that only knows the usual: the name that was
/// guessed, compared as sixteen bytes, then a text, scanned sixteen bytes at a time, or a number.
/// For anything else it calls the general methods in the other file, one name or value at a time.
package struct GiftEventDecoder: ~Copyable {
    /// The most arrays and objects that may be open in a value at once.
    package static let nestingLimit = 64

    private let maximumBytes: Int
    private let checksKey: Bool
    let names = FieldNames()
    private var carried = CarriedFields()
    /// Ids of the current record that carried escapes.
    var rewrittenIDs = OutputBytes()
    /// What is wrong with the fields of the current record.
    var faults = FieldFaults()

    /// Creates a decoder.
    ///
    /// - Parameters:
    ///   - maximumBytes: longest value that is read (`input.max.bytes`).
    ///   - checksKey: whether a record's key must be its `user_id` (`input.key.check`).
    package init(maximumBytes: Int = 1_000_000, checksKey: Bool = true) {
        self.maximumBytes = maximumBytes
        self.checksKey = checksKey
    }

    /// Reads the event in `value`.
    ///
    /// - Parameters:
    ///   - value: the record's value; a tombstone is the caller's matter and looks empty here.
    ///   - key: the record's key; without a base address it is a null key.
    ///   - event: becomes the event, its texts valid until the next call and only as long as
    ///     `value` is unchanged. If the record is refused it is not to be used.
    /// - Throws: the reason why the record cannot be used.
    /// - Complexity: O(bytes of the value).
    package mutating func decode(
        value: UnsafeRawBufferPointer,
        key: UnsafeRawBufferPointer,
        into event: inout GiftEvent
    ) throws(Refusal) {
        guard value.count > 0 else { throw Refusal(.emptyValue) }
        guard value.count <= maximumBytes else { throw Refusal(.tooLarge) }
        rewrittenIDs.removeAll()
        faults.removeAll()
        event.removeAll()
        let scanner = unsafe JSONScanner(value)
        do {
            if scanner.peek() == Byte.openBrace {
                try scanObject(scanner, &event)
            } else {
                try scanOddRecord(scanner, &event)
            }
        } catch {
            throw unsafe Self.refusal(error, in: value)
        }
        if !faults.isEmpty || event.userID.isEmpty { throw refusal(event) }
        if checksKey, unsafe !isKey(key, of: event.userID) {
            throw Refusal(.keyMismatch, field: .userID)
        }
    }

    // MARK: - The usual case

    /// Reads the object whose brace the scanner is at, and makes sure that nothing follows.
    ///
    /// The methods that it calls take the scanner by value and return the new cursor, so that the
    /// loop keeps its own in registers.
    mutating func scanObject(
        _ start: JSONScanner,
        _ event: inout GiftEvent
    ) throws(JSONError) {
        var scanner = start
        // The last place from which sixteen bytes can be read.
        let lastPlace = unsafe start.end - 16
        var guess = unsafe names.guessAfterBrace
        var count = 0
        var isPlain = true
        while true {
            var field: UInt8
            if unsafe scanner.cursor <= lastPlace, unsafe guess.pointee.name.matches(scanner.cursor)
            {
                let name = unsafe guess
                count &+= 1
                unsafe scanner.cursor += Int(name.pointee.name.length)
                unsafe guess = name.pointee.next
                let kind = unsafe name.pointee.name.kind
                if kind == .text {
                    if unsafe scanner.cursor < lastPlace,
                        let quote = unsafe Self.endOfPlainText(at: scanner.cursor, scanner.end)
                    {
                        let start = unsafe scanner.cursor + 1
                        let text = unsafe Text(start: start, count: quote - start)
                        Self.store(text, in: &event, at: unsafe name.pointee.name.offset)
                        unsafe scanner.cursor = quote + 1
                        continue
                    }
                } else if kind == .time {
                    if let time = unsafe Self.time(at: scanner.cursor, scanner.end) {
                        event.sentAt = time
                        unsafe scanner.cursor += 13
                        continue
                    }
                } else if kind != .other, unsafe scanner.cursor < lastPlace,
                    let integer = unsafe ShortInteger(at: scanner.cursor)
                {
                    if kind == .value {
                        event.value = integer.value
                        unsafe scanner.cursor += integer.length
                        continue
                    } else if integer.value > 0 {
                        Self.store(
                            integer.value as Int64?,
                            in: &event,
                            at: unsafe name.pointee.name.offset
                        )
                        unsafe scanner.cursor += integer.length
                        continue
                    }
                }
                field = unsafe name.pointee.name.field
            } else if scanner.peek() == Byte.closeBrace, unsafe guess != names.guessAfterBrace {
                scanner.advance()
                break
            } else if unsafe scanner.cursor <= lastPlace,
                unsafe names.correct(guess, toNameAt: scanner.cursor)
            {
                carried.forget()
                continue
            } else {
                let guessed = unsafe guess.pointee.name.field
                let name = unsafe try scanOddName(scanner, guess: guess)
                unsafe scanner.cursor = name.cursor
                guard let known = name.field else { break }
                field = known
                unsafe guess = names.guess(after: field)
                count &+= 1
                if field != guessed { carried.forget() }
                if CarriedFields.isCarried(field) { isPlain = false }
            }
            let value = unsafe scanner.cursor
            unsafe scanner.cursor = try scanOddValue(scanner, &event, field)
            if unsafe !CarriedFields.isPlain(field, of: event, from: value, to: scanner.cursor) {
                isPlain = false
            }
            if !faults.isEmpty {
                carried.forget()
                return try scanFaultyRest(scanner, &event, after: field)
            }
        }
        if isPlain { unsafe carried.find(in: &event, fieldCount: count, lastGuess: guess) }
        if !scanner.isAtEnd { try finish(scanner) }
    }

    /// Puts a field's value into `event`, `offset` bytes from its start.
    @inline(__always)
    private static func store<Value: BitwiseCopyable>(
        _ value: Value,
        in event: inout GiftEvent,
        at offset: UInt16
    ) {
        unsafe withUnsafeMutableBytes(of: &event) { bytes in
            unsafe bytes.baseAddress.unsafelyUnwrapped.storeBytes(
                of: value,
                toByteOffset: Int(offset),
                as: Value.self
            )
        }
    }

    /// The closing quote of a text that is not empty and has no escapes, whose opening quote is
    /// the first of the seventeen bytes that can be read at `pointer`; nil if there is something
    /// else.
    @inline(__always)
    private static func endOfPlainText(
        at pointer: UnsafeRawPointer,
        _ end: UnsafeRawPointer
    ) -> UnsafeRawPointer? {
        guard unsafe pointer.load(as: UInt8.self) == Byte.quote else { return nil }
        let special = unsafe JSONScanner.firstSpecialByte(at: pointer + 1)
        let quote = unsafe pointer + 1 + special
        if special < 16, unsafe quote.load(as: UInt8.self) == Byte.quote {
            return unsafe special > 0 ? quote : nil
        }
        return unsafe JSONScanner.endOfLongText(at: quote, end: end)
    }

    /// The number of thirteen digits at `pointer`, as times have had since 2001 and have until
    /// 2286; nil if there is something else.
    @inline(__always)
    private static func time(at pointer: UnsafeRawPointer, _ end: UnsafeRawPointer) -> Int64? {
        guard unsafe end - pointer >= 14 else { return nil }
        let first = unsafe EightDigits(at: pointer)
        let last = unsafe EightDigits(at: pointer + 5)
        let next = unsafe pointer.load(fromByteOffset: 13, as: UInt8.self)
        guard first.areDigits, last.areDigits, !first.beginsWithZero,
            next == Byte.comma || next == Byte.closeBrace
        else { return nil }
        // The two overlap by three digits.
        return Int64(first.value / 1_000 &* 100_000_000 &+ last.value)
    }

    // MARK: - Refusals

    /// The refusal of a text that is no JSON, or, before that, no UTF-8.
    private static func refusal(
        _ error: JSONError,
        in value: UnsafeRawBufferPointer
    ) -> Refusal {
        if let invalid = unsafe UTF8Text.firstInvalidByte(in: value) {
            return Refusal(.notUTF8, position: invalid)
        }
        return Refusal(.notJSON, problem: error.problem, position: error.position)
    }

    /// The refusal of a text that is JSON, but no gift event.
    private func refusal(_ event: GiftEvent) -> Refusal {
        if faults.isNoObject { return Refusal(.wrongType) }
        if let (field, position) = faults.firstWrongType {
            return Refusal(.wrongType, field: field, position: position)
        }
        guard !event.userID.isEmpty, let (field, position) = faults.firstOutOfRange else {
            return Refusal(.missingUserID, field: .userID)
        }
        return Refusal(.outOfRange, field: field, position: position)
    }

    /// Whether `key` is the unescaped `userID`.
    @inline(__always)
    private func isKey(_ key: UnsafeRawBufferPointer, of userID: Text) -> Bool {
        // Without rewritten ids there is no backslash in any id.
        rewrittenIDs.count == 0
            ? unsafe JSONText.areEqual(key, userID.bytes)
            : unsafe JSONText.isUnescaped(key, of: userID.bytes)
    }
}
