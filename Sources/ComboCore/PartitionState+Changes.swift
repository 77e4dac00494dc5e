// The way to the changelog and back: which keys changed, and a key's state as one value.

/// The state of one key, borrowed from a partition's state or from a changelog record.
package struct KeyState: BitwiseCopyable {
    /// A combo that is displayed or retained.
    package struct Combo: BitwiseCopyable {
        /// Whether it is displayed; if not, it is retained.
        package var isDisplayed: Bool
        /// Offset of its first gift, which names it.
        package var firstOffset: Int64
        /// Units counted.
        package var count: Int64
        /// Total price.
        package var value: Int64
        /// When it hides, or was hidden.
        package var hideAt: EventTime
        /// Number of its last command.
        package var sequence: UInt32
        /// The number in its last command.
        package var shownCount: Int64
        /// When its last `show` or `update` went out; zero where updates are not conflated.
        package var shownAt: EventTime
        /// Whether gifts are counted that no command has shown.
        package var isHolding: Bool
        /// The texts of its latest gift.
        package var fields: CommandFields

        /// Creates a combo.
        package init(
            isDisplayed: Bool,
            firstOffset: Int64,
            count: Int64,
            value: Int64,
            hideAt: EventTime,
            sequence: UInt32,
            shownCount: Int64,
            shownAt: EventTime,
            isHolding: Bool,
            fields: CommandFields
        ) {
            self.isDisplayed = isDisplayed
            self.firstOffset = firstOffset
            self.count = count
            self.value = value
            self.hideAt = hideAt
            self.sequence = sequence
            self.shownCount = shownCount
            self.shownAt = shownAt
            self.isHolding = isHolding
            self.fields = fields
        }
    }

    /// Which key it is.
    package var key: KeyHash
    /// Offset of the latest counted gift.
    package var lastOffset: Int64
    /// The live combo; nil: it has ended, and only the memory is left.
    package var combo: Combo?
    /// When the combo ended; meaningless while it lives.
    package var endAt: EventTime
    /// Event ids and totals.
    package var memory: KeyMemoryView

    /// Creates a key's state.
    package init(
        key: KeyHash,
        lastOffset: Int64,
        combo: Combo?,
        endAt: EventTime,
        memory: KeyMemoryView
    ) {
        self.key = key
        self.lastOffset = lastOffset
        self.combo = combo
        self.endAt = endAt
        self.memory = memory
    }
}

/// A key that changed.
package struct KeyChange: BitwiseCopyable {
    /// Which key it is.
    package var key: KeyHash
    /// The key's latest state; nil: it was forgotten.
    package var state: KeyState?

    /// Creates a change.
    package init(key: KeyHash, state: KeyState?) {
        self.key = key
        self.state = state
    }
}

extension PartitionState {
    /// Number of entries that ``nextChange(into:)`` will look at; at least the number of changed
    /// keys.
    package var changeCount: Int { changes.count }

    /// Takes the next changed key, each once, in the order in which they changed first; false: none
    /// is left.
    ///
    /// A key that came and went without having been taken in between is left out. The state is
    /// borrowed until the next call.
    package mutating func nextChange(into change: inout KeyChange) -> Bool {
        releaseEnded()
        while let entry = changes.next() {
            var slot = 0
            change.key = entry.key
            change.state = nil
            guard let found = find(entry.key, at: &slot) else {
                guard entry.wasLogged else { continue }
                return true
            }
            if found.isRemembered {
                guard remembered[found.index].marks.isChanged else { continue }
                remembered[found.index].marks = KeyMarks(isChanged: false, isLogged: true)
                change.state = rememberedState(found.index)
            } else {
                guard live[found.index].marks.isChanged else { continue }
                live[found.index].marks = KeyMarks(isChanged: false, isLogged: true)
                change.state = liveState(found.index)
            }
            return true
        }
        changes.removeAll()
        return false
    }

