import ComboCore

@testable import ComboWire

/// What the decoder makes of a record, in the reference's terms.
///
/// On the way it checks what only the decoder promises: that texts lie in the record or in the
/// decoder's own memory, that they are JSON text, and that ids are in canonical form.
struct DecodedEvent {
    /// An observation that breaks a promise, for the test to report.
    private(set) var complaints: [String] = []
    private(set) var result: Result<ReferenceGiftEvent, ReferenceRefusal>

    init(
        _ decoder: inout GiftEventDecoder,
        value: UnsafeRawBufferPointer,
        key: UnsafeRawBufferPointer
    ) {
        var event = GiftEvent()
        result = .success(ReferenceGiftEvent())
        do {
            try unsafe decoder.decode(value: value, key: key, into: &event)
        } catch {
            result = .failure(ReferenceRefusal(error.reason, error.field))
            if error.detail.isEmpty || error.position < 0 || error.position > value.count {
                complaints.append("a refusal without a place: \(error)")
            }
            return
        }
        var decoded = ReferenceGiftEvent()
        for (field, text) in event.texts where !text.isEmpty {
            decoded.texts[field] = unsafe unescape(field, text, in: value)
        }
        decoded.integers[.count] = event.count
        decoded.integers[.streakCount] = event.streakCount
        decoded.integers[.sentAt] = event.sentAt
        decoded.integers[.value] = event.value
        decoded.booleans = [.streakEnd: event.streakEnd, .streakable: event.streakable]
        result = .success(decoded)
        unsafe checkRecorded(event, in: value)
    }

    /// Whether any record came with its carried fields in one run.
    private(set) var isRecorded = false

    /// The carried fields as recorded are exactly the carried fields, each once.
    private mutating func checkRecorded(_ event: GiftEvent, in value: UnsafeRawBufferPointer) {
        guard !event.asRecorded.isEmpty else { return }
        isRecorded = true
        let written = unsafe [UInt8](event.asRecorded.bytes)
        var expected: [String: ReferenceJSON] = [:]
        for (field, text) in event.texts
        where !text.isEmpty && field != .eventID && field != .streakID {
            let written = unsafe [UInt8](text.bytes)
            expected["\(field.name)"] = try? ReferenceJSON.parse(
                [0x22] + written + [0x22],
                nestingLimit: 1
            )
            if field.isID, written.contains(0x5c) { complaints.append("\(field) has escapes") }
        }
        guard
            case .object(let members)? = try? ReferenceJSON.parse(
                [0x7b] + written + [0x7d],
                nestingLimit: 1
            ), members.count == expected.count,
            members.allSatisfy({ expected[$0.name] == $0.value })
        else {
            complaints.append("recorded is \(String(decoding: written, as: UTF8.self))")
            return
        }
    }

    private mutating func unescape(
        _ field: GiftField,
        _ text: Text,
        in value: UnsafeRawBufferPointer
    ) -> [UInt8] {
        let written = unsafe [UInt8](text.bytes)
        guard
            case .string(let string)? = try? ReferenceJSON.parse(
                [0x22] + written + [0x22],
                nestingLimit: 1
            )
        else {
            complaints.append("\(field) is no JSON text: \(written)")
            return written
        }
        if field.isID, written != canonical(string) {
            complaints.append("\(field) is not canonical: \(written)")
        }
        let start = unsafe text.bytes.baseAddress
        let isInRecord = unsafe value.baseAddress.map { base in
            unsafe start.map { unsafe $0 >= base && $0 + text.bytes.count <= base + value.count }
                ?? false
        }
        if isInRecord != true, !(field.isID && written.contains(0x5c)), !field.isID {
            complaints.append("\(field) lies outside of its record")
        }
        return Array(string.utf8)
    }
}

/// The canonical JSON text form of an id, said once more in the plainest way.
func canonical(_ string: String) -> [UInt8] {
    var text = ""
    for scalar in string.unicodeScalars {
        switch scalar {
        case "\"": text += "\\\""
        case "\\": text += "\\\\"
        case "\u{08}": text += "\\b"
        case "\t": text += "\\t"
        case "\n": text += "\\n"
        case "\u{0c}": text += "\\f"
        case "\r": text += "\\r"
        case "\0"..<" ":
            let digits = String(scalar.value, radix: 16)
            text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        default: text.unicodeScalars.append(scalar)
        }
    }
    return Array(text.utf8)
}

extension GiftEvent {
    /// The texts by their fields.
    var texts: [(GiftField, Text)] {
        [
            (.eventID, eventID), (.roomID, roomID), (.userID, userID), (.userName, userName),
            (.userAvatar, userAvatar), (.recipientID, recipientID), (.giftID, giftID),
            (.giftName, giftName), (.giftImage, giftImage), (.streakID, streakID),
        ]
    }
}

extension ReferenceGiftEvent {
    /// The same with the defaults that the decoder fills in.
    var withDefaults: ReferenceGiftEvent {
        var event = self
        event.integers[.value] = integers[.value] ?? 0
        event.booleans[.streakEnd] = booleans[.streakEnd] ?? false
        event.booleans[.streakable] = booleans[.streakable] ?? true
        return event
    }
}
