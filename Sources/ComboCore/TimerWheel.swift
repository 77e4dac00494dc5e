/// A hierarchical timer wheel over indices: which timers may be due, in order of time.
///
/// The idea (Varghese and Lauck, "Hashed and Hierarchical Timing Wheels", 1987): level 0 has 4,096
/// slots of one tick each; a slot is a list of timers. What lies further away goes to level 1,
/// whose slots are 4,096 ticks wide, or to level 2 or 3, and comes down when the wheel gets there.
/// With a tick of 1 ms the default windows of 2 s and 3 s never leave level 0; level 3 reaches
/// 8,900 years: timers of today, restored into a wheel that stands at 1970, come down in three
/// steps.
///
/// - The lists are linked by index in one slab, 8 bytes a timer; the timer *is* the index. A list's
///   first entry holds, in place of a predecessor, the slot that it is in.
/// - A bitmap of occupied slots, and a word over it, find the next one in a few instructions,
/// however
///   far away it is: idle time costs nothing.
/// - A deadline that only moves away is not told to the wheel. When the slot comes up, its owner
/// looks
///   at the deadline and arms again. So the wheel holds no deadlines; slots are a bound from below.
///
/// Worked example, tick 1 ms, wheel at 10,000: a gift arms 12,000 → slot 12,000 mod 4,096 of level
/// 0. A second gift at 11,000 moves the deadline to 13,000, and nothing happens here. At 12,001 the
/// slot is taken, its owner sees 13,000 and arms again, and at 13,001 the timer is due.
///
/// Arm and disarm are O(1); taking a slot is O(1) and its list's length.
struct TimerWheel: ~Copyable {
    /// No timer.
    static let none = UInt32.max

    private static let levels = 4
    private static let slotBits = 12
    private static let slots = 1 << slotBits
    private static let words = slots / 64
    /// Marks a predecessor that is a slot.
    private static let slotMark: UInt32 = 1 << 31

    struct Node: BitwiseCopyable {
        var next = TimerWheel.none
        var previous = TimerWheel.none
    }

    private var nodes: Slab<Node>
    private var heads: Slab<UInt32>
    private var occupied: Slab<UInt64>
    /// For each level, which words of `occupied` are not zero.
    private var summary: Slab<UInt64>
    /// log₂ of the milliseconds in a tick.
    private let tickShift: Int64
    /// Every slot of level 0 before this tick is empty, and so is every higher slot that ends
    /// before.
    private var tick: Int64 = 0
    /// No occupied slot begins before this tick.
    private var earliest = Int64.max
    /// The time up to which the slot at `tick`, which it cuts, was taken already.
    private var takenUpTo = EventTime(milliseconds: .min)

    /// Creates an empty wheel whose ticks are 2^`tickShift` milliseconds.
    init(tickShift: Int64 = 0) {
        self.tickShift = tickShift
        nodes = Slab(capacity: 256, filledWith: Node())
        heads = Slab(capacity: Self.levels * Self.slots, filledWith: Self.none)
        occupied = Slab(capacity: Self.levels * Self.words, filledWith: 0)
        summary = Slab(capacity: Self.levels, filledWith: 0)
    }

    /// Bytes held.
    var byteCount: Int { nodes.byteCount + heads.byteCount + occupied.byteCount }

    /// No timer is due before this time; the end of time: none is armed.
    var nextTime: EventTime {
        EventTime(milliseconds: earliest == .max ? .max : earliest << tickShift)
    }

    /// Arms timer `index`, which is not armed, to come up at or before `deadline`.
    mutating func arm(_ index: UInt32, _ deadline: EventTime) {
        nodes.reserve(Int(index) + 1, filledWith: Node())
        let due = max(deadline.milliseconds >> tickShift, tick)
        let level: Int
        let place: Int64
        if due - tick < Self.slots {
            (level, place) = (0, due)
        } else if due >> 12 - tick >> 12 < Self.slots {
            (level, place) = (1, due >> 12)
        } else if due >> 24 - tick >> 24 < Self.slots {
            (level, place) = (2, due >> 24)
        } else {
            // Beyond the last slot it comes up early, and is armed again.
            (level, place) = (3, min(due >> 36, tick >> 36 + Int64(Self.slots) - 1))
        }
        earliest = min(earliest, place << Int64(level * Self.slotBits))
        link(index, toSlot: level << Self.slotBits | Int(place) & (Self.slots - 1))
    }

