@testable import ComboWire

/// A gift event as the reference reads it, its strings unescaped.
struct ReferenceGiftEvent: Equatable {
    var texts: [GiftField: [UInt8]] = [:]
    var integers: [GiftField: Int64] = [:]
    var booleans: [GiftField: Bool] = [:]

    /// Reads a record by the rules, one after the other, from the slow parser's tree.
    static func decode(
        value: [UInt8],
        key: [UInt8]?,
        maximumBytes: Int = 1_000_000,
        checksKey: Bool = true
    ) -> Result<ReferenceGiftEvent, ReferenceRefusal> {
        if value.isEmpty { return .failure(ReferenceRefusal(.emptyValue)) }
        if value.count > maximumBytes { return .failure(ReferenceRefusal(.tooLarge)) }
        let tree: ReferenceJSON
        do {
            tree = try ReferenceJSON.parse(value, nestingLimit: 64)
        } catch .notUTF8 {
            return .failure(ReferenceRefusal(.notUTF8))
        } catch {
            return .failure(ReferenceRefusal(.notJSON))
        }
        guard case .object(let fields) = tree else { return .failure(ReferenceRefusal(.wrongType)) }
        // The last one counts, and null is absent.
        var last: [GiftField: ReferenceJSON] = [:]
        for field in fields {
            for known in GiftField.allCases
            where Array(field.name.utf8) == Array(known.name.description.utf8) {
                last[known] = field.value
            }
        }
        last = last.filter { $0.value != .null }
        var event = ReferenceGiftEvent()
        var outOfRange: [GiftField] = []
        var wrongType: [GiftField] = []
        for known in GiftField.allCases {
            guard let value = last[known] else { continue }
            switch event.set(known, to: value) {
            case .outOfRange: outOfRange.append(known)
            case .wrongType: wrongType.append(known)
            default: break
            }
        }
        if let field = wrongType.first { return .failure(ReferenceRefusal(.wrongType, field)) }
        let userID = event.texts[.userID] ?? []
        if userID.isEmpty { return .failure(ReferenceRefusal(.missingUserID, .userID)) }
        if let field = outOfRange.first { return .failure(ReferenceRefusal(.outOfRange, field)) }
        if checksKey, key != userID { return .failure(ReferenceRefusal(.keyMismatch, .userID)) }
        event.texts = event.texts.filter { !$0.value.isEmpty }
        return .success(event)
    }

    private mutating func set(_ field: GiftField, to value: ReferenceJSON) -> RefusalReason? {
        switch (field, value) {
        case (.userName, .string(let text)), (.userAvatar, .string(let text)),
            (.giftName, .string(let text)), (.giftImage, .string(let text)),
            (.eventID, .string(let text)), (.roomID, .string(let text)),
            (.userID, .string(let text)), (.recipientID, .string(let text)),
            (.giftID, .string(let text)), (.streakID, .string(let text)):
            texts[field] = Array(text.utf8)
        case (.eventID, .number(let number)), (.roomID, .number(let number)),
            (.userID, .number(let number)), (.recipientID, .number(let number)),
            (.giftID, .number(let number)), (.streakID, .number(let number)):
            guard Self.isInteger(number) else { return .wrongType }
            texts[field] = Array(number.utf8)
        case (.count, .number(let number)): return set(field, to: number, in: 1...1_000_000_000)
        case (.streakCount, .number(let number)): return set(field, to: number, in: 1...Int64.max)
        case (.value, .number(let number)): return set(field, to: number, in: 0...Int64.max)
        case (.sentAt, .number(let number)): return set(field, to: number, in: .min ... .max)
        case (.streakEnd, .boolean(let value)), (.streakable, .boolean(let value)):
            booleans[field] = value
        default: return .wrongType
        }
        return nil
    }

    private mutating func set(
        _ field: GiftField,
        to written: String,
        in bounds: ClosedRange<Int64>
    ) -> RefusalReason? {
        guard Self.isInteger(written) else { return .wrongType }
        guard let number = Int64(written), bounds.contains(number) else { return .outOfRange }
        integers[field] = number
        return nil
    }

    private static func isInteger(_ number: String) -> Bool {
        !number.contains { ".eE".contains($0) }
    }
}

/// Why the reference refuses a record.
struct ReferenceRefusal: Error, Equatable {
    let reason: RefusalReason
    let field: GiftField?

    init(_ reason: RefusalReason, _ field: GiftField? = nil) {
        self.reason = reason
        self.field = field
    }
}
