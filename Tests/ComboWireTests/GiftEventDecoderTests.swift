import ComboCore
import Testing

@testable import ComboWire

/// What the decoder makes of `value`, with the key "8" unless another is given.
private func decode(
    _ value: [UInt8],
    key: [UInt8]? = Array("8".utf8),
    maximumBytes: Int = 1_000_000,
    checksKey: Bool = true
) -> Result<ReferenceGiftEvent, ReferenceRefusal> {
    var decoder = GiftEventDecoder(maximumBytes: maximumBytes, checksKey: checksKey)
    let memory = GuardedBytes(capacity: max(value.count, 1))
    return unsafe memory.withCopy(of: value) { bytes in
        guard let key else {
            let none = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
            return unsafe DecodedEvent(&decoder, value: bytes, key: none).result
        }
        return unsafe key.withUnsafeBytes { key in
            unsafe DecodedEvent(&decoder, value: bytes, key: key).result
        }
    }
}

private func decode(_ value: String) -> Result<ReferenceGiftEvent, ReferenceRefusal> {
    decode(Array(value.utf8))
}

private func reason(_ value: String) -> RefusalReason? {
    guard case .failure(let refusal) = decode(value) else { return nil }
    return refusal.reason
}

@Suite
struct GiftEventDecoderTests {
    @Test(arguments: [
        ("", RefusalReason.emptyValue), (#"{"user_id":"#, .notJSON), (" ", .notJSON),
        (#"{"user_id":"8"} x"#, .notJSON), ("[1,2,3]", .wrongType), (#""8""#, .wrongType),
        ("null", .wrongType), ("8", .wrongType), (#"{"user_id":8.5}"#, .wrongType),
        (#"{"user_id":"8","count":"3"}"#, .wrongType),
        (#"{"user_id":"8","count":1.0}"#, .wrongType),
        (#"{"user_id":"8","count":1e3}"#, .wrongType),
        (#"{"user_id":"8","room_id":1e3}"#, .wrongType),
        (#"{"user_id":"8","count":99999999999999999999.5}"#, .wrongType),
        (#"{"user_id":"8","streakable":1}"#, .wrongType),
        (#"{"user_id":"8","user_name":7}"#, .wrongType),
        (#"{"user_id":"8","gift_name":{}}"#, .wrongType),
        (#"{"user_id":"8","count":[1]}"#, .wrongType),
        (#"{"user_id":"8","streak_end":"true"}"#, .wrongType), (#"{"user_id":true}"#, .wrongType),
        ("{}", .missingUserID), (#"{"user_id":""}"#, .missingUserID),
        (#"{"user_id":null,"count":1}"#, .missingUserID),
        (#"{"user_id":"8","user_id":null}"#, .missingUserID),
        (#"{"User_id":"8"}"#, .missingUserID), (#"{"user_id":"8","count":0}"#, .outOfRange),
        (#"{"user_id":"8","count":1000000001}"#, .outOfRange),
        (#"{"user_id":"8","count":-1}"#, .outOfRange),
        (#"{"user_id":"8","count":-0}"#, .outOfRange),
        (#"{"user_id":"8","streak_count":0}"#, .outOfRange),
        (#"{"user_id":"8","value":-1}"#, .outOfRange),
        (#"{"user_id":"8","value":9223372036854775808}"#, .outOfRange),
        (#"{"user_id":"8","sent_at":-9223372036854775809}"#, .outOfRange),
        (#"{"user_id":"8","sent_at":18446744073709551617}"#, .outOfRange),
        (#"{"user_id":"9"}"#, .keyMismatch), (#"{"user_id":"8\u0000"}"#, .keyMismatch),
        (#"{"user_id":"8","user_name":"\ud800"}"#, .notJSON),
        (#"{"user_id":"8","x":"\udc00x"}"#, .notJSON),
        (#"{"user_id":"8","x":"\ud800\ud800"}"#, .notJSON), (#"{"user_id":"8","x":NaN}"#, .notJSON),
        (#"{'user_id':'8'}"#, .notJSON), (#"{"user_id":"8",}"#, .notJSON),
        (#"{,"user_id":"8"}"#, .notJSON),
        ("\u{feff}{\"user_id\":\"8\"}", .notJSON), (#"{"user_id":"8","n":01}"#, .notJSON),
        (#"{"user_id":"8","count":01}"#, .notJSON), (#"{"user_id":"8","count":1.}"#, .notJSON),
        (#"{"user_id":"8","sent_at":0760000000000}"#, .notJSON),
        (#"{"user_id":"8","count":+1}"#, .notJSON),
        ("{\"user_id\":\"8\",\"n\":\"\t\"}", .notJSON), (#"{"user_id":"8","n":"\x"}"#, .notJSON),
        (#"{"user_id":"8"}}"#, .notJSON), (#"{"user_id":"8""count":1}"#, .notJSON),
        (#"{"user_id":"8","count":1"value":2}"#, .notJSON), (#"{"user_id" "8"}"#, .notJSON),
        (#"{"user_id":"8"]"#, .notJSON), (#"{user_id:"8"}"#, .notJSON),
        ("{\"user_id\":\"8\"}\0", .notJSON),
    ])
    func `each refusal has its reason`(value: String, expected: RefusalReason) {
        #expect(reason(value) == expected)
    }

    @Test(arguments: [
        (#"{"count":"x","value":-1,"user_id":"9"}"#, RefusalReason.wrongType),
        (#"{"value":-1}"#, .missingUserID), (#"{"value":-1,"user_id":"9"}"#, .outOfRange),
        (#"{"count":"x","#, .notJSON), (#"{"user_id":"8","count":0,"value":{"a":}}"#, .notJSON),
    ])
    func `the first reason in the order of precedence is given`(
        value: String,
        expected: RefusalReason
    ) {
        #expect(reason(value) == expected)
    }

    @Test(
        arguments: [
            [0xff, 0xfe, 0xfd], [0x7b, 0x78, 0xc3], [0x22, 0xc0, 0x80, 0x22],
            [0x22, 0xed, 0xa0, 0x80, 0x22],
            [0x22, 0xf4, 0x90, 0x80, 0x80, 0x22], [0x22, 0xe0, 0x9f, 0xbf, 0x22],
            [0x22, 0x80, 0x22],
            [0x22, 0xf0, 0x8f, 0xbf, 0xbf, 0x22], [0x22, 0xf5, 0x80, 0x80, 0x80, 0x22],
            [0x22, 0xe9, 0x80],
            [0x78, 0x20, 0x22, 0xc1, 0xbf, 0x22], [0x22, 0xf8, 0x88, 0x80, 0x80, 0x80, 0x22],
        ] as [[UInt8]]
    )
    func `bytes that are not UTF-8 anywhere come before what is no JSON`(value: [UInt8]) {
        #expect(decode(value) == .failure(ReferenceRefusal(.notUTF8)))
        let inLongName = Array(
            #"{"user_id":"8","user_name":"a long name, longer than a word "#.utf8
        )
        let padding = Array(#"","count":1,"value":1,"sent_at":1760000000000}"#.utf8)
        let record = inLongName + value.filter { $0 != 0x22 } + padding
        #expect(decode(record) == .failure(ReferenceRefusal(.notUTF8)))
    }

    @Test func `nesting of 64 is read, of 65 is no JSON`() {
        for (levels, expected) in [(63, nil), (64, RefusalReason.notJSON)] {
            for (open, close) in [("[", "]"), (#"{"a":"#, "}")] {
                let inner = open == "[" ? "" : "1"
                let deep = String(repeating: open, count: levels) + inner
                let nested = deep + String(repeating: close, count: levels)
                #expect(reason(#"{"x":\#(nested),"user_id":"8"}"#) == expected)
                #expect(reason(#"{"user_id":"8","count":\#(nested)}"#) == (expected ?? .wrongType))
            }
        }
        let array = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        #expect(reason(array) == .wrongType)
        #expect(reason("[\(array)]") == .notJSON)
    }

    @Test func `a value over the limit is too large, whatever it holds`() {
        let value = Array(#"{"user_id":"8"}"#.utf8)
        #expect((try? decode(value, maximumBytes: 15).get()) != nil)
        let refusal = ReferenceRefusal(.tooLarge)
        #expect(decode(value, maximumBytes: 14) == .failure(refusal))
        #expect(decode(Array(repeating: 0xff, count: 15), maximumBytes: 14) == .failure(refusal))
        #expect(decode([], maximumBytes: 0) == .failure(ReferenceRefusal(.emptyValue)))
    }

    @Test func `a null key and an empty key are mismatches, unless keys are not checked`() {
        let value = Array(#"{"user_id":"8"}"#.utf8)
        for key in [nil, [], Array("88".utf8), Array("9".utf8)] as [[UInt8]?] {
            #expect(decode(value, key: key) == .failure(ReferenceRefusal(.keyMismatch, .userID)))
            #expect((try? decode(value, key: key, checksKey: false).get()) != nil)
        }
    }

    @Test(arguments: [
        (#"{"user_id":"a\"b\\c"}"#, #"a"b\c"#), (#"{"user_id":"\u9001\ud83c\udf81"}"#, "送🎁"),
        (#"{"user_id":"a\/b"}"#, "a/b"), (#"{"user_id":-12}"#, "-12"), (#"{"user_id":-0}"#, "-0"),
        (#"{"user_id":12345678901234567890}"#, "12345678901234567890"),
        (#"{"user_id":"\n\u0001"}"#, "\n\u{1}"),
        (#"{"user_id":"twelve bytes"}"#, "twelve bytes"), (#"{"user_id":"007","x":1}"#, "007"),
    ])
    func `the key is the user's id unescaped`(value: String, key: String) throws {
        let event = try decode(Array(value.utf8), key: Array(key.utf8)).get()
        #expect(event.texts[.userID] == Array(key.utf8))
        let wrong = Array(key.utf8.dropLast()) + [0x21]
        #expect((try? decode(Array(value.utf8), key: wrong).get()) == nil)
    }

    @Test func `a text that looks like the key only with its escapes is a mismatch`() {
        let value = Array(#"{"user_id":"a\\b"}"#.utf8)
        #expect((try? decode(value, key: Array(#"a\b"#.utf8)).get()) != nil)
        #expect((try? decode(value, key: Array(#"a\\b"#.utf8)).get()) == nil)
    }

    @Test(arguments: [
        #" {"gift_id" : 7 ,"# + "\n" + #""x":{"a":[1,2.5e-3,{"b":null}]},"user_id":"8" } "#,
        #"{"user_id":"8","gift_id":"7","count":null,"event_id":null,"value":null}"#,
        #"{"user_id":8,"gift_id":"\u0037"}"#, #"{"user\u005fid":"8","gift_id":7}"#,
        #"{"gift_id":7,"user_id":"9","user_id":"8"}"#,
        #"{"user_id":"8","gift_id":[1],"gift_id":7}"#,
        #"{"count":0,"gift_id":7,"count":"x","count":null,"user_id":"8"}"#,
        #"{"user_id":"8","gift_id":7}"#,
        #"{"event_id":"","streak_id":"","user_id":"8","gift_id":7,"sent_at":null}"#,
        #"{"user_id":"8","gift_id":7,"streak_end":null}"#,
        #"{"user_id":"8","gift_id":7,"streak_end":false,"streakable":true,"user_avatar":""}"#,
    ])
    func `what looks odd but means the same is the same event`(value: String) throws {
        var expected = ReferenceGiftEvent()
        expected.texts = [.userID: [0x38], .giftID: [0x37]]
        #expect(try decode(value).get() == expected.withDefaults)
    }

    @Test func `every field is read, in any order, again and again`() throws {
        let fields = [
            #""event_id":"e1""#, #""room_id":"r""#, #""user_id":8"#, #""recipient_id":"to""#,
            #""gift_id":77"#, #""streak_id":"s9""#, #""user_name":"送禮者 \u4e2d""#,
            #""user_avatar":"https://cdn.example/a/very/long/path.png""#, #""gift_name":"Gift""#,
            #""gift_image":"x.png""#, #""count":1000000000"#,
            #""streak_count":9223372036854775807"#,
            #""value":0"#, #""sent_at":1760000000123"#, #""streak_end":true"#,
            #""streakable":false"#,
        ]
        var decoder = GiftEventDecoder()
        var random = SeededRandom(seed: 5)
        for round in 0..<200 {
            let order = round < 3 ? fields : fields.shuffled(using: &random)
            let value = Array("{\(order.joined(separator: ","))}".utf8)
            let decoded = unsafe value.withUnsafeBytes { value in
                unsafe Array("8".utf8).withUnsafeBytes { key in
                    unsafe DecodedEvent(&decoder, value: value, key: key)
                }
            }
            let expected = ReferenceGiftEvent.decode(value: value, key: [0x38])
            #expect(decoded.result == expected, "round \(round)")
            #expect(decoded.complaints.isEmpty)
        }
    }

    @Test(arguments: [
        (#"{"user_id":"8","count":0}"#, "count is not within 1...1000000000 at byte 23"),
        (#"{"user_id":"8","gift_name":7}"#, "gift_name is no string at byte 27"),
        (#"{"user_id":"8"} x"#, "something after the value at byte 16"),
        ("[]", "the value is no object"),
        (#"{"user_id":"8","x":01}"#, "malformed number at byte 20"),
        ("{}", "user_id is absent or empty"),
        (#"{"user_id":"8","count":"#, "unexpected end at byte 23"),
    ])
    func `a refusal says what is wrong, and where`(value: String, detail: String) {
        var decoder = GiftEventDecoder()
        var event = GiftEvent()
        let refusal = #expect(throws: Refusal.self) {
            try unsafe Array(value.utf8).withUnsafeBytes { value in
                try unsafe decoder.decode(value: value, key: value, into: &event)
            }
        }
        #expect(refusal?.detail == detail)
    }

    @Test func `reasons have the names that the dead letters carry`() {
        #expect(
            RefusalReason.allCases.map(\.rawValue) == [
                "empty-value", "too-large", "not-utf8", "not-json", "wrong-type", "missing-user-id",
                "out-of-range", "key-mismatch",
            ]
        )
    }
}
