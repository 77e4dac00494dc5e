/// What applying an event did.
package enum EventOutcome: Sendable, BitwiseCopyable {
    /// Counted; a command says so.
    case command
    /// Counted; a timer will send the command (`combo.update.min.interval`).
    case held
    /// An event id that the key remembers.
    case duplicate
    /// A running total that adds nothing.
    case nothingAdded
    /// An end marker alone.
    case marker
}

/// The combos of one partition, its clock and its timers: the machine of ``ComboPhase`` for many
/// keys.
///
/// A caller applies a record in three steps: find its time (``time(sentAt:timestamp:arrivedAt:)``),
/// advance the clock to it, taking the commands of the timers that fire one by one, then apply the
/// event:
///
///     while state.advance(to: time, into: &command) { write(command) }
///     if state.apply(event, offset: offset, into: &command) == .command { write(command) }
///
/// Everything follows from the sequence of calls: there is no clock of its own, nothing random, and
/// no iteration in the order of a hash. In steady state nothing is allocated.
///
/// Methods on the record path are `mutating` even where they only look: others get a copy of the
/// whole value, of half a kilobyte, on the stack.
package struct PartitionState: ~Copyable {
    /// How combos are counted.
    package let configuration: ComboConfiguration
    /// The partition's clock; it never goes back.
    package internal(set) var clock = EventTime.zero

    var live = CellPool<LiveCombo>(capacity: 256)
    var remembered = CellPool<RememberedKey>(capacity: 64)
    var keys = KeyTable(capacity: 256)
    var texts = TextStore()
    var memories: KeyMemoryStore
    /// By index of the live combo; empty unless updates are conflated.
    var conflations = Slab<Conflation>(capacity: 1, filledWith: Conflation())
    var wheel: TimerWheel
    var due = DueTimers()
    /// Ends of the list of remembered keys.
    var oldestRemembered = UInt32.max
    var newestRemembered = UInt32.max
    /// A combo whose `end` was just given out; its texts live until the next call.
    var ended = UInt32.max
    var changes: ChangedKeys
    /// Whether equal keys have equal ids in every field that commands carry.
    let keyHoldsIDs: Bool

    /// Creates an empty partition.
    ///
    /// - Parameters:
    ///   - configuration: How combos are counted.
    ///   - tracksChanges: Whether ``nextChange(into:)`` will be asked which keys changed.
    ///   - tickShift: log₂ of the milliseconds in a tick of the timer wheel; output does not depend
    ///   on it.
    package init(
        configuration: ComboConfiguration,
        tracksChanges: Bool = false,
        tickShift: Int64 = 0
    ) {
        self.configuration = configuration
        keyHoldsIDs = configuration.key == [.room, .user, .recipient, .gift]
        memories = KeyMemoryStore(idsMax: configuration.dedupIDs)
        wheel = TimerWheel(tickShift: tickShift)
        changes = ChangedKeys(isOn: tracksChanges)
    }

    /// Combos that are displayed or retained.
    package var liveCount: Int { live.count - (ended == .max ? 0 : 1) }
    /// Ended keys that are remembered.
    package var rememberedCount: Int { remembered.count }
    /// No combo has a deadline before this time; it may be earlier than the first deadline.
    package var nextTimer: EventTime { wheel.nextTime }
    /// Bytes that the state holds, free room included.
    package var byteCount: Int {
        live.byteCount + remembered.byteCount + keys.byteCount + texts.byteCount
            + memories.byteCount + conflations.byteCount + wheel.byteCount
    }

    // MARK: - Clock

    /// The time at which an event counts, before the clock has its say, and whether it was clamped.
    ///
    /// - Parameters:
    ///   - sentAt: When the event says that it was sent, epoch milliseconds.
    ///   - timestamp: Kafka's timestamp of its record, epoch milliseconds.
    ///   - arrivedAt: When the worker got it; nil: unknown (a recording).
    /// - Returns: The time, and whether it was too far ahead, so that the arrival stands in.
    package mutating func time(
        sentAt: Int64?,
        timestamp: Int64,
        arrivedAt: WallTime?
    ) -> (time: EventTime, isClamped: Bool) {
        let arrival = arrivedAt.map { EventTime(milliseconds: $0.milliseconds) }
        let said: Int64
        switch configuration.timeSource {
        case .record: said = timestamp
        case .event: said = sentAt ?? 0
        case .arrival: said = arrival?.milliseconds ?? timestamp
        }
        guard said > 0 else { return (arrival ?? clock, false) }
        let time = EventTime(milliseconds: said)
        if let arrival, time > arrival.advanced(byMilliseconds: configuration.maxAhead) {
            return (arrival, true)
        }
        return (time, false)
    }

    /// Sets the clock of a partition that has done nothing yet.
    package mutating func restoreClock(_ time: EventTime) {
        clock = max(clock, time)
    }

    /// Fires the next timer whose deadline lies before `time`; false: there is none, and the clock
    /// stands at `time`, or where it was if that is later.
    ///
    /// Timers fire in order of (deadline, offset of the combo's latest counted gift); one armed by
    /// a timer takes its place in that order. Ask again until the answer is false before anything
    /// else is done.
    package mutating func advance(to time: EventTime, into command: inout OverlayCommand) -> Bool {
        releaseEnded()
        guard time > clock else { return false }
        while let index = nextDue(before: time) {
            fire(index, before: time, into: &command)
            return true
        }
        forgetKeys(before: time)
        clock = time
        return false
    }

    /// Runs the clock to the end of time: fires the next timer, whatever its deadline; false: none
    /// is left.
    ///
    /// What is remembered is kept. A deadline at the end of time itself fires too.
    package mutating func finish(into command: inout OverlayCommand) -> Bool {
        releaseEnded()
        var index = nextDue(before: .max)
        if index == nil {
            scheduleSaturated()
            index = due.isEmpty ? nil : due.removeFirst()
        }
        guard let index else { return false }
        fire(index, before: .max, into: &command)
        return true
    }

    // MARK: - Events

    /// Applies an event at the clock.
    ///
    /// Its steps are written out in place (`@inline(__always)`): an event is large, and each call
    /// would hand on a copy of it.
    ///
    /// - Parameters:
    ///   - event: The event; its texts are copied where they are kept.
    ///   - offset: Its record's offset, higher than any before.
    ///   - command: Gets the command, if there is one; valid until the next call.
    /// - Returns: What became of the event.
    package mutating func apply(
        _ event: UnsafePointer<GiftEvent>,
        offset: Int64,
        into command: inout OverlayCommand
    ) -> EventOutcome {
        let event = unsafe BorrowedEvent(event)
        releaseEnded()
        precondition(due.isEmpty, "the clock is advanced until no timer is due")
        if event.streakEnd && event.count == nil && event.streakCount == nil { return .marker }
        let key = self.key(of: event, offset: offset)
        var slot = 0
        let found = find(key, at: &slot)
        let memory = memory(of: found)
        let eventID = event.eventID.isEmpty ? nil : KeyHash.low(event.eventID)
        if let eventID, memories.contains(memory, id: eventID) { return .duplicate }
        guard let increment = increment(of: event, memory) else { return .nothingAdded }

        let index = liveCombo(found, at: slot, key, event, offset)
        remember(index, event, eventID)
        return count(index, increment, event, offset, into: &command)
    }

    /// What the event adds; nil: its running total adds nothing.
    @inline(__always)
    private mutating func increment(
        of event: BorrowedEvent,
        _ memory: KeyMemoryStore.Reference
    ) -> Int64? {
        if configuration.increment == .one { return 1 }
        guard let total = event.streakCount else { return event.count ?? 1 }
        let streak = event.streakID.isEmpty ? nil : KeyHash.low(event.streakID)
        let known = memories.total(memory, streak: streak)
        return total > known ? total - known : nil
    }

    /// The key's combo, made (with no gift counted yet) if it has none.
    @inline(__always)
    private mutating func liveCombo(
        _ found: KeyReference?,
        at slot: Int,
        _ key: KeyHash,
        _ event: BorrowedEvent,
        _ offset: Int64
    ) -> UInt32 {
        if let found, !found.isRemembered {
            let index = found.index
            let (sender, gift) = (live[index].sender, live[index].gift)
            live[index].sender = texts.updateSender(sender, event, keyHoldsIDs: keyHoldsIDs)
            live[index].gift = texts.updateGift(gift, event, keyHoldsIDs: keyHoldsIDs)
            return index
        }
        return newCombo(found, at: slot, key, event, offset)
    }

    @inline(never)
    private mutating func newCombo(
        _ found: KeyReference?,
        at slot: Int,
        _ key: KeyHash,
        _ event: BorrowedEvent,
        _ offset: Int64
    ) -> UInt32 {
        let fields = event.fields
        let index = live.take()
        var combo = LiveCombo()
        combo.key = key
        combo.firstOffset = offset
        combo.sender = texts.addSender(fields)
        combo.gift = texts.addGift(fields)
        combo.lane = lane(ofUser: event.userID, lanes: configuration.lanes)
        if let found {
            combo.memory = remembered[found.index].memory
            combo.marks = remembered[found.index].marks
            unlinkRemembered(found.index)
            keys.replace(at: slot, key, .live(index))
        } else {
            keys.insert(key, .live(index))
        }
        live[index] = combo
        if configuration.updateMinInterval > 0 {
            conflations.reserve(Int(index) + 1, filledWith: Conflation())
            conflations[index] = Conflation()
        }
        return index
    }

    /// Remembers the event's id and running total.
    @inline(__always)
    private mutating func remember(
        _ index: UInt32,
        _ event: BorrowedEvent,
        _ eventID: UInt64?
    ) {
        if let eventID {
            live[index].memory = memories.add(live[index].memory, id: eventID)
        }
        if configuration.increment == .count, let total = event.streakCount {
            let streak = event.streakID.isEmpty ? nil : KeyHash.low(event.streakID)
            live[index].memory = memories.raise(live[index].memory, streak: streak, to: total)
        }
    }

    /// Counts a gift, moves the timer, and makes the command.
    @inline(__always)
    private mutating func count(
        _ index: UInt32,
        _ increment: Int64,
        _ event: BorrowedEvent,
        _ offset: Int64,
        into command: inout OverlayCommand
    ) -> EventOutcome {
        let phase = live[index].phase
        let previousCount = live[index].count
        let isConflated = configuration.updateMinInterval > 0
        let armed = phase == .vacant ? nil : deadline(index)
        let hideAt = clock.advanced(byMilliseconds: configuration.hideAfter)
        live[index].add(increment, value: event.value, offset: offset, hideAt: hideAt)
        if changes.isOn { markChanged(live: index) }

        var outcome = EventOutcome.command
        if isConflated, phase == .displayed, mustHold(index) {
            conflations[index].isHolding = true
            outcome = .held
        } else {
            let kind: CommandKind = phase == .displayed ? .update : .show
            write(
                kind,
                index,
                at: clock,
                from: previousCount,
                event.fields,
                asRecorded: event.asRecorded,
                into: &command
            )
            command.resumed = phase == .retained
        }
        // A combo that stays displayed only hides later.
        if isConflated || phase != .displayed { rearm(index, was: armed) }
        return outcome
    }

    // MARK: - Commands

    /// Makes a combo's next command; `before` is the count in the previous one.
    ///
    /// Where updates are conflated, the combo's ``Conflation`` knows that count better.
    @inline(__always)
    mutating func write(
        _ kind: CommandKind,
        _ index: UInt32,
        at time: EventTime,
        from before: Int64,
        _ fields: CommandFields,
        asRecorded: Text,
        into command: inout OverlayCommand
    ) {
        live[index].write(kind, into: &command)
        command.previousCount = before
        command.at = time
        command.endAt = command.hideAt.advanced(byMilliseconds: configuration.retainFor)
        command.fields = fields
        command.asRecorded = asRecorded
        if configuration.updateMinInterval > 0, kind == .show || kind == .update {
            command.previousCount = conflations[index].shownCount
            conflations[index] = Conflation(
                shownCount: command.count,
                shownAt: time,
                isHolding: false
            )
        }
    }

    /// Whether a gift at the clock comes too soon after the combo's last command to be shown at
    /// once.
    private mutating func mustHold(_ index: UInt32) -> Bool {
        guard configuration.updateMinInterval > 0 else { return false }
        let shownAt = conflations[index].shownAt
        return clock < shownAt.advanced(byMilliseconds: configuration.updateMinInterval)
    }

    // MARK: - Keys

    /// The event's combo key.
    @inline(__always)
    private mutating func key(of event: BorrowedEvent, offset: Int64) -> KeyHash {
        var hasher = KeyHasher()
        let fields = configuration.key
        if fields.contains(.room) { hasher.absorb(event.roomID) }
        hasher.absorb(event.userID)
        if fields.contains(.recipient) { hasher.absorb(event.recipientID) }
        if fields.contains(.gift) { hasher.absorb(event.giftID) }
        if !event.streakable {
            // Marked, so that no id can look like another key's fields.
            hasher.absorb(event.eventID.isEmpty ? 1 : 2)
            if event.eventID.isEmpty {
                hasher.absorb(UInt64(bitPattern: offset))
            } else {
                hasher.absorb(event.eventID)
            }
        }
        return hasher.finish()
    }

    /// Where the key's state lies; `slot` is left at its entry.
    @inline(__always)
    mutating func find(_ key: KeyHash, at slot: inout Int) -> KeyReference? {
        slot = keys.firstSlot(key)
        while let candidate = keys.candidate(key, at: &slot) {
            let held =
                candidate.isRemembered
                ? remembered[candidate.index].key : live[candidate.index].key
            if held == key { return candidate }
            slot = keys.slot(after: slot)
        }
        return nil
    }

    @inline(__always)
    private mutating func memory(of found: KeyReference?) -> KeyMemoryStore.Reference {
        guard let found else { return KeyMemoryStore.none }
        return found.isRemembered ? remembered[found.index].memory : live[found.index].memory
    }
}

/// The sum, at most Int64.max; both are at least 0.
func saturatingSum(_ left: Int64, _ right: Int64) -> Int64 {
    let (sum, overflow) = left.addingReportingOverflow(right)
    return overflow ? .max : sum
}