    /// Disarms timer `index`; one that is not armed stays so.
    mutating func disarm(_ index: UInt32) {
        let node = nodes[index]
        guard node.previous != Self.none else { return }
        if node.next != Self.none { nodes[node.next].previous = node.previous }
        if node.previous & Self.slotMark != 0 {
            let slot = Int(node.previous & ~Self.slotMark)
            heads[slot] = node.next
            if node.next == Self.none { clearOccupied(slot) }
        } else {
            nodes[node.previous].next = node.next
        }
        nodes[index] = Node()
    }

    /// A slot that was taken out.
    struct TakenSlot: BitwiseCopyable {
        /// First timer of its list.
        var first: UInt32
        /// Whether it is a tick of level 0; timers of a wider slot must all be armed again.
        var isTick: Bool
    }

    /// Takes the earliest occupied slot that begins before `time` out.
    ///
    /// The timers of its list are no longer armed. Walk it with ``unlink(_:)``, and arm again what
    /// is not due before `time`. Nil: no timer is due before `time`, and the wheel stands there.
    mutating func takeSlot(before time: EventTime) -> TakenSlot? {
        let limit = time.milliseconds >> tickShift
        let cutsTick = limit << tickShift != time.milliseconds
        // The slot that `time` cuts is taken once for each time; what stayed in it is due later.
        while earliest < limit || (earliest == limit && cutsTick && takenUpTo != time) {
            guard let (slot, begins) = earliestSlot() else {
                earliest = .max
                break
            }
            earliest = begins
            guard begins < limit || (begins == limit && cutsTick && takenUpTo != time) else {
                break
            }
            tick = max(tick, begins)
            if slot < Self.slots && begins == limit { takenUpTo = time }
            let first = heads[slot]
            heads[slot] = Self.none
            clearOccupied(slot)
            return TakenSlot(first: first, isTick: slot < Self.slots)
        }
        tick = max(tick, limit)
        return nil
    }

    /// Unlinks a timer of a taken slot and answers the one behind it.
    mutating func unlink(_ index: UInt32) -> UInt32 {
        let next = nodes[index].next
        nodes[index] = Node()
        return next
    }

    /// Whether a deadline belongs to the slot that was taken last, or to time before it.
    func isInTakenSlot(_ deadline: EventTime) -> Bool {
        deadline.milliseconds >> tickShift <= tick
    }

    private mutating func link(_ index: UInt32, toSlot slot: Int) {
        let head = heads[slot]
        nodes[index] = Node(next: head, previous: UInt32(slot) | Self.slotMark)
        if head == Self.none {
            occupied[slot >> 6] |= 1 << UInt64(slot & 63)
            summary[slot >> Self.slotBits] |= 1 << UInt64(slot >> 6 & 63)
        } else {
            nodes[head].previous = index
        }
        heads[slot] = index
    }

    private mutating func clearOccupied(_ slot: Int) {
        occupied[slot >> 6] &= ~(1 << UInt64(slot & 63))
        if occupied[slot >> 6] == 0 {
            summary[slot >> Self.slotBits] &= ~(1 << UInt64(slot >> 6 & 63))
        }
    }

    /// The occupied slot that begins first, the wider one where two begin together.
    private mutating func earliestSlot() -> (slot: Int, begins: Int64)? {
        var best: (slot: Int, begins: Int64)?
        for level in 0..<Self.levels where summary[level] != 0 {
            let shift = Int64(level * Self.slotBits)
            let from = tick >> shift
            let start = Int(truncatingIfNeeded: from) & (Self.slots - 1)
            let slot = occupiedSlot(level, from: start)
            let steps = (slot - start) & (Self.slots - 1)
            let begins = (from + Int64(steps)) << shift
            if best == nil || begins <= best?.begins ?? .max {
                best = (level << Self.slotBits | slot, begins)
            }
        }
        return best
    }

    /// The first occupied slot of a level that is not empty, from `start` on and around.
    private mutating func occupiedSlot(_ level: Int, from start: Int) -> Int {
        let word = start >> 6
        let here = occupied[level * Self.words + word] & (~0 << UInt64(start & 63))
        if here != 0 { return word << 6 | here.trailingZeroBitCount }
        // A shift by 64 gives 0: behind the last word there is none.
        let behind = summary[level] & (~0 << UInt64(word + 1))
        let found = (behind != 0 ? behind : summary[level]).trailingZeroBitCount
        return found << 6 | occupied[level * Self.words + found].trailingZeroBitCount
    }
}
