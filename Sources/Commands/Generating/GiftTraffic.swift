/// What generated traffic looks like.
struct TrafficPattern: Equatable, Sendable {
    var seed: UInt64 = 1
    /// Gift events in a second of event time, on average.
    var eventsPerSecond = 1_000
    var users = 20_000
    var rooms = 500
    /// Epoch milliseconds at which the traffic begins.
    var start: Int64 = 1_760_000_000_000
    /// Events that are delivered twice.
    var duplicates = Share.nothing
    /// Events whose timestamp is up to 1.5 s too early.
    var late = Share.nothing
    /// Records that are no gift events.
    var unreadable = Share.nothing
    /// Senders whose messages carry running totals.
    var totals = Share(millionths: 100_000)
}

/// One generated record; its buffers are used again for the next one.
struct GeneratedRecord {
    /// Milliseconds after the traffic's start at which the record is sent.
    var sentAfter: Int64 = 0
    /// The record's timestamp, epoch milliseconds.
    var timestamp: Int64 = 0
    var key: [UInt8] = []
    var value: [UInt8] = []
    /// Whether the value is a JSON object.
    var isObject = true
    /// Units that it adds to a combo: 0 for one that is delivered again, or is no gift event.
    var units = 0
}

/// Gift events as the senders of many rooms make them, the same for the same pattern.
///
/// Senders tap in bursts: geometric, six taps on average, 150 to 900 ms apart; one tap in 33
/// comes 2 to 5 s after the last, so that its combo has hidden and resumes. What can't be a combo
/// is tapped once. Rooms are visited as often as one over their rank, senders with low numbers
/// give more. All of it is made of integers, so that every machine makes the same bytes.
struct GiftTraffic {
    /// Taps of one sender, one after the other.
    private struct Burst {
        /// When the next one comes, nanoseconds after the start.
        var time: Int64
        /// Number of the burst; ties go to the older one.
        var serial: Int
        var user: Int
        var room: Int
        var gift: Int
        var recipient: Int
        var units: Int
        var left: Int
        /// The running total so far; nil: its messages carry none.
        var total: Int?
        /// The event that is to be delivered again; nil: the burst goes on.
        var repeated: Int?

        static func < (left: Burst, right: Burst) -> Bool {
            (left.time, left.serial) < (right.time, right.serial)
        }
    }

    private static let meanTaps = 6
    private static let longestBurst = 400
    private static let tapGap = 150...900
    private static let pauseGap = 2_000...5_000
    private static let pauses = Share(millionths: 30_000)
    private static let redeliveryGap = 1...1_500
    private static let lateBy = 1...1_500
    /// One message in ten goes to a guest of the room and not to its host.
    private static let toGuests = Share(millionths: 100_000)
    /// One burst in five that counts a running total never says that it ended.
    private static let lostMarkers = Share(millionths: 200_000)

    private let pattern: TrafficPattern
    private let roomChoice: WeightedChoice
    private let giftChoice: WeightedChoice
    private let batchChoice: WeightedChoice
    private var random: SplitMix64
    private var bursts: [Burst] = []
    private var serial = 0
    private var nextBurst: Int64 = 0
    /// The event that was made last, from 1.
    private var eventNumber = 0
    private var text = GiftEventText()

    init(_ pattern: TrafficPattern) {
        self.pattern = pattern
        random = SplitMix64(seed: pattern.seed)
        roomChoice = WeightedChoice((1...pattern.rooms).map { 1_000_000 / $0 + 1 })
        giftChoice = WeightedChoice(GiftCatalogue.gifts.map(\.popularity))
        batchChoice = WeightedChoice(GiftCatalogue.batches.map(\.popularity))
        // As many senders are in the middle of a burst as at any other time, so that the rate is
        // the wanted one from the start: five taps in six are followed by another, 0.61 s later.
        for _ in 0..<pattern.eventsPerSecond * 51 / 100 {
            begin(at: Int64(random.below(gap())) * 1_000_000)
        }
    }

    /// Makes the next record, in the order in which they are sent.
    mutating func next(into record: inout GeneratedRecord) {
        while bursts.isEmpty || nextBurst <= bursts[0].time {
            begin(at: nextBurst)
            // Uniform around the mean: on average right, and made of integers.
            let mean = 1_000_000_000 * Self.meanTaps / pattern.eventsPerSecond
            nextBurst += Int64(random.within(0...2 * mean))
        }
        var burst = pop()
        record.sentAfter = burst.time / 1_000_000
        record.timestamp = pattern.start + record.sentAfter
        record.isObject = true
        record.units = burst.repeated == nil ? burst.units : 0
        if let number = burst.repeated {
            write(burst, number: number, into: &record)
            return
        }
        eventNumber += 1
        if burst.total != nil { burst.total = (burst.total ?? 0) + burst.units }
        write(burst, number: eventNumber, into: &record)
        if random.chance(pattern.late) {
            record.timestamp -= Int64(random.within(Self.lateBy))
        }
        if random.chance(pattern.unreadable) {
            record.value = Array(Self.unreadable[random.below(Self.unreadable.count)].utf8)
            record.isObject = false
            record.units = 0
        }
        if random.chance(pattern.duplicates) { redeliver(burst) }
        goOn(burst)
    }

