internal import ComboCore

/// Finds the fields that commands carry where they stand behind one another in a record, so that a
/// command can copy them at once (``GiftEvent/asRecorded``).
///
/// Where they stand is found once, and is the same in every record that has the same names in the
/// same order: the first of the run begins it, the last one ends it.
@safe
struct CarriedFields {
    /// The number of fields of the records that this is true of, and what is guessed after their
    /// last: as long as no guess changes, records that agree in both have the same names in order.
    ///
    /// No such record has 0 fields.
    private var fieldCount = 0
    private var lastGuess: UnsafeMutablePointer<FieldNames.Guess>?
    /// Whether there is a run at all.
    private var isRun = false
    /// ``GiftField/offset`` of the run's first field, and the bytes from its name's quote to its
    /// text.
    private var firstOffset = 0
    private var firstNameLength = 0
    /// ``GiftField/offset`` of the run's last field.
    private var lastOffset = 0

    /// Forgets what was learnt; to be called whenever a guess may have changed.
    @inline(__always)
    mutating func forget() {
        fieldCount = 0
    }

    /// Sets the event's ``GiftEvent/asRecorded``, all of whose carried fields are plainly written.
    @inline(__always)
    mutating func find(
        in event: inout GiftEvent,
        fieldCount: Int,
        lastGuess: UnsafeMutablePointer<FieldNames.Guess>
    ) {
        if unsafe fieldCount != self.fieldCount || lastGuess != self.lastGuess {
            learn(from: event)
            self.fieldCount = fieldCount
            unsafe self.lastGuess = lastGuess
        }
        guard isRun else { return }
        // Looked at as mutable, for otherwise all of it is copied.
        event.asRecorded = unsafe withUnsafeMutableBytes(of: &event) { fields in
            let first = unsafe fields.loadUnaligned(fromByteOffset: firstOffset, as: Text.self)
            let last = unsafe fields.loadUnaligned(fromByteOffset: lastOffset, as: Text.self)
            let start = unsafe first.start - firstNameLength
            return unsafe Text(start: start, count: last.start + last.count + 1 - start)
        }
    }

    /// Whether a field's value, read from `start` to `end` in no usual way, is a plain text after
    /// all; or no field that commands carry.
    static func isPlain(
        _ field: UInt8,
        of event: GiftEvent,
        from start: UnsafeRawPointer,
        to end: UnsafeRawPointer
    ) -> Bool {
        guard isCarried(field), let field = GiftField(rawValue: field) else { return true }
        let text = event.text(field)
        return unsafe !text.isEmpty && text.start == start + 1
            && text.start + text.count + 1 == end
    }

    /// Whether commands carry the field with this raw value.
    static func isCarried(_ field: UInt8) -> Bool {
        field <= GiftField.giftImage.rawValue && field != GiftField.eventID.rawValue
            && field != GiftField.streakID.rawValue
    }

    /// Finds out whether the carried fields of a record, all plainly written, fill the bytes from
    /// the first to the last of them.
    @inline(never)
    private mutating func learn(from event: GiftEvent) {
        isRun = false
        var filled = -1
        var start = unsafe event.userID.start
        var end = unsafe event.userID.start
        for field in GiftField.allCases where Self.isCarried(field.rawValue) {
            let text = event.text(field)
            if text.isEmpty { continue }
            // The name, its quotes, the colon and the text's first quote.
            let nameLength = field.name.utf8CodeUnitCount + 4
            filled += nameLength + text.count + 2
            if unsafe text.start - nameLength < start {
                unsafe start = text.start - nameLength
                firstOffset = field.offset
                firstNameLength = nameLength
            }
            if unsafe text.start + text.count + 1 > end {
                unsafe end = text.start + text.count + 1
                lastOffset = field.offset
            }
        }
        isRun = unsafe end - start == filled
    }
}

extension GiftEvent {
    /// A field that takes texts.
    fileprivate func text(_ field: GiftField) -> Text {
        unsafe withUnsafeBytes(of: self) { fields in
            unsafe fields.loadUnaligned(fromByteOffset: field.offset, as: Text.self)
        }
    }
}
