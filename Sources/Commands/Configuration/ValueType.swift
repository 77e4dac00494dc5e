internal import AdminServer
internal import ComboCore

/// What a value may be: how its text is read, and what is allowed, in words.
struct ValueType<Value>: Sendable {
    /// What follows "allowed:" in an error, and the type column of the README's table.
    let allowed: String
    /// The value that a text means; nil: not allowed.
    let read: @Sendable (String) -> Value?

    /// The same, with `off` as a further value.
    func orOff() -> ValueType<Value?> {
        let read = read
        return ValueType<Value?>(allowed: "\(allowed); or off") { text in
            text == "off" ? .some(nil) : read(text).map { .some($0) }
        }
    }
}

extension ValueType<String> {
    /// An identifier: no control characters, at most 200 bytes so that what is composed of two of
    /// them and a number still is one.
    static var identifier: ValueType {
        ValueType(allowed: "text of 1 to 200 bytes") { text in
            let isAllowed =
                (1...200).contains(text.utf8.count) && text.utf8.allSatisfy { $0 >= 0x20 }
            return isAllowed ? text : nil
        }
    }

    /// A secret that is not guessed.
    static var secret: ValueType {
        ValueType(allowed: "text of 16 to 1000 bytes") { text in
            (16...1_000).contains(text.utf8.count) ? text : nil
        }
    }

    /// A topic's name, as Kafka allows it.
    static var topic: ValueType {
        ValueType(
            allowed: "topic name (a-z A-Z 0-9 . _ - and at most 249 of them)"
        ) { text in
            let isAllowed =
                (1...249).contains(text.utf8.count) && text != "." && text != ".."
                && text.utf8.allSatisfy { byte in
                    switch byte {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"),
                        UInt8(ascii: "A")...UInt8(ascii: "Z"),
                        UInt8(ascii: "0")...UInt8(ascii: "9"),
                        UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                        true
                    default: false
                    }
                }
            return isAllowed ? text : nil
        }
    }
}

extension ValueType where Value: Sendable {
    /// One of a few words.
    static func choice(_ choices: [(name: String, value: Value)]) -> ValueType {
        ValueType(allowed: choices.map(\.name).joined(separator: " or ")) { text in
            choices.first { $0.name == text }?.value
        }
    }
}

extension ValueType<Int64> {
    /// An integer within bounds.
    static func integer(_ bounds: ClosedRange<Int64>) -> ValueType {
        ValueType(allowed: "integer from \(bounds.lowerBound) to \(bounds.upperBound)") { text in
            Int64(text).flatMap { bounds.contains($0) ? $0 : nil }
        }
    }

    /// A number of bytes within bounds, as `1000000`, `96MB` or `64MiB`.
    static func size(_ bounds: ClosedRange<Int64>) -> ValueType {
        let unitList = "units kB, MB, GB, KiB, MiB, GiB or none"
        let low = Scale.sizes.write(bounds.lowerBound)
        let high = Scale.sizes.write(bounds.upperBound)
        return ValueType(allowed: "size from \(low) to \(high) bytes (\(unitList))") { text in
            Scale.sizes.read(text).flatMap { bounds.contains($0) ? $0 : nil }
        }
    }

    /// A number of milliseconds within bounds, as `250ms`, `2s`, `5m`, `1h` or `0`.
    static func duration(_ bounds: ClosedRange<Int64>) -> ValueType {
        let low = Scale.durations.write(bounds.lowerBound)
        let high = Scale.durations.write(bounds.upperBound)
        return ValueType(allowed: "duration from \(low) to \(high) (units ms, s, m, h)") { text in
            Scale.durations.read(text).flatMap { bounds.contains($0) ? $0 : nil }
        }
    }
}

extension ValueType<ComboConfiguration.KeyFields> {
    /// The combo key's fields: a comma-separated list that holds `user`.
    static var comboKey: ValueType {
        let fields: [(name: Substring, field: ComboConfiguration.KeyFields)] = [
            ("room", .room), ("user", .user), ("recipient", .recipient), ("gift", .gift),
        ]
        return ValueType(
            allowed: "comma-separated list of room, user, recipient, gift that holds user"
        ) { text in
            var key: ComboConfiguration.KeyFields = []
            for word in text.split(separator: ",", omittingEmptySubsequences: false) {
                let name = trimmed(word)
                guard let (_, field) = fields.first(where: { $0.name == name }) else { return nil }
                key.insert(field)
            }
            return key.contains(.user) ? key : nil
        }
    }
}

extension ValueType<ListenAddress> {
    /// A host and a port, IPv6 addresses in brackets.
    static var address: ValueType {
        ValueType(allowed: "HOST:PORT with a port from 0 to 65535, as 127.0.0.1:9464 or [::1]:0") {
            text in
            guard let address = try? ListenAddress(text), !address.host.isEmpty else {
                return nil
            }
            let isAllowed = address.host.utf8.allSatisfy {
                $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "[") && $0 != UInt8(ascii: "]")
            }
            return isAllowed ? address : nil
        }
    }
}

/// How numbers with units are written.
private struct Scale: Sendable {
    /// Longest suffix first where one ends with another.
    let units: [(suffix: String, factor: Int64)]
    /// Whether a number other than 0 needs a unit.
    let needsUnit: Bool

    static let durations = Scale(
        units: [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)],
        needsUnit: true
    )
    static let sizes = Scale(
        units: [
            ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30),
            ("kB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000),
        ],
        needsUnit: false
    )

    /// The number that a text means; nil: not a number of this scale, or beyond Int64.
    func read(_ text: String) -> Int64? {
        let unit = units.first { text.hasSuffix($0.suffix) }
        let digits = text.dropLast(unit?.suffix.count ?? 0)
        guard digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let number = Int64(digits)
        else { return nil }
        guard unit != nil || !needsUnit || number == 0 else { return nil }
        let (product, overflow) = number.multipliedReportingOverflow(by: unit?.factor ?? 1)
        return overflow ? nil : product
    }

    /// The shortest text that ``read(_:)`` reads as `number`, decimal units only.
    func write(_ number: Int64) -> String {
        let unit = units.last { number >= $0.factor && number % $0.factor == 0 }
        guard let unit, number != 0 else { return String(number) }
        return "\(number / unit.factor)\(unit.suffix)"
    }
}

/// The text without the white space around it.
func trimmed(_ text: Substring) -> Substring {
    let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\r" || $0 == "\n" }
    guard let first = text.firstIndex(where: { !isBlank($0) }),
        let last = text.lastIndex(where: { !isBlank($0) })
    else { return "" }
    return text[first...last]
}