    /// Puts a key's state back; every key once, ended ones in order of (``KeyState/endAt``,
    /// offset).
    ///
    /// - Precondition: The key is not in the state.
    package mutating func restore(_ state: KeyState) {
        releaseEnded()
        var memory = KeyMemoryStore.none
        for index in 0..<(unsafe state.memory.ids.count) {
            memory = memories.add(memory, id: unsafe state.memory.ids[index])
        }
        for index in 0..<(unsafe state.memory.streaks.count) {
            let streak = unsafe state.memory.streaks[index]
            memory = memories.raise(memory, streak: streak.id, to: streak.total)
        }
        if state.memory.unnamedTotal > 0 {
            memory = memories.raise(memory, streak: nil, to: state.memory.unnamedTotal)
        }
        let marks = KeyMarks(isChanged: false, isLogged: true)
        guard let combo = state.combo else {
            let index = remembered.take()
            remembered[index] = RememberedKey(
                key: state.key,
                endAt: state.endAt,
                lastOffset: state.lastOffset,
                memory: memory,
                marks: marks
            )
            keys.insert(state.key, .remembered(index))
            linkRemembered(index)
            return
        }
        restore(combo, state.key, state.lastOffset, memory, marks)
    }

    private mutating func restore(
        _ combo: KeyState.Combo,
        _ key: KeyHash,
        _ lastOffset: Int64,
        _ memory: KeyMemoryStore.Reference,
        _ marks: KeyMarks
    ) {
        let index = live.take()
        live[index] = LiveCombo(
            key: key,
            firstOffset: combo.firstOffset,
            lastOffset: lastOffset,
            count: combo.count,
            value: combo.value,
            hideAt: combo.hideAt,
            sequence: combo.sequence,
            sender: texts.addSender(combo.fields),
            gift: texts.addGift(combo.fields),
            memory: memory,
            lane: lane(ofUser: combo.fields.userID, lanes: configuration.lanes),
            phase: combo.isDisplayed ? .displayed : .retained,
            marks: marks
        )
        keys.insert(key, .live(index))
        if configuration.updateMinInterval > 0 {
            conflations.reserve(Int(index) + 1, filledWith: Conflation())
            conflations[index] = Conflation(
                shownCount: combo.shownCount,
                shownAt: combo.shownAt,
                isHolding: combo.isHolding
            )
        }
        rearm(index, was: nil)
    }

    mutating func markChanged(live index: UInt32) {
        guard changes.isOn, !live[index].marks.isChanged else { return }
        changes.add(live[index].key, live[index].marks, isNew: true)
        live[index].marks.isChanged = true
    }

    private mutating func liveState(_ index: UInt32) -> KeyState {
        let combo = live[index]
        let conflated = configuration.updateMinInterval > 0
        return KeyState(
            key: combo.key,
            lastOffset: combo.lastOffset,
            combo: KeyState.Combo(
                isDisplayed: combo.phase == .displayed,
                firstOffset: combo.firstOffset,
                count: combo.count,
                value: combo.value,
                hideAt: combo.hideAt,
                sequence: combo.sequence,
                shownCount: conflated ? conflations[index].shownCount : combo.count,
                shownAt: conflated ? conflations[index].shownAt : .zero,
                isHolding: conflated && conflations[index].isHolding,
                fields: texts.fields(combo.sender, combo.gift)
            ),
            endAt: .zero,
            memory: memories.view(combo.memory)
        )
    }

    private mutating func rememberedState(_ index: UInt32) -> KeyState {
        let cell = remembered[index]
        return KeyState(
            key: cell.key,
            lastOffset: cell.lastOffset,
            combo: nil,
            endAt: cell.endAt,
            memory: memories.view(cell.memory)
        )
    }
}

/// Keys that changed since they were last taken, in order.
struct ChangedKeys: ~Copyable {
    struct Entry: BitwiseCopyable {
        var key: KeyHash
        /// The changelog held a record of the key when it changed.
        var wasLogged: Bool
    }

    private static let nothing = Entry(key: KeyHash(high: 0, low: 0), wasLogged: false)

    /// Whether changes are kept at all.
    let isOn: Bool
    private var entries: Slab<Entry>
    private(set) var count = 0
    private var taken = 0

    init(isOn: Bool) {
        self.isOn = isOn
        entries = Slab(capacity: isOn ? 1024 : 1, filledWith: Self.nothing)
    }

    /// Adds a key; one that is not new is among them already.
    mutating func add(_ key: KeyHash, _ marks: KeyMarks, isNew: Bool) {
        guard isOn, isNew else { return }
        entries.reserve(count + 1, filledWith: Self.nothing)
        entries[count] = Entry(key: key, wasLogged: marks.isLogged)
        count += 1
    }

    mutating func next() -> Entry? {
        guard taken < count else { return nil }
        taken += 1
        return entries[taken - 1]
    }

    mutating func removeAll() {
        count = 0
        taken = 0
    }
}
