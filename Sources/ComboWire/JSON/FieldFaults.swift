/// What is wrong with the fields of a record that is JSON.
struct FieldFaults {
    /// Whether the value is no object.
    private(set) var isNoObject = false
    /// Whose last value is of a wrong type, and in the upper half whose is out of range: a bit for
    /// each field, by its raw value.
    private var fields: UInt32 = 0
    /// Where the values of the fields with faults are; byte positions.
    private var positions = InlineArray<16, Int>(repeating: 0)

    /// Whether nothing is wrong.
    var isEmpty: Bool { fields == 0 && !isNoObject }

    /// The first field whose last value is of a wrong type, and where it is.
    var firstWrongType: (field: GiftField, position: Int)? {
        first(fields & 0xffff)
    }

    /// The first field whose last value is out of range, and where it is.
    var firstOutOfRange: (field: GiftField, position: Int)? {
        first(fields >> 16)
    }

    private func first(_ bits: UInt32) -> (field: GiftField, position: Int)? {
        guard let field = GiftField(rawValue: UInt8(bits.trailingZeroBitCount)) else { return nil }
        return (field, positions[Int(field.rawValue)])
    }

    /// Begins another record.
    @inline(__always)
    mutating func removeAll() {
        isNoObject = false
        fields = 0
    }

    /// Notes that the value is no object.
    mutating func setNoObject() {
        isNoObject = true
    }

    /// Notes that the value of `field` at `position` is of a wrong type, or else out of range.
    mutating func insert(_ field: GiftField, isWrongType: Bool, position: Int) {
        fields |= 1 << UInt32(isWrongType ? field.rawValue : field.rawValue + 16)
        positions[Int(field.rawValue)] = position
    }

    /// Forgets the faults of `field`, for another value of it follows.
    mutating func remove(_ field: GiftField) {
        fields &= ~(0x0001_0001 << UInt32(field.rawValue))
    }
}
