/// What upstream sends in a simulated minute: few senders, so that combos merge, resume, end and
/// are remembered; duplicates, running totals, late records, unreadable ones, tombstones.
struct Workload {
    /// Upstream is done then, milliseconds.
    static let duration: Int64 = 50_000
    private static let markerTime: Int64 = 36_000_000

    private var random: SeededGenerator
    private let partitions: Int
    /// Whether timestamps are those of the log's append, so that no record is ever late.
    private let isOrdered: Bool
    private let users: Int64
    /// The latest gifts, the oldest overwritten first.
    private var recent: [Gift] = []
    private static let recentLimit = 60

    /// Draws from `seed`.
    init(seed: UInt64, partitions: Int, isOrdered: Bool) {
        random = SeededGenerator(seed: seed &+ 0x77)
        self.partitions = partitions
        self.isOrdered = isOrdered
        users = random.pick([6, 15, 40])
    }

    /// Draws records in order of their moments: bursts with pauses between them.
    mutating func draw(count: Int) -> [UpstreamRecord] {
        var at: Int64 = 100
        let step = Self.duration / Int64(max(1, count))
        return (0..<count).map { serial in
            at +=
                random.chance(1, in: 40)
                ? random.number(0...step * 25) : random.number(0...step * 3 / 4)
            return record(serial, at)
        }
    }

    private mutating func record(_ serial: Int, _ at: Int64) -> UpstreamRecord {
        var gift = gift(serial)
        if random.chance(1, in: 9), !recent.isEmpty { gift = random.pick(recent) }
        if recent.count < Self.recentLimit {
            recent.append(gift)
        } else {
            recent[serial % Self.recentLimit] = gift
        }
        let lateness: Int64 =
            isOrdered || random.chance(5, in: 6) ? 0 : random.pick([1, 50, 1500, 4000, -700])
        var record = UpstreamRecord(
            at: at,
            partition: (Int(gift.user) ?? 0) % partitions,
            key: Array(gift.user.utf8),
            value: Self.json(gift),
            lateness: lateness,
            isFollowedByMarker: random.chance(1, in: 25),
            gift: gift
        )
        switch random.number(0...99) {
        case 0: record.value = nil
        case 1: record.value = Array("{\"user_id\":".utf8)
        case 2: record.key = Array("somebody else".utf8)
        case 3: record.value = []
        default: return record
        }
        record.gift = nil
        return record
    }

    private mutating func gift(_ serial: Int) -> Gift {
        var gift = Gift()
        gift.user = String(random.number(0...users - 1))
        gift.room = random.pick(["", "101", "102"])
        gift.gift = random.pick(["", "rose", "heart"])
        gift.giftName = gift.gift.isEmpty ? "" : "\(gift.gift) 🎁"
        gift.userName = "user \(random.number(0...2))"
        if random.chance(3, in: 4) { gift.eventID = "e\(serial)" }
        gift.value = random.number(0...9)
        switch random.number(0...11) {
        case 0...2: gift.count = random.number(1...66)
        case 3...5:
            gift.streakID = "s\(random.number(0...5))"
            gift.streakCount = random.number(1...40)
        case 6: gift.streakCount = random.number(1...9)
        case 7: gift.streakEnd = true
        case 8: gift.streakable = false
        default: break
        }
        return gift
    }

    /// A record that only moves its partition's clock, so far that everything ends and is
    /// forgotten.
    static func last(partition: Int, at: Int64) -> UpstreamRecord {
        var gift = Gift()
        gift.user = "9"
        gift.streakEnd = true
        return UpstreamRecord(
            at: at,
            partition: partition,
            key: Array("9".utf8),
            value: json(gift),
            lateness: -markerTime,
            gift: gift
        )
    }

    private static func json(_ gift: Gift) -> [UInt8] {
        var json: [UInt8] = []
        json.reserveCapacity(200)
        func put(_ name: StaticString, _ value: Substring) {
            json.append(UInt8(ascii: json.isEmpty ? "{" : ","))
            json.append(UInt8(ascii: "\""))
            unsafe json.append(
                contentsOf: UnsafeBufferPointer(
                    start: name.utf8Start,
                    count: name.utf8CodeUnitCount
                )
            )
            json.append(contentsOf: "\":".utf8)
            json.append(contentsOf: value.utf8)
        }
        func put(_ name: StaticString, text: String) {
            guard !text.isEmpty else { return }
            put(name, "\"")
            json.append(contentsOf: text.utf8)
            json.append(UInt8(ascii: "\""))
        }
        put("user_id", text: gift.user)
        put("event_id", text: gift.eventID)
        put("room_id", text: gift.room)
        put("user_name", text: gift.userName)
        put("recipient_id", text: gift.recipient)
        put("gift_id", text: gift.gift)
        put("gift_name", text: gift.giftName)
        put("streak_id", text: gift.streakID)
        if let count = gift.count { put("count", Substring(String(count))) }
        if let total = gift.streakCount { put("streak_count", Substring(String(total))) }
        if gift.value > 0 { put("value", Substring(String(gift.value))) }
        if gift.streakEnd { put("streak_end", "true") }
        if !gift.streakable { put("streakable", "false") }
        json.append(UInt8(ascii: "}"))
        return json
    }
}
