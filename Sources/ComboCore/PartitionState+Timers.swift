// What happens when time passes: hide, held updates, end, and forgetting.

extension PartitionState {
    /// When the combo's timer is due: its held update, its hide or its end.
    @inline(__always)
    mutating func deadline(_ index: UInt32) -> EventTime {
        let hideAt = live[index].hideAt
        switch live[index].phase {
        case .displayed:
            return configuration.updateMinInterval > 0 ? updateDeadline(index) : hideAt
        case .retained:
            return hideAt.advanced(byMilliseconds: configuration.retainFor)
        case .vacant:
            preconditionFailure("a vacant cell has no timer")
        }
    }

    /// The same of a displayed combo where updates are conflated.
    @inline(never)
    private mutating func updateDeadline(_ index: UInt32) -> EventTime {
        let hideAt = live[index].hideAt
        guard conflations[index].isHolding else { return hideAt }
        let shownAt = conflations[index].shownAt
        return min(hideAt, shownAt.advanced(byMilliseconds: configuration.updateMinInterval))
    }

    /// Arms the combo's timer for its deadline, unless it is armed for an earlier one (`was`).
    ///
    /// The wheel is not told of a deadline that moved away: it finds out when the old one comes up.
    mutating func rearm(_ index: UInt32, was: EventTime?) {
        let deadline = deadline(index)
        if let was {
            guard deadline < was else { return }
            wheel.disarm(index)
        }
        wheel.arm(index, deadline)
    }

    /// The combo whose timer is next among those due before `time`; it is no longer armed.
    mutating func nextDue(before time: EventTime) -> UInt32? {
        while due.isEmpty {
            guard let slot = wheel.takeSlot(before: time) else { return nil }
            var index = slot.first
            while index != TimerWheel.none {
                let next = wheel.unlink(index)
                schedule(index, before: time, isTick: slot.isTick)
                index = next
            }
        }
        return due.removeFirst()
    }

    /// Fires a combo's timer, and arms the one that follows.
    mutating func fire(
        _ index: UInt32,
        before time: EventTime,
        into command: inout OverlayCommand
    ) {
        let deadline = deadline(index)
        let count = live[index].count
        let fields = texts.fields(live[index].sender, live[index].gift)
        if changes.isOn { markChanged(live: index) }
        switch live[index].phase {
        case .displayed:
            let isHeldUpdate = configuration.updateMinInterval > 0 && conflations[index].isHolding
            if !isHeldUpdate { live[index].phase = .retained }
            write(
                isHeldUpdate ? .update : .hide,
                index,
                at: deadline,
                from: count,
                fields,
                asRecorded: .empty,
                into: &command
            )
            schedule(index, before: time, isTick: true)
        case .retained:
            write(
                .end,
                index,
                at: deadline,
                from: count,
                fields,
                asRecorded: .empty,
                into: &command
            )
            ended = index
        case .vacant:
            preconditionFailure("a vacant cell has no timer")
        }
    }

    /// Puts a combo's timer among the due ones, or back into the wheel.
    private mutating func schedule(_ index: UInt32, before time: EventTime, isTick: Bool) {
        let deadline = deadline(index)
        if isTick, deadline < time, wheel.isInTakenSlot(deadline) {
            due.insert(
                DueTimers.Timer(
                    deadline: deadline,
                    offset: live[index].lastOffset,
                    index: index
                )
            )
        } else {
            wheel.arm(index, deadline)
        }
    }

    /// Puts the timers among the due ones that have no deadline before the end of time.
    mutating func scheduleSaturated() {
        guard live.count > 0 else { return }
        for index in 0..<live.highWater where live[index].phase != .vacant {
            wheel.disarm(index)
            due.insert(
                DueTimers.Timer(
                    deadline: deadline(index),
                    offset: live[index].lastOffset,
                    index: index
                )
            )
        }
    }

    // MARK: - Ending and forgetting

    /// Frees the combo whose `end` was given out, and remembers its key if there is anything to
    /// remember.
    @inline(__always)
    mutating func releaseEnded() {
        if ended != .max { release(ended) }
    }

