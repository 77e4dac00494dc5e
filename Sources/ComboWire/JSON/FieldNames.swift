/// Recognises the names of fields, most of them by guessing.
///
/// A producer writes its fields in one order. So the table remembers which field came after each
/// one the last time, and compares the next sixteen bytes with that field's name first: they hold
/// any known name, the comma before it, its quotes and its colon. A wrong guess, like any white
/// space before the colon, costs a search, never a wrong answer.
@safe
struct FieldNames: ~Copyable {
    /// A guess which name comes next, and the guess after it.
    @safe
    struct Guess: BitwiseCopyable {
        var name: NamePattern
        /// What is guessed after the guessed field.
        var next: UnsafeMutablePointer<Guess>
    }

    /// Stands for any unknown field.
    static let unknown: UInt8 = 16

    /// What is guessed after each field, after an unknown one, and after the opening brace.
    private let guesses: UnsafeMutablePointer<Guess>
    private static let guessCount = 18
    /// The name of each field.
    private let names: UnsafeMutablePointer<NamePattern>

    init() {
        unsafe names = .allocate(capacity: GiftField.allCases.count)
        for field in GiftField.allCases {
            unsafe (names + Int(field.rawValue)).initialize(to: NamePattern(field))
        }
        unsafe guesses = .allocate(capacity: Self.guessCount)
        for index in 0..<Self.guessCount {
            unsafe (guesses + index).initialize(to: Guess(name: names[0], next: guesses))
        }
        unsafe guessAfterBrace.pointee.name = names[0].afterOpeningBrace
    }

    deinit {
        unsafe names.deallocate()
        unsafe guesses.deallocate()
    }

    /// The guess of an object's first name.
    var guessAfterBrace: UnsafeMutablePointer<Guess> {
        unsafe guesses + (Self.guessCount - 1)
    }

    /// The guess of the name after `field`, a raw value or ``unknown``.
    func guess(after field: UInt8) -> UnsafeMutablePointer<Guess> {
        unsafe guesses + Int(field)
    }

    /// Corrects a guess to the known name whose comma is the first of the sixteen bytes that can
    /// be read at `pointer`; false if there is none, or the guess is of an object's first name.
    ///
    /// Fields that only some records have make the guesses around them wrong again and again.
    @inline(never)
    func correct(
        _ guess: UnsafeMutablePointer<Guess>,
        toNameAt pointer: UnsafeRawPointer
    ) -> Bool {
        guard unsafe guess != guessAfterBrace else { return false }
        for index in 0..<GiftField.allCases.count where unsafe names[index].matches(pointer) {
            unsafe guess.pointee.name = names[index]
            unsafe guess.pointee.next = self.guess(after: names[index].field)
            return true
        }
        return false
    }

    /// Moves from an object's opening brace or the end of a field's value behind the next colon.
    ///
    /// - Parameters:
    ///   - scanner: its cursor is at the opening brace for the first field.
    ///   - guess: what was guessed; it is corrected if another known field follows.
    /// - Returns: the field's raw value or ``unknown``; nil behind the closing brace.
    /// - Throws: what is wrong with the text.
    func scanName(
        _ scanner: inout JSONScanner,
        guess: UnsafeMutablePointer<Guess>
    ) throws(JSONProblem) -> UInt8? {
        let isFirst = unsafe guess == guessAfterBrace
        let separator = scanner.peekToken()
        guard separator == Byte.closeBrace || separator == (isFirst ? Byte.openBrace : Byte.comma)
        else { throw scanner.unexpected() }
        scanner.advance()
        if separator == Byte.closeBrace { return nil }
        if isFirst, scanner.peekToken() == Byte.closeBrace {
            scanner.advance()
            return nil
        }
        guard scanner.peekToken() == Byte.quote else { throw scanner.unexpected() }
        scanner.advance()
        let start = unsafe scanner.cursor
        let hasEscapes = try scanner.scanString()
        let written = unsafe UnsafeRawBufferPointer(start: start, count: scanner.cursor - start - 1)
        guard scanner.peekToken() == Byte.colon else { throw scanner.unexpected() }
        scanner.advance()
        guard let name = unsafe NamePattern(written, hasEscapes: hasEscapes),
            let found = findField(name, firstTrying: unsafe guess.pointee.name.field)
        else { return Self.unknown }
        if unsafe found.field != guess.pointee.name.field {
            unsafe guess.pointee.name = isFirst ? found.afterOpeningBrace : found
            unsafe guess.pointee.next = self.guess(after: found.field)
        }
        return found.field
    }

    private func findField(_ name: NamePattern, firstTrying guess: UInt8) -> NamePattern? {
        // With white space in the text a right guess comes here too.
        if unsafe names[Int(guess)].isName(name) { return unsafe names[Int(guess)] }
        for index in 0..<GiftField.allCases.count where unsafe names[index].isName(name) {
            return unsafe names[index]
        }
        return nil
    }
}