    private static let unreadable = [
        "{\"user_id\":", "not an event", "[1,2,3]", "{\"count\":0,\"user_id\":\"1\"}",
        "{\"user_id\":\"1\",\"count\":1.5}", "{\"room_id\":\"room-000\"}", "",
    ]

    private mutating func begin(at time: Int64) {
        let user = random.below(random.below(pattern.users) + 1)
        serial += 1
        let room = roomChoice.draw(&random)
        let gift = giftChoice.draw(&random)
        let isStreakable = GiftCatalogue.gifts[gift].streakable
        let batch = batchChoice.draw(&random)
        var length = 1
        while isStreakable, length < Self.longestBurst, random.below(Self.meanTaps) != 0 {
            length += 1
        }
        let totals = SplitMix64(seed: UInt64(user)).drawn(pattern.totals)
        push(
            Burst(
                time: time,
                serial: serial,
                user: user,
                room: room,
                gift: gift,
                recipient: random.chance(Self.toGuests) ? 1 + random.below(4) : 0,
                units: isStreakable ? GiftCatalogue.batches[batch].units : 1,
                left: length,
                total: totals && isStreakable ? 0 : nil,
                repeated: nil
            )
        )
    }

    /// Milliseconds from one tap to the next.
    private mutating func gap() -> Int {
        random.within(random.chance(Self.pauses) ? Self.pauseGap : Self.tapGap)
    }

    private mutating func goOn(_ burst: Burst) {
        guard burst.left > 1 else { return }
        var next = burst
        next.left -= 1
        next.time += Int64(gap()) * 1_000_000
        push(next)
    }

    private mutating func redeliver(_ burst: Burst) {
        var again = burst
        again.repeated = eventNumber
        again.time += Int64(random.within(Self.redeliveryGap)) * 1_000_000
        push(again)
    }

    private mutating func write(_ burst: Burst, number: Int, into record: inout GeneratedRecord) {
        let gift = GiftCatalogue.gifts[burst.gift]
        let user = text.userID(burst.user)
        record.key.removeAll(keepingCapacity: true)
        record.key.append(contentsOf: user.utf8)
        text.begin()
        text.put("event_id", "e\(pattern.seed)-\(text.padded(number, 9))")
        text.put("room_id", "room-\(text.padded(burst.room, 3))")
        text.put("user_id", user)
        text.put("user_name", text.userName(burst.user))
        if burst.recipient > 0 { text.put("recipient_id", "guest-\(burst.recipient)") }
        text.put("gift_id", "g\(text.padded(burst.gift, 2))")
        text.put("gift_name", gift.name)
        text.put("count", burst.units)
        text.put("value", burst.units * gift.price)
        if let total = burst.total {
            text.put("streak_id", "s\(burst.serial)")
            text.put("streak_count", total)
            if burst.left == 1, !SplitMix64(seed: UInt64(number)).drawn(Self.lostMarkers) {
                text.put("streak_end", true)
            }
        }
        if !gift.streakable { text.put("streakable", false) }
        text.put("sent_at", Int(record.timestamp))
        text.end(into: &record.value)
    }

    // MARK: - A heap of bursts, the next one first

    private mutating func push(_ burst: Burst) {
        var index = bursts.count
        bursts.append(burst)
        while index > 0 {
            let parent = (index - 1) / 2
            guard bursts[index] < bursts[parent] else { return }
            bursts.swapAt(index, parent)
            index = parent
        }
    }

    private mutating func pop() -> Burst {
        bursts.swapAt(0, bursts.count - 1)
        let first = bursts.removeLast()
        var index = 0
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2]
            where child < bursts.count && bursts[child] < bursts[least] {
                least = child
            }
            guard least != index else { return first }
            bursts.swapAt(index, least)
            index = least
        }
    }
}

extension SplitMix64 {
    /// The first answer of this generator, which says the same of the same seed each time.
    fileprivate func drawn(_ share: Share) -> Bool {
        var copy = self
        return copy.chance(share)
    }
}