    @inline(never)
    private mutating func release(_ index: UInt32) {
        let combo = live[index]
        ended = .max
        texts.removeSender(combo.sender)
        texts.removeGift(combo.gift)
        var slot = 0
        guard find(combo.key, at: &slot) != nil else {
            preconditionFailure("a live combo's key is in the table")
        }
        live.giveBack(index)
        guard memories.endCombo(combo.memory) else {
            memories.remove(combo.memory)
            keys.remove(at: slot)
            changes.add(combo.key, combo.marks, isNew: !combo.marks.isChanged)
            return
        }
        let kept = remembered.take()
        remembered[kept] = RememberedKey(
            key: combo.key,
            endAt: combo.hideAt.advanced(byMilliseconds: configuration.retainFor),
            lastOffset: combo.lastOffset,
            memory: combo.memory,
            marks: combo.marks
        )
        keys.replace(at: slot, combo.key, .remembered(kept))
        linkRemembered(kept)
        if remembered.count > configuration.maxRemembered { forget(oldestRemembered) }
    }

    /// Forgets the keys whose memory ended before `time`.
    @inline(__always)
    mutating func forgetKeys(before time: EventTime) {
        while oldestRemembered != .max {
            let endAt = remembered[oldestRemembered].endAt
            guard endAt.advanced(byMilliseconds: configuration.memory) < time else { return }
            forget(oldestRemembered)
        }
    }

    @inline(never)
    private mutating func forget(_ index: UInt32) {
        let key = remembered[index].key
        let marks = remembered[index].marks
        memories.remove(remembered[index].memory)
        var slot = 0
        guard find(key, at: &slot) != nil else {
            preconditionFailure("a remembered key is in the table")
        }
        keys.remove(at: slot)
        unlinkRemembered(index)
        changes.add(key, marks, isNew: !marks.isChanged)
    }

    /// Puts a key at the newer end of the list.
    mutating func linkRemembered(_ index: UInt32) {
        remembered[index].older = newestRemembered
        remembered[index].newer = .max
        if newestRemembered == .max {
            oldestRemembered = index
        } else {
            remembered[newestRemembered].newer = index
        }
        newestRemembered = index
    }

    /// Takes a key's cell out of the list and gives it back; its memory is kept.
    mutating func unlinkRemembered(_ index: UInt32) {
        let cell = remembered[index]
        if cell.older == .max {
            oldestRemembered = cell.newer
        } else {
            remembered[cell.older].newer = cell.newer
        }
        if cell.newer == .max {
            newestRemembered = cell.older
        } else {
            remembered[cell.newer].older = cell.older
        }
        remembered.giveBack(index)
    }
}

/// Timers that are due, the first in order of (deadline, offset) first: a binary heap.
struct DueTimers: ~Copyable {
    struct Timer: BitwiseCopyable {
        var deadline: EventTime
        /// Offset of the combo's latest counted gift.
        var offset: Int64
        var index: UInt32

        static func < (left: Timer, right: Timer) -> Bool {
            if left.deadline != right.deadline { return left.deadline < right.deadline }
            return left.offset < right.offset
        }
    }

    private static let nothing = Timer(deadline: .zero, offset: 0, index: 0)
    private var timers = Slab<Timer>(capacity: 64, filledWith: DueTimers.nothing)
    private var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func insert(_ timer: Timer) {
        timers.reserve(count + 1, filledWith: Self.nothing)
        var place = count
        count += 1
        while place > 0, timer < timers[(place - 1) / 2] {
            timers[place] = timers[(place - 1) / 2]
            place = (place - 1) / 2
        }
        timers[place] = timer
    }

    mutating func removeFirst() -> UInt32 {
        precondition(count > 0, "no timer is due")
        let first = timers[0].index
        count -= 1
        let last = timers[count]
        var place = 0
        while place * 2 + 1 < count {
            var child = place * 2 + 1
            if child + 1 < count, timers[child + 1] < timers[child] { child += 1 }
            guard timers[child] < last else { break }
            timers[place] = timers[child]
            place = child
        }
        timers[place] = last
        return first
    }
}
