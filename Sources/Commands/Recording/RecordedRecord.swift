internal import ComboWire

/// One record of a recording; its buffers are used again for the next one.
package struct RecordedRecord: Equatable, Sendable {
    /// Partition of the input topic.
    package var partition: Int32 = 0
    /// Offset in its partition.
    package var offset: Int64 = 0
    /// Kafka's timestamp, epoch milliseconds; −1: none.
    package var timestamp: Int64 = -1
    /// When the worker got it, epoch milliseconds; nil: not recorded.
    package var arrivedAt: Int64?
    /// Whether ``key`` is one; else the key is null.
    package var hasKey = false
    /// The key's bytes.
    package var key: [UInt8] = []
    /// Whether ``value`` is one; else the record is a tombstone.
    package var hasValue = false
    /// The value's bytes.
    package var value: [UInt8] = []

    /// Creates an empty record.
    package init() {}

    /// Gives the key's and the value's bytes to `body`; a nil base address is a null one.
    func withBytes<Result>(
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Result
    ) -> Result {
        unsafe key.withUnsafeBytes { keyBytes in
            unsafe value.withUnsafeBytes { valueBytes in
                unsafe body(
                    RecordedRecord.borrowed(keyBytes, isNull: !hasKey),
                    RecordedRecord.borrowed(valueBytes, isNull: !hasValue)
                )
            }
        }
    }

    /// Empty bytes get some address, which is never read: an array need not give one.
    private static func borrowed(
        _ bytes: UnsafeRawBufferPointer,
        isNull: Bool
    ) -> UnsafeRawBufferPointer {
        if isNull { return unsafe UnsafeRawBufferPointer(start: nil, count: 0) }
        guard unsafe bytes.isEmpty else { return unsafe bytes }
        return unsafe UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: 1), count: 0)
    }
}

/// The fields of a recorded record.
enum RecordField: String {
    case partition
    case offset
    case timestamp
    case arrivedAt = "arrived_at"
    case key
    case value
    case valueBase64 = "value_base64"

    fileprivate var bit: UInt8 {
        switch self {
        case .partition: 0
        case .offset: 1
        case .timestamp: 2
        case .arrivedAt: 3
        case .key: 4
        case .value: 5
        case .valueBase64: 6
        }
    }

    /// What its value may be, in words.
    var allowed: String {
        switch self {
        case .partition: "an integer from 0 to \(Int32.max)"
        case .offset: "an integer, 0 or more"
        case .timestamp, .arrivedAt: "an integer (epoch milliseconds) or null"
        case .key: "a string or null"
        case .value: "an object, a string (raw text) or null"
        case .valueBase64: "a string in base64 (RFC 4648, padded)"
        }
    }
}

/// Which fields a record has given; a Set would cost more than reading the record.
private struct FieldSet {
    private var bits: UInt8 = 0

    mutating func insert(_ field: RecordField) {
        bits |= 1 << field.bit
    }

    func contains(_ field: RecordField) -> Bool {
        bits & 1 << field.bit != 0
    }
}

/// Why a text is no record.
enum RecordProblem: Equatable {
    /// It is no JSON object, or no JSON.
    case json(JSONError)
    case wrongValue(RecordField, position: Int)
    case missing(RecordField)
    /// Both `value` and `value_base64`.
    case twoValues

    var detail: String {
        switch self {
        case .json(let error):
            "no record, \(error); allowed: a JSON object with "
                + "partition, offset, timestamp, arrived_at (optional), key, "
                + "and value or value_base64"
        case .wrongValue(let field, let position):
            "\(field.rawValue) at byte \(position): not allowed; allowed: \(field.allowed)"
        case .missing(.value): "value or value_base64 is missing"
        case .missing(let field): "\(field.rawValue) is missing; allowed: \(field.allowed)"
        case .twoValues: "value and value_base64 are both given; allowed: one of them"
        }
    }
}

extension RecordedRecord {
    /// Reads a record from a line.
    ///
    /// - Returns: what is wrong with the line; the record is then of no use.
    mutating func read(line bytes: UnsafeRawBufferPointer) -> RecordProblem? {
        var reader = unsafe JSONReader(bytes)
        do {
            if let problem = try unsafe read(from: &reader, of: bytes) { return problem }
            try reader.finish()
            return nil
        } catch {
            return .json(error)
        }
    }

