import ComboCore

@testable import ComboWire

/// A key's state as Swift values, which own what a ``KeyState`` borrows.
struct SampleState: Equatable {
    struct Combo: Equatable {
        var isDisplayed = true
        var firstOffset: Int64 = 3
        var count: Int64 = 70
        var value: Int64 = 350
        var hideAt: Int64 = 1_760_000_002_000
        var sequence: UInt32 = 3
        var shownCount: Int64 = 70
        var shownAt: Int64 = 0
        var isHolding = false
        /// In the order of ``CommandFields``.
        var texts = ["room", "7", "小明", "", "", "g22", "Gift", ""]
    }

    struct Streak: Equatable {
        var id: UInt64
        var total: Int64
    }

    var key = KeyHash(high: 0x0102_0304_0506_0708, low: 0x090a_0b0c_0d0e_0f10)
    var lastOffset: Int64 = 9
    var combo: Combo? = Combo()
    /// 0 while the combo lives.
    var endAt: Int64 = 0
    var unnamedTotal: Int64 = 0
    var streaks: [Streak] = []
    var ids: [UInt64] = []

    init() {}

    /// A state whose every number is somewhere in its range, its bounds among the likely ones.
    init(random: inout SeededRandom) {
        key = KeyHash(high: random.next(), low: random.next())
        lastOffset = Self.number(&random)
        if random.oneIn(3) {
            combo = nil
            endAt = random.oneIn(4) ? -Self.number(&random) : Self.number(&random)
        } else {
            combo = Self.combo(&random, lastOffset)
        }
        unnamedTotal = random.oneIn(2) ? 0 : Self.number(&random)
        for _ in 0..<random.below(5) {
            streaks.append(Streak(id: random.next(), total: max(1, Self.number(&random))))
        }
        for _ in 0..<random.pick([0, 1, 2, 31, 32, 1024]) { ids.append(random.next()) }
    }

    private static func combo(_ random: inout SeededRandom, _ lastOffset: Int64) -> Combo {
        var combo = Combo()
        combo.isDisplayed = random.oneIn(2)
        combo.firstOffset = Int64.random(in: 0...lastOffset, using: &random)
        combo.count = number(&random)
        combo.value = number(&random)
        combo.hideAt = number(&random)
        combo.sequence = UInt32.random(in: 1...(1 << 31 - 1), using: &random)
        combo.isHolding = random.oneIn(3)
        combo.shownAt = random.oneIn(2) ? 0 : number(&random)
        combo.shownCount =
            combo.isHolding ? Int64.random(in: 0...combo.count, using: &random) : combo.count
        combo.texts = (0..<8).map { index in
            let length = random.pick([0, 0, 1, 7, 127, 128, 300]) + (index == 1 ? 1 : 0)
            return String(repeating: random.pick(["a", "z", "9"]), count: length)
        }
        return combo
    }

    private static func number(_ random: inout SeededRandom) -> Int64 {
        random.pick([0, 1, 127, 128, 1_760_000_000_000, .max, Int64(random.next() >> 1)])
    }

    /// Owns what a borrowed state says.
    init(_ state: KeyState) {
        key = state.key
        lastOffset = state.lastOffset
        endAt = state.endAt.milliseconds
        unnamedTotal = state.memory.unnamedTotal
        streaks = unsafe state.memory.streaks.map { Streak(id: $0.id, total: $0.total) }
        unsafe ids = Array(state.memory.ids)
        guard let borrowed = state.combo else {
            combo = nil
            return
        }
        let fields = borrowed.fields
        combo = Combo(
            isDisplayed: borrowed.isDisplayed,
            firstOffset: borrowed.firstOffset,
            count: borrowed.count,
            value: borrowed.value,
            hideAt: borrowed.hideAt.milliseconds,
            sequence: borrowed.sequence,
            shownCount: borrowed.shownCount,
            shownAt: borrowed.shownAt.milliseconds,
            isHolding: borrowed.isHolding,
            texts: [
                fields.roomID, fields.userID, fields.userName, fields.userAvatar,
                fields.recipientID, fields.giftID, fields.giftName, fields.giftImage,
            ].map { unsafe String(decoding: $0.bytes, as: UTF8.self) }
        )
    }

    /// The value of its changelog record.
    var encoded: [UInt8] {
        let totals = streaks.map { StreakTotal(id: $0.id, total: $0.total) }
        return unsafe totals.withUnsafeBufferPointer { totals in
            unsafe ids.withUnsafeBufferPointer { ids in
                let memory = unsafe KeyMemoryView(
                    unnamedTotal: unnamedTotal,
                    streaks: totals,
                    ids: ids
                )
                return encoded(memory)
            }
        }
    }

    private func encoded(_ memory: KeyMemoryView) -> [UInt8] {
        var state = KeyState(
            key: key,
            lastOffset: lastOffset,
            combo: nil,
            endAt: EventTime(milliseconds: endAt),
            memory: memory
        )
        var output = OutputBytes()
        guard let combo else {
            ChangelogCodec.appendValue(state, to: &output)
            return unsafe Array(output.bytes)
        }
        // The command's texts are made as another test makes them.
        var command = SampleCommand()
        command.texts = combo.texts
        command.withCommand { command in
            state.combo = KeyState.Combo(
                isDisplayed: combo.isDisplayed,
                firstOffset: combo.firstOffset,
                count: combo.count,
                value: combo.value,
                hideAt: EventTime(milliseconds: combo.hideAt),
                sequence: combo.sequence,
                shownCount: combo.shownCount,
                shownAt: EventTime(milliseconds: combo.shownAt),
                isHolding: combo.isHolding,
                fields: command.fields
            )
            ChangelogCodec.appendValue(state, to: &output)
        }
        return unsafe Array(output.bytes)
    }

    /// Reads a value that lies directly before a page that cannot be read.
    static func decoded(_ value: [UInt8], key: KeyHash) throws(ChangelogError) -> SampleState {
        let memory = GuardedBytes(capacity: max(1, value.count))
        let scratch = ChangelogScratch()
        let result = unsafe memory.withCopy(of: value) { bytes in
            Result { () throws(ChangelogError) in
                SampleState(try unsafe ChangelogCodec.state(bytes, key: key, scratch: scratch))
            }
        }
        return try result.get()
    }
}
