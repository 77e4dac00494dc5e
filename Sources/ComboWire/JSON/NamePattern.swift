/// What sixteen bytes must be to begin with a comma, the name of a field in quotes, and a colon.
struct NamePattern: BitwiseCopyable {
    /// The longest name there is room for.
    private static let longestName = 12

    /// The first eight bytes; no known name is so short that it does not fill them.
    private var low: UInt64 = 0
    private var high: UInt64 = 0
    private var highMask: UInt64 = 0
    /// The number of bytes with comma, quotes and colon.
    private(set) var length: UInt8 = 0
    /// Raw value of the field, or ``FieldNames/unknown``.
    private(set) var field = FieldNames.unknown
    /// The field's ``GiftField/offset``.
    private(set) var offset: UInt16 = 0
    /// How the field's value is usually read.
    private(set) var kind = Kind.other

    /// The kinds of values that are read in the same way.
    enum Kind: UInt8 {
        case text
        /// An integer from 1 on.
        case count
        /// An integer from 0 on.
        case value
        case time
        case other

        init(_ field: GiftField) {
            switch field {
            case .eventID, .roomID, .userID, .recipientID, .giftID, .streakID, .userName,
                .userAvatar, .giftName, .giftImage:
                self = .text
            case .count, .streakCount: self = .count
            case .value: self = .value
            case .sentAt: self = .time
            case .streakEnd, .streakable: self = .other
            }
        }
    }

    init(_ field: GiftField) {
        let name = field.name
        precondition(5...Self.longestName ~= name.utf8CodeUnitCount)
        self.field = field.rawValue
        offset = UInt16(field.offset)
        kind = Kind(field)
        append(Byte.comma)
        append(Byte.quote)
        for index in 0..<name.utf8CodeUnitCount {
            append(unsafe name.utf8Start[index])
        }
        append(Byte.quote)
        append(Byte.colon)
    }

    /// The pattern of a name in JSON text form; nil if it is longer than any known one.
    init?(_ name: UnsafeRawBufferPointer, hasEscapes: Bool) {
        guard hasEscapes || name.count <= Self.longestName else { return nil }
        append(Byte.comma)
        append(Byte.quote)
        if hasEscapes {
            var characters = unsafe EscapedCharacters(name)
            while let (bytes, count) = characters.next() {
                guard Int(length) + count <= Self.longestName + 2 else { return nil }
                for index in 0..<count {
                    append(UInt8(truncatingIfNeeded: bytes >> (8 * index)))
                }
            }
        } else {
            for index in 0..<name.count {
                append(unsafe name[index])
            }
        }
        append(Byte.quote)
        append(Byte.colon)
    }

    /// The same with an object's opening brace for the comma.
    var afterOpeningBrace: NamePattern {
        var pattern = self
        pattern.low ^= UInt64(Byte.comma ^ Byte.openBrace)
        return pattern
    }

    /// Whether the sixteen bytes at `pointer`, all of which can be read, begin with the name.
    @inline(__always)
    func matches(_ pointer: UnsafeRawPointer) -> Bool {
        let low = unsafe pointer.loadUnaligned(as: UInt64.self)
        let high = unsafe pointer.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        return UInt64(littleEndian: low) == self.low
            && UInt64(littleEndian: high) & highMask == self.high
    }

    /// Whether both are patterns of the same name.
    func isName(_ other: NamePattern) -> Bool {
        low == other.low && high == other.high && length == other.length
    }

    private mutating func append(_ byte: UInt8) {
        let shift = UInt64(8 * (length & 7))
        if length < 8 {
            low |= UInt64(byte) << shift
        } else {
            high |= UInt64(byte) << shift
            highMask |= 0xff << shift
        }
        length += 1
    }
}
