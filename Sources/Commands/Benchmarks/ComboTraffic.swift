/// Gift events of one partition of which a wanted number of combos is live, the same for the same
/// seed.
///
/// Senders tap as in ``GiftTraffic``: geometric bursts, six taps on average, 150 to 900 ms apart,
/// one tap in 33 2 to 5 s after the last; one sender in ten carries running totals. There are ten
/// senders for each live combo, so that bursts hardly ever meet in one combo. A combo lives from
/// the first tap to 5 s after the last, which says how many bursts begin in a second.
///
/// What comes next lies in a ring of milliseconds and not in a heap: making an event must cost
/// little, for under valgrind it takes its share of the minute.
struct ComboTraffic {
    private struct Burst {
        var record: GiftRecord
        var units: Int
        var total = 0
        var left: Int
        /// The next burst of the same millisecond, or the next vacant cell.
        var next: Int
    }

    private static let none = -1
    private static let start: Int64 = 1_760_000_000_000
    private static let meanTaps = 6
    private static let longestBurst = 400
    private static let tapGap = 150...900
    private static let pauseGap = 2_000...5_000
    private static let pauses = Share(millionths: 30_000)
    private static let toGuests = Share(millionths: 100_000)
    private static let totals = Share(millionths: 100_000)
    /// From a burst's first tap to its last on average: five gaps of 614 ms.
    private static let meanBurst = 3_071
    /// How long a combo stays live after its last gift: hide.after and retain.for.
    private static let windows = 5_000
    private static let rooms = 500
    /// Longer than any gap.
    private static let ringSize = 8_192

    private let users: Int
    /// Millionths of bursts that begin in a millisecond, on average.
    private let beginning: Int
    private let roomChoice: WeightedChoice
    private let giftChoice: WeightedChoice
    private let batchChoice: WeightedChoice
    private var random: SplitMix64
    private var bursts: ContiguousArray<Burst> = []
    private var vacant = ComboTraffic.none
    private var ring = ContiguousArray(repeating: ComboTraffic.none, count: ComboTraffic.ringSize)
    private var credit = 0
    private var serial = 0
    private var number = 0
    /// Milliseconds since the start.
    private(set) var elapsed = 0

    /// Creates traffic in which about `live` combos are live once the windows have passed.
    init(live: Int, seed: UInt64) {
        users = 10 * live
        beginning = live * 1_000_000 / (Self.meanBurst + Self.windows)
        random = SplitMix64(seed: seed)
        roomChoice = WeightedChoice((1...Self.rooms).map { 1_000_000 / $0 + 1 })
        giftChoice = WeightedChoice(GiftCatalogue.gifts.map(\.popularity))
        batchChoice = WeightedChoice(GiftCatalogue.batches.map(\.popularity))
        // So many are in the middle of a burst at any time; what is left of a geometric burst is
        // as long as a whole one.
        for _ in 0..<live * Self.meanBurst / (Self.meanBurst + Self.windows) {
            begin(at: random.below(gap()))
        }
    }

    /// Appends the next `count` events.
    mutating func append(_ count: Int, to block: inout RecordBlock) {
        for _ in 0..<count {
            let index = take()
            number += 1
            bursts[index].total += bursts[index].units
            bursts[index].left -= 1
            bursts[index].record.append(
                number: number,
                timestamp: Self.start + Int64(elapsed),
                total: bursts[index].total,
                to: &block
            )
            if bursts[index].left > 0 {
                place(index, at: elapsed + gap())
            } else {
                bursts[index].next = vacant
                vacant = index
            }
        }
    }

    /// Takes the burst that taps next out of the ring.
    private mutating func take() -> Int {
        while ring[elapsed % Self.ringSize] == Self.none {
            elapsed += 1
            // Uniform around the mean: on average right, and made of integers.
            credit += random.within(0...2 * beginning)
            while credit >= 1_000_000 {
                credit -= 1_000_000
                begin(at: elapsed)
            }
        }
        let index = ring[elapsed % Self.ringSize]
        ring[elapsed % Self.ringSize] = bursts[index].next
        return index
    }

    private mutating func place(_ index: Int, at time: Int) {
        bursts[index].next = ring[time % Self.ringSize]
        ring[time % Self.ringSize] = index
    }

    /// Milliseconds from one tap to the next.
    private mutating func gap() -> Int {
        random.within(random.chance(Self.pauses) ? Self.pauseGap : Self.tapGap)
    }

    private mutating func begin(at time: Int) {
        let user = random.below(users)
        let gift = giftChoice.draw(&random)
        let isStreakable = GiftCatalogue.gifts[gift].streakable
        let batch = batchChoice.draw(&random)
        var taps = 1
        while isStreakable, taps < Self.longestBurst, random.below(Self.meanTaps) != 0 { taps += 1 }
        let units = isStreakable ? GiftCatalogue.batches[batch].units : 1
        serial += 1
        let content = GiftRecord.Content(
            user: user,
            room: roomChoice.draw(&random),
            gift: gift,
            guest: random.chance(Self.toGuests) ? 1 + random.below(4) : 0,
            units: units,
            streak: isStreakable && random.chance(Self.totals) ? serial : nil
        )
        let burst = Burst(
            record: GiftRecord(content),
            units: units,
            left: taps,
            next: Self.none
        )
        let index: Int
        if vacant == Self.none {
            index = bursts.count
            bursts.append(burst)
        } else {
            index = vacant
            vacant = bursts[index].next
            bursts[index] = burst
        }
        place(index, at: time)
    }
}
