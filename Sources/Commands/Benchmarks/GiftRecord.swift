/// One sender's gift event as bytes, of which a tap changes only the event's id and time.
///
/// The fields, their order and their sizes are those of `bench/workload.py`, the house's workload.
/// A benchmark makes millions of events before it measures anything, under valgrind too; so the
/// text is made once a burst.
struct GiftRecord {
    /// What stands in the record whatever the tap.
    struct Content {
        var user: Int
        var room: Int
        /// 0 ..< ``gifts``.
        var gift: Int
        var units = 1
    }

    /// How many gifts there are.
    static let gifts = 30
    /// What can't be read, and can't be counted.
    static let unreadable = [
        "{\"user_id\":", "not an event", "[1,2,3]", #"{"count":0,"user_id":"1"}"#,
    ]
    .map { Array($0.utf8) }

    private static let idDigits = 9
    private static let timeDigits = 13
    /// Where the digits of the event's id begin: 12 bytes in all.
    private static let idStart = "{\"event_id\":\"e1-".utf8.count

    private(set) var key: [UInt8] = []
    private var value: [UInt8] = []
    /// Where the digits of `sent_at` begin.
    private var timeStart = 0

    /// Makes the text of a record.
    init(_ content: Content) {
        key.reserveCapacity(16)
        if content.user % 4 == 0 {
            key.append("u-")
            key.append(digits: content.user, width: 6)
        } else {
            key.append(digits: 1_000_000 + content.user)
        }
        value.reserveCapacity(256)
        value.append("{\"event_id\":\"e1-")
        value.append(digits: 0, width: Self.idDigits)
        value.append("\",\"room_id\":\"room-")
        value.append(digits: content.room, width: 3)
        value.append("\",\"user_id\":\"")
        value.append(contentsOf: key)
        value.append("\",\"user_name\":\"送禮者")
        value.append(digits: content.user)
        value.append(" 🎁\",\"gift_id\":\"g")
        value.append(digits: content.gift, width: 2)
        value.append("\",\"gift_name\":\"Gift ")
        value.append(digits: content.gift, width: 2)
        value.append("\",\"count\":")
        value.append(digits: content.units)
        value.append(",\"value\":")
        value.append(digits: content.units * (1 + content.gift * 7))
        value.append(",\"sent_at\":")
        timeStart = value.count
        value.append(digits: 0, width: Self.timeDigits)
        value.append("}")
    }

    /// Appends the record of a tap.
    ///
    /// - Parameters:
    ///   - number: The event's number, which is its id.
    ///   - sentAt: Epoch milliseconds.
    ///   - timestamp: What Kafka says of its time.
    ///   - block: Gets the record.
    mutating func append(
        number: Int,
        sentAt: Int64,
        timestamp: Int64,
        to block: inout RecordBlock
    ) {
        value.put(digits: number, width: Self.idDigits, at: Self.idStart)
        value.put(digits: Int(sentAt), width: Self.timeDigits, at: timeStart)
        block.append(key: key, value: value, timestamp: timestamp)
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
