/// One sender's gift event as bytes, of which a tap changes only the event's id, time and total.
///
/// A benchmark makes millions of events before it measures anything, under valgrind too; so the
/// text is made once a burst, and piece by piece from pieces that are made once.
struct GiftRecord {
    /// What stands in the record whatever the tap.
    struct Content {
        var user: Int
        var room: Int
        /// Index in the catalogue.
        var gift: Int
        /// 0: the room's host.
        var guest = 0
        var units = 1
        /// Number of the streak whose running total is carried.
        var streak: Int?
    }

    private static let idDigits = 16
    private static let timeDigits = 13
    /// Where the digits of the event's id begin: 20 bytes in all.
    private static let idStart = "{\"event_id\":\"evt-".utf8.count
    private static let names = GiftCatalogue.names.map { bytes(ofJSONString: $0).dropLast() }
    private static let gifts = GiftCatalogue.gifts.indices.map { index in
        let gift = GiftCatalogue.gifts[index]
        var bytes = Array(",\"gift_id\":\"g\(index + 10)\",\"gift_name\":".utf8)
        bytes += Self.bytes(ofJSONString: gift.name)
        if !gift.streakable { bytes += Array(",\"streakable\":false".utf8) }
        return bytes
    }

    private(set) var key: [UInt8] = []
    private var value: [UInt8] = []
    /// Where the digits of `sent_at` begin.
    private var timeStart = 0
    private let carriesTotal: Bool

    /// Makes the text of a record.
    init(_ content: Content) {
        carriesTotal = content.streak != nil
        key.reserveCapacity(16)
        // As IDs of ``GiftEventText``: three in four are numbers.
        if content.user % 4 == 0 {
            key.append("u-")
            key.append(digits: content.user, width: 6)
        } else {
            key.append(digits: 1_000_000 + content.user)
        }
        value.reserveCapacity(320)
        value.append("{\"event_id\":\"evt-")
        value.append(digits: 0, width: Self.idDigits)
        value.append("\",\"room_id\":\"room-")
        value.append(digits: content.room, width: 3)
        value.append("\",\"user_id\":\"")
        value.append(contentsOf: key)
        value.append("\",\"user_name\":")
        value.append(contentsOf: Self.names[content.user % Self.names.count])
        value.append(" ")
        value.append(digits: content.user / Self.names.count)
        value.append("\"")
        if content.guest > 0 {
            value.append(",\"recipient_id\":\"guest-")
            value.append(digits: content.guest)
            value.append("\"")
        }
        value.append(contentsOf: Self.gifts[content.gift])
        value.append(",\"count\":")
        value.append(digits: content.units)
        value.append(",\"value\":")
        value.append(digits: content.units * GiftCatalogue.gifts[content.gift].price)
        if let streak = content.streak {
            value.append(",\"streak_id\":\"s")
            value.append(digits: streak)
            value.append("\"")
        }
        value.append(",\"sent_at\":")
        timeStart = value.count
        value.append(digits: 0, width: Self.timeDigits)
        value.append("}")
    }

    /// Appends the record of a tap.
    ///
    /// - Parameters:
    ///   - number: The event's number, which is its id.
    ///   - timestamp: Epoch milliseconds.
    ///   - total: The running total, where the record carries one.
    ///   - block: Gets the record.
    mutating func append(
        number: Int,
        timestamp: Int64,
        total: Int,
        to block: inout RecordBlock
    ) {
        value.put(digits: number, width: Self.idDigits, at: Self.idStart)
        value.put(digits: Int(timestamp), width: Self.timeDigits, at: timeStart)
        if carriesTotal {
            value.removeLast(value.count - timeStart - Self.timeDigits)
            value.append(",\"streak_count\":")
            value.append(digits: total)
            value.append("}")
        }
        block.append(key: key, value: value, timestamp: timestamp)
    }

    private static func bytes(ofJSONString text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        appendJSONString(text.utf8, to: &bytes)
        return bytes
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ text: StaticString) {
        unsafe append(
            contentsOf: UnsafeBufferPointer(
                start: text.utf8Start,
                count: text.utf8CodeUnitCount
            )
        )
    }

    fileprivate mutating func append(digits number: Int) {
        var width = 1
        var bound = 10
        while number >= bound {
            width += 1
            bound *= 10
        }
        append(digits: number, width: width)
    }

    fileprivate mutating func append(digits number: Int, width: Int) {
        let start = count
        append(contentsOf: repeatElement(0, count: width))
        put(digits: number, width: width, at: start)
    }

    /// Overwrites `width` bytes with a number's digits, zeros in front.
    fileprivate mutating func put(digits number: Int, width: Int, at start: Int) {
        var rest = UInt(number)
        for place in stride(from: start + width - 1, through: start, by: -1) {
            let tenth = rest / 10
            self[place] = UInt8(truncatingIfNeeded: 48 &+ rest &- 10 &* tenth)
            rest = tenth
        }
    }
}
