import Simulator
import Testing

@testable import ComboCore

@Suite struct TimerWheelTests {
    @Test(arguments: 0..<40)
    func `the wheel brings up what a sorted list does`(run: Int) {
        let seed = UInt64(run) &* 6151 &+ 3
        var random = SeededGenerator(seed: seed)
        let tickShift = Int64(run % 3) * 4
        var wheel = TimerWheel(tickShift: tickShift)
        var deadlines: [UInt32: Int64] = [:]
        var now: Int64 = run % 2 == 0 ? 0 : 1_760_000_000_000
        for _ in 0..<600 {
            let index = UInt32.random(in: 0..<200, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0..<2:
                wheel.disarm(index)
                let reach =
                    [10, 3000, 5000, 20_000_000, 90_000_000_000, 900_000_000_000_000]
                    .randomElement(using: &random) ?? Int64(1)
                let deadline = now + Int64.random(in: 0...reach, using: &random)
                deadlines[index] = deadline
                wheel.arm(index, EventTime(milliseconds: deadline))
            case 2:
                wheel.disarm(index)
                deadlines[index] = nil
            default:
                let step =
                    [1, 50, 4096, 3_000_000, 80_000_000_000, 100_000_000_000_000]
                    .randomElement(using: &random) ?? Int64(1)
                now += Int64.random(in: 0...step, using: &random)
                let fired = fire(&wheel, &deadlines, before: now)
                let expected = fired.sorted { ($0.0, $0.1) < ($1.0, $1.1) }
                #expect(fired.map(\.0) == expected.map(\.0), "seed \(seed)")
                #expect(!deadlines.values.contains { $0 < now }, "seed \(seed): a timer was missed")
            }
        }
    }

    @Test(arguments: [(1_760_000_002_000, 4), (Int64.max - 1, 40_000)] as [(Int64, Int)])
    func `however far away a timer is, few slots come up before it`(deadline: Int64, most: Int) {
        var wheel = TimerWheel()
        wheel.arm(0, EventTime(milliseconds: deadline))
        var slots = 0
        while let slot = wheel.takeSlot(before: .max) {
            slots += 1
            let next = wheel.unlink(slot.first)
            #expect(next == TimerWheel.none)
            if slot.isTick { break }
            wheel.arm(slot.first, EventTime(milliseconds: deadline))
        }
        #expect(slots <= most)
        let isReached = wheel.isInTakenSlot(EventTime(milliseconds: deadline))
        #expect(isReached)
    }

    /// Takes everything due before `now`, slot by slot, each slot's timers in order of deadline.
    private func fire(
        _ wheel: inout TimerWheel,
        _ deadlines: inout [UInt32: Int64],
        before now: Int64
    ) -> [(Int64, UInt32)] {
        var fired: [(Int64, UInt32)] = []
        while let slot = wheel.takeSlot(before: EventTime(milliseconds: now)) {
            var here: [(Int64, UInt32)] = []
            var index = slot.first
            while index != TimerWheel.none {
                let next = wheel.unlink(index)
                let deadline = EventTime(milliseconds: deadlines[index] ?? 0)
                if slot.isTick, deadline.milliseconds < now, wheel.isInTakenSlot(deadline) {
                    here.append((deadline.milliseconds, index))
                    deadlines[index] = nil
                } else {
                    wheel.arm(index, deadline)
                }
                index = next
            }
            fired += here.sorted { ($0.0, $0.1) < ($1.0, $1.1) }
        }
        return fired
    }
}

@Suite struct KeyTableTests {
    @Test(arguments: 0..<20)
    func `the table holds what a dictionary holds`(run: Int) {
        let seed = UInt64(run) &* 3571 &+ 11
        var random = SeededGenerator(seed: seed)
        var table = KeyTable(capacity: 4)
        var oracle: [KeyHash: KeyReference] = [:]
        for step in 0..<3000 {
            // Few low words, so that entries crowd and tags meet.
            let low = UInt64.random(in: 0..<40, using: &random) &* 0x1_0000_0001
            let key = KeyHash(high: UInt64.random(in: 0..<30, using: &random), low: low)
            var slot = table.firstSlot(key)
            var found: KeyReference?
            while let candidate = table.candidate(key, at: &slot) {
                if candidate == oracle[key] {
                    found = candidate
                    break
                }
                slot = table.slot(after: slot)
            }
            #expect(found == oracle[key], "seed \(seed)")
            if found != nil {
                table.remove(at: slot)
                oracle[key] = nil
            } else {
                let reference: KeyReference =
                    step % 2 == 0 ? .live(UInt32(step)) : .remembered(UInt32(step))
                table.insert(key, reference)
                oracle[key] = reference
            }
            #expect(table.count == oracle.count, "seed \(seed)")
        }
    }
}

