package import ComboCore

/// The combo machine as section 3 of the design tells it, written without a thought for speed.
///
/// It is the oracle of the real one: dictionaries, arrays, and a search through every combo for the
/// next
/// timer.
package struct ReferenceModel {
    private struct Key: Hashable {
        var parts: [String]
    }

    private struct Combo {
        var first: Int64
        var last: Int64
        var count: Int64
        var value: Int64
        var hideAt: Int64
        var isDisplayed: Bool
        var sequence: UInt32
        var shown: Int64
        var shownAt: Int64
        var isHolding: Bool
        var unnamed: Int64 = 0
        var latest: Gift
    }

    private struct Memory {
        var ids: [String] = []
        /// The least recently raised first.
        var streaks: [(id: String, total: Int64)] = []
    }

    private struct Remembered {
        var key: Key
        var forgetAfter: Int64
    }

    private let configuration: ComboConfiguration
    /// The partition's clock, epoch milliseconds.
    package private(set) var clock: Int64 = 0
    private var combos: [Key: Combo] = [:]
    private var memories: [Key: Memory] = [:]
    /// Ended keys, the oldest first.
    private var ended: [Remembered] = []
    /// What overlays were told, in order.
    package private(set) var commands: [Shown] = []
    /// The sum of all increments.
    package private(set) var counted: Int64 = 0

    /// Creates an empty partition.
    package init(_ configuration: ComboConfiguration) {
        self.configuration = configuration
    }

    /// Applies a gift at the later of `time` and the clock.
    package mutating func apply(_ gift: Gift, offset: Int64, at time: Int64) {
        let now = max(time, clock)
        advance(to: now)
        if gift.streakEnd && gift.count == nil && gift.streakCount == nil { return }
        let key = key(gift, offset)
        let known = memories[key] ?? Memory()
        if !gift.eventID.isEmpty, known.ids.contains(gift.eventID) { return }
        var increment = gift.count ?? 1
        if configuration.increment == .one {
            increment = 1
        } else if let total = gift.streakCount {
            let highest =
                gift.streakID.isEmpty
                ? combos[key]?.unnamed ?? 0
                : known.streaks.first { $0.id == gift.streakID }?.total ?? 0
            increment = total - highest
            if increment <= 0 { return }
        }
        ended.removeAll { $0.key == key }
        count(key, gift, increment, offset, now)
        remember(key, gift)
    }

    private mutating func count(
        _ key: Key,
        _ gift: Gift,
        _ increment: Int64,
        _ offset: Int64,
        _ now: Int64
    ) {
        counted = sum(counted, increment)
        let before = combos[key]
        var combo =
            before
            ?? Combo(
                first: offset,
                last: offset,
                count: 0,
                value: 0,
                hideAt: 0,
                isDisplayed: false,
                sequence: 0,
                shown: 0,
                shownAt: 0,
                isHolding: false,
                latest: gift
            )
        combo.last = offset
        combo.count = sum(combo.count, increment)
        combo.value = sum(combo.value, gift.value)
        combo.hideAt = now + configuration.hideAfter
        combo.latest = gift
        combo.isDisplayed = true
        if before?.isDisplayed == true {
            if now - combo.shownAt >= configuration.updateMinInterval {
                emit(.update, &combo, at: now)
            } else {
                combo.isHolding = true
            }
        } else {
            emit(.show, &combo, at: now, resumed: before != nil)
        }
        combos[key] = combo
    }

    private mutating func remember(_ key: Key, _ gift: Gift) {
        var memory = memories[key] ?? Memory()
        if !gift.eventID.isEmpty {
            memory.ids.append(gift.eventID)
            if memory.ids.count > configuration.dedupIDs { memory.ids.removeFirst() }
        }
        if configuration.increment == .count, let total = gift.streakCount {
            if gift.streakID.isEmpty {
                combos[key]?.unnamed = total
            } else {
                memory.streaks.removeAll { $0.id == gift.streakID }
                memory.streaks.append((gift.streakID, total))
                if memory.streaks.count > 4 { memory.streaks.removeFirst() }
            }
        }
        memories[key] = memory
    }

    /// The next timer: earliest deadline, then lowest offset.
    private func next() -> (key: Key, deadline: Int64)? {
        var best: (key: Key, deadline: Int64, offset: Int64)?
        for (key, combo) in combos {
            var deadline = combo.hideAt
            if !combo.isDisplayed { deadline += configuration.retainFor }
            if combo.isHolding {
                deadline = min(deadline, combo.shownAt + configuration.updateMinInterval)
            }
            if let best, (best.deadline, best.offset) < (deadline, combo.last) { continue }
            best = (key, deadline, combo.last)
        }
        return best.map { ($0.key, $0.deadline) }
    }

    /// Fires what is due before `time`; the clock stays where it is at the end of time.
    package mutating func advance(to time: Int64, isEnd: Bool = false) {
        while let (key, deadline) = next(), deadline < time, var combo = combos[key] {
            if combo.isHolding {
                emit(.update, &combo, at: deadline)
                combos[key] = combo
            } else if combo.isDisplayed {
                emit(.hide, &combo, at: deadline)
                combo.isDisplayed = false
                combos[key] = combo
            } else {
                emit(.end, &combo, at: deadline)
                combos[key] = nil
                end(key, deadline)
            }
        }
        if isEnd { return }
        while let first = ended.first, first.forgetAfter < time {
            ended.removeFirst()
            memories[first.key] = nil
        }
        clock = max(clock, time)
    }

    private mutating func end(_ key: Key, _ deadline: Int64) {
        guard let memory = memories[key], !memory.ids.isEmpty || !memory.streaks.isEmpty else {
            memories[key] = nil
            return
        }
        ended.append(Remembered(key: key, forgetAfter: deadline + configuration.memory))
        if ended.count > configuration.maxRemembered {
            memories[ended.removeFirst().key] = nil
        }
    }

    private mutating func emit(
        _ kind: CommandKind,
        _ combo: inout Combo,
        at time: Int64,
        resumed: Bool = false
    ) {
        combo.sequence += 1
        let gift = combo.latest
        commands.append(
            Shown(
                kind: kind,
                comboOffset: combo.first,
                sequence: combo.sequence,
                from: combo.shown,
                count: combo.count,
                value: combo.value,
                at: time,
                hideAt: combo.hideAt,
                endAt: combo.hideAt + configuration.retainFor,
                lane: laneOfDigits(gift.user),
                resumed: resumed,
                texts: [
                    gift.room, gift.user, gift.userName, gift.recipient, gift.gift, gift.giftName,
                ]
            )
        )
        combo.shown = combo.count
        if kind == .show || kind == .update { combo.shownAt = time }
        combo.isHolding = false
    }

    private func laneOfDigits(_ user: String) -> UInt16 {
        UInt16((Int(user) ?? 0) % Int(configuration.lanes))
    }

    private func key(_ gift: Gift, _ offset: Int64) -> Key {
        var parts: [String] = []
        if configuration.key.contains(.room) { parts.append(gift.room) }
        parts.append(gift.user)
        if configuration.key.contains(.recipient) { parts.append(gift.recipient) }
        if configuration.key.contains(.gift) { parts.append(gift.gift) }
        if !gift.streakable {
            parts.append(gift.eventID.isEmpty ? "offset \(offset)" : "id \(gift.eventID)")
        }
        return Key(parts: parts)
    }

    private func sum(_ left: Int64, _ right: Int64) -> Int64 {
        left > Int64.max - right ? .max : left + right
    }
}
