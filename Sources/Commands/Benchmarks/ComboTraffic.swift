/// Gift events of one partition of which a wanted number of combos is live, the same for the same
/// seed.
///
/// The traffic of `bench/workload.py`, the house's workload: senders tap in geometric bursts, six
/// taps on average, 150 to 900 ms apart, one tap in 33 2 to 5 s after the last; one tap in 100 is
/// delivered twice, one in 200 carries an earlier timestamp, one in 1000 can't be read. There are
/// as many senders as live combos, so that bursts hardly ever meet in one combo. A combo lives from
/// the first tap to 5 s after the last, which says how many bursts begin in a second.
///
/// What comes next lies in a ring of milliseconds and not in a heap: making an event must cost
/// little, for under valgrind it takes its share of the minute.
struct ComboTraffic {
    private struct Burst {
        var record: GiftRecord
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
    private static let duplicates = Share(millionths: 10_000)
    private static let late = Share(millionths: 5_000)
    private static let lateBy = 1...1_499
    private static let unreadable = Share(millionths: 1_000)
    private static let batches: [(units: Int, popularity: Int)] = [
        (1, 90), (10, 7), (66, 2), (520, 1),
    ]
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
    private let batchChoice: WeightedChoice
    private var random: SplitMix64
    private var bursts: ContiguousArray<Burst> = []
    private var vacant = ComboTraffic.none
    private var ring = ContiguousArray(repeating: ComboTraffic.none, count: ComboTraffic.ringSize)
    private var credit = 0
    private var number = 0
    /// Milliseconds since the start.
    private(set) var elapsed = 0

    /// Creates traffic in which about `live` combos are live once the windows have passed.
    init(live: Int, seed: UInt64) {
        users = live
        beginning = live * 1_000_000 / (Self.meanBurst + Self.windows)
        random = SplitMix64(seed: seed)
        roomChoice = WeightedChoice((1...Self.rooms).map { 1_000_000 / $0 + 1 })
        batchChoice = WeightedChoice(Self.batches.map(\.popularity))
        // So many are in the middle of a burst at any time; what is left of a geometric burst is
        // as long as a whole one.
        for _ in 0..<live * Self.meanBurst / (Self.meanBurst + Self.windows) {
            begin(at: random.below(gap()))
        }
    }

    /// Appends the next `count` records.
    mutating func append(_ count: Int, to block: inout RecordBlock) {
        let end = block.count + count
        while block.count < end {
            let index = take()
            number += 1
            appendTap(of: bursts[index].record, upTo: end, to: &block)
            bursts[index].left -= 1
            if bursts[index].left > 0 {
                place(index, at: elapsed + gap())
            } else {
                bursts[index].next = vacant
                vacant = index
            }
        }
    }

    /// Appends the records of a tap: one, two where it is delivered twice and both find room.
    private mutating func appendTap(
        of record: GiftRecord,
        upTo end: Int,
        to block: inout RecordBlock
    ) {
        var record = record
        let sentAt = Self.start + Int64(elapsed)
        let copies = random.chance(Self.duplicates) ? 2 : 1
        let lateBy = random.chance(Self.late) ? random.within(Self.lateBy) : 0
        let timestamp = sentAt - Int64(lateBy)
        let isUnreadable = random.chance(Self.unreadable)
        let bytes = GiftRecord.unreadable[random.below(GiftRecord.unreadable.count)]
        for _ in 0..<copies where block.count < end {
            if isUnreadable {
                block.append(key: record.key, value: bytes, timestamp: timestamp)
            } else {
                record.append(number: number, sentAt: sentAt, timestamp: timestamp, to: &block)
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
        var taps = 1
        while taps < Self.longestBurst, random.below(Self.meanTaps) != 0 { taps += 1 }
        let content = GiftRecord.Content(
            user: random.below(users),
            room: roomChoice.draw(&random),
            gift: random.below(GiftRecord.gifts),
            units: Self.batches[batchChoice.draw(&random)].units
        )
        let burst = Burst(record: GiftRecord(content), left: taps, next: Self.none)
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
