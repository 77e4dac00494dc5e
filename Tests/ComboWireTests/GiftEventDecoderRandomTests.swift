import Foundation
import Testing

@testable import ComboWire

@Suite
struct GiftEventDecoderRandomTests {
    @Test(arguments: seeds)
    func `on any record the decoder and the slow reference agree`(seed: UInt64) {
        var records = RandomRecords(seed: seed)
        var decoder = GiftEventDecoder()
        let memory = GuardedBytes(capacity: 100_000)
        let keyMemory = GuardedBytes(capacity: 10_000)
        var reasons: [RefusalReason: Int] = [:]
        var recorded = 0
        for round in 0..<4_000 {
            let (value, key) = records.record()
            let expected = ReferenceGiftEvent.decode(value: value, key: key).map(\.withDefaults)
            let decoded = unsafe memory.withCopy(of: value) { value in
                unsafe keyMemory.withCopy(of: key ?? []) { bytes in
                    let none = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
                    return unsafe DecodedEvent(
                        &decoder,
                        value: value,
                        key: key == nil ? none : bytes
                    )
                }
            }
            if decoded.result != expected || !decoded.complaints.isEmpty {
                Issue.record(
                    """
                    seed \(seed), round \(round): \(decoded.complaints)
                    \(String(decoding: value, as: UTF8.self))
                    expected \(expected), got \(decoded.result)
                    """
                )
                return
            }
            if decoded.isRecorded { recorded += 1 }
            if case .failure(let refusal) = expected { reasons[refusal.reason, default: 0] += 1 }
        }
        // The records are worth something only if they come to every reason in reach.
        let reached: Set = [
            RefusalReason.notUTF8, .notJSON, .wrongType, .missingUserID, .outOfRange, .keyMismatch,
        ]
        #expect(reached.isSubset(of: reasons.keys), "seed \(seed): \(reasons)")
        #expect(recorded > 50, "seed \(seed): carried fields stand together in \(recorded)")
    }

    /// What the first record teaches is not true of the third, which differs from it only in order:
    /// the second, which can't be copied whole, has changed what the decoder expects.
    @Test(arguments: [
        #"{"event_id":"e2","user_id":"u","gift_id":7,"room_id":"room","count":1}"#,
        #"{"event_id":"e2","user_id":"u","gift_id":"g","room_id":"room","count":0}"#,
        #"{"event_id":"e2","user_id":"u","gift_id":"g","room_id":"room","count":x}"#,
        #"{"event_id":"e2", "user_id":"u","gift_id":"g","room_id":"room","count":1}"#,
    ])
    func `an order learnt from one record is not taken for another's`(second: String) {
        var decoder = GiftEventDecoder(checksKey: false)
        let memory = GuardedBytes(capacity: 1_000)
        for text in [
            #"{"event_id":"e0","room_id":"room","user_id":"u","gift_id":"g","count":1}"#,
            #"{"event_id":"e1","room_id":"room","user_id":"u","gift_id":"g","count":1}"#,
            second,
            #"{"event_id":"e3","user_id":"u","gift_id":"g","room_id":"room","count":1}"#,
            #"{"event_id":"e4","user_id":"u","gift_id":"g","room_id":"room","count":1}"#,
        ] {
            let decoded = unsafe memory.withCopy(of: Array(text.utf8)) { value in
                unsafe DecodedEvent(&decoder, value: value, key: value)
            }
            #expect(decoded.complaints.isEmpty, "\(text)")
            #expect(decoded.isRecorded || text == second)
        }
    }

    @Test(arguments: seeds)
    func `on any text the reader, the slow reference and Foundation agree`(seed: UInt64) {
        var records = RandomRecords(seed: seed)
        let memory = GuardedBytes(capacity: 100_000)
        for round in 0..<4_000 {
            let text = records.text()
            let tree = try? ReferenceJSON.parse(text, nestingLimit: 128)
            let read: ReferenceJSON? = unsafe memory.withCopy(of: text) { bytes in
                var reader = unsafe JSONReader(bytes)
                guard let value = try? reader.tree(), (try? reader.finish()) != nil else {
                    return nil
                }
                return value
            }
            let skipped: Bool = unsafe memory.withCopy(of: text) { bytes in
                var reader = unsafe JSONReader(bytes)
                return (try? reader.skipValue()) != nil && (try? reader.finish()) != nil
            }
            let isSame =
                read == tree && skipped == (tree != nil) && agreesWithFoundation(text, tree)
            if !isSame {
                Issue.record(
                    "seed \(seed), round \(round): \(String(decoding: text, as: UTF8.self))"
                )
                return
            }
        }
    }

    /// Whether JSONSerialization takes what the reference takes, where it follows RFC 8259.
    private func agreesWithFoundation(_ text: [UInt8], _ tree: ReferenceJSON?) -> Bool {
        let object = try? JSONSerialization.jsonObject(
            with: Data(text),
            options: .fragmentsAllowed
        )
        // It is laxer in places (NUL bytes mean UTF-16 to it, for one) and never stricter, except
        // about numbers too large for a Double.
        guard case .array? = tree else { return true }
        return object is [Any]
            || text.contains { $0 == UInt8(ascii: "e") || $0 == UInt8(ascii: "E") }
    }
}

extension JSONReader {
    /// The whole value that comes next, in the reference's terms; numbers as they are written.
    mutating func tree() throws(JSONError) -> ReferenceJSON {
        switch try nextKind() {
        case .object:
            try beginObject()
            var fields: [ReferenceField] = []
            while let name = try nextField() {
                fields.append(ReferenceField(name: name, value: try tree()))
            }
            return .object(fields)
        case .array:
            try beginArray()
            var elements: [ReferenceJSON] = []
            while try nextElement() { elements.append(try tree()) }
            return .array(elements)
        case .string: return .string(try string())
        case .boolean: return .boolean(try boolean())
        case .null:
            _ = try consumeNull()
            return .null
        case .number:
            return .number(try numberText())
        }
    }
}