    /// Reads a record from the object that comes next in `reader`, which reads from `bytes`.
    ///
    /// - Returns: what is wrong with the object; the record is then of no use.
    mutating func read(
        from reader: inout JSONReader,
        of bytes: UnsafeRawBufferPointer
    ) throws(JSONError) -> RecordProblem? {
        var seen = FieldSet()
        arrivedAt = nil
        try reader.beginObject()
        while let name = try reader.nextField() {
            guard let field = RecordField(rawValue: name) else {
                try reader.skipValue()
                continue
            }
            seen.insert(field)
            let position = reader.position
            guard try unsafe read(field, from: &reader, of: bytes) else {
                return .wrongValue(field, position: position)
            }
        }
        for field in [RecordField.partition, .offset, .timestamp, .key] where !seen.contains(field)
        {
            return .missing(field)
        }
        switch (seen.contains(.value), seen.contains(.valueBase64)) {
        case (true, true): return .twoValues
        case (false, false): return .missing(.value)
        default: return nil
        }
    }

    /// Reads one field; false: its value is not allowed, and the reader is of no more use.
    private mutating func read(
        _ field: RecordField,
        from reader: inout JSONReader,
        of bytes: UnsafeRawBufferPointer
    )
        throws(JSONError) -> Bool
    {
        do {
            return try unsafe readValue(of: field, from: &reader, of: bytes)
        } catch {
            switch error.problem {
            case .otherKind, .notAnInteger, .integerOverflow: return false
            default: throw error
            }
        }
    }

    private mutating func readValue(
        of field: RecordField,
        from reader: inout JSONReader,
        of bytes: UnsafeRawBufferPointer
    )
        throws(JSONError) -> Bool
    {
        switch field {
        case .partition:
            guard let partition = Int32(exactly: try reader.integer()) else { return false }
            self.partition = partition
            return partition >= 0
        case .offset:
            offset = try reader.integer()
            return offset >= 0
        case .timestamp: timestamp = try reader.consumeNull() ? -1 : reader.integer()
        case .arrivedAt: arrivedAt = try reader.consumeNull() ? nil : reader.integer()
        case .key:
            hasKey = !(try reader.consumeNull())
            key.removeAll(keepingCapacity: true)
            if hasKey {
                key.append(contentsOf: try reader.bytes())
            }
        case .value: return try unsafe readRawValue(from: &reader, of: bytes)
        case .valueBase64:
            guard let decoded = decodeBase64(try reader.bytes()) else { return false }
            hasValue = true
            value = decoded
        }
        return true
    }

    private mutating func readRawValue(
        from reader: inout JSONReader,
        of bytes: UnsafeRawBufferPointer
    )
        throws(JSONError) -> Bool
    {
        value.removeAll(keepingCapacity: true)
        hasValue = true
        switch try reader.nextKind() {
        case .object:
            // Its bytes as they stand there: they are what the producer sent.
            let range = try reader.skipValue()
            unsafe value.append(contentsOf: bytes[range])
        case .string: value.append(contentsOf: try reader.bytes())
        case .null: hasValue = !(try reader.consumeNull())
        case .array, .number, .boolean: return false
        }
        return true
    }
}

/// The bytes that a base64 text stands for (RFC 4648 section 4, padded); nil: it is none.
func decodeBase64(_ text: [UInt8]) -> [UInt8]? {
    guard text.count % 4 == 0 else { return nil }
    let padding = text.reversed().prefix(2).prefix { $0 == UInt8(ascii: "=") }.count
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 4 * 3)
    var bits: UInt32 = 0
    var count = 0
    for character in text.dropLast(padding) {
        let digit: UInt8
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit = character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): digit = character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): digit = 62
        case UInt8(ascii: "/"): digit = 63
        default: return nil
        }
        bits = bits << 6 | UInt32(digit)
        count += 6
        if count >= 8 {
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        }
    }
    // Bits that are in no byte must be 0, so that every value has one text.
    return bits & (1 << UInt32(count) - 1) == 0 ? bytes : nil
}