@Suite struct ByteArenaTests {
    @Test func `a size class holds its sizes and wastes little`() {
        var last = -1
        for size in 1...300_000 {
            let (index, units) = ByteArena.sizeClass(of: size)
            #expect(units * 8 >= size)
            #expect(units * 8 <= max(8, size + size / 4 + 8))
            #expect(index == last || index == last + 1)
            last = index
        }
    }

    @Test func `blocks do not overlap and keep their bytes`() {
        var random = SeededGenerator(seed: 77)
        var arena = ByteArena(capacity: 64)
        var blocks: [(reference: ByteArena.Reference, bytes: [UInt8])] = []
        for step in 0..<4000 {
            if blocks.count > 100 || (step % 3 == 0 && !blocks.isEmpty) {
                let block = blocks.remove(at: Int.random(in: 0..<blocks.count, using: &random))
                let held = unsafe UnsafeRawBufferPointer(
                    start: arena.pointer(block.reference),
                    count: block.bytes.count
                )
                #expect(unsafe Array(held) == block.bytes)
                arena.free(block.reference, block.bytes.count)
            } else {
                let size = Int.random(in: 1...(step % 50 == 0 ? 20_000 : 200), using: &random)
                let bytes = (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) }
                let reference = arena.allocate(size)
                unsafe arena.pointer(reference).copyMemory(from: bytes, byteCount: size)
                blocks.append((reference, bytes))
            }
        }
    }
}

@Suite struct LaneTests {
    @Test(arguments: [
        ("7", 1), ("8", 0), ("0", 0), ("-3", 1), ("12abc", 0), ("99999999999999999999", 1),
        ("-99999999999999999999", 0), (" 5", 1), ("007", 1), ("+9", 1), ("\\t\\n 9x", 1),
        ("\\u000b5", 1), ("-9223372036854775808", 0), ("9223372036854775807", 1),
    ])
    func `a leading integer gives the lane`(user: String, expected: UInt16) {
        withTexts([user]) { #expect(lane(ofUser: $0[0], lanes: 2) == expected) }
    }

    @Test func `other ids spread over the lanes, the same each time`() {
        var seen = [0, 0, 0]
        for number in 0..<300 {
            withTexts(["u-\(number)"]) { texts in
                let first = lane(ofUser: texts[0], lanes: 3)
                #expect(first == lane(ofUser: texts[0], lanes: 3))
                seen[Int(first)] += 1
            }
        }
        #expect(seen.allSatisfy { $0 > 60 })
        for user in ["", "-", "+ 5", "a7"] {
            withTexts([user]) { #expect(lane(ofUser: $0[0], lanes: 1) == 0) }
        }
    }
}

@Suite struct KeyHashTests {
    @Test func `the hash of a text never changes`() {
        withTexts(["room-062", "1003398", ""]) { texts in
            #expect(
                KeyHash(texts[0])
                    == KeyHash(high: 16_122_576_538_783_748_367, low: 3_932_041_939_851_912_371)
            )
        }
    }

    @Test func `texts of every length and near each other differ in both halves`() {
        var high: Set<UInt64> = []
        var low: Set<UInt64> = []
        var count = 0
        for length in 0...70 {
            for place in 0...max(0, length - 1) {
                for letter in ["a", "b", "\u{1}"] {
                    var bytes = Array(repeating: "a", count: length)
                    if length > 0 { bytes[place] = letter }
                    let string = bytes.joined()
                    if letter != "a" || place == 0 {
                        if length == 0 && letter != "a" { continue }
                        withTexts([string]) {
                            let hash = KeyHash($0[0])
                            high.insert(hash.high)
                            low.insert(hash.low)
                        }
                        count += 1
                    }
                }
            }
        }
        #expect(high.count == count && low.count == count)
    }
}
