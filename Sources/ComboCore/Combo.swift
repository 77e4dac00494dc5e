/// A combo's states, and what leads from one to the next.
///
/// The windows are inclusive: a deadline has passed when it is *strictly before* the clock.
///
///                 gift: count = n, show                  hide_at passed: hide
///       (absent) ────────────────────────▶ displayed ────────────────────────▶ retained
///          ▲                                │     ▲                             │    │
///          │                                └─────┘                             │    │
///          │          gift: count += n, update, hide_at = t + hide.after        │    │
///          │                                      ▲     gift: count += n,       │    │
///          │                                      └──── show (resumed) ─────────┘    │
///          └───────────────────── end_at passed: end (final count) ─────────────────┘
///
/// An ended combo's key may be remembered (``RememberedKey``), which is no state of a combo: the
/// next gift makes a new one.
enum ComboPhase: UInt8, BitwiseCopyable {
    /// Not a combo: a vacant cell.
    case vacant
    /// On screen; leaves at `hide_at` (to `retained`), or stays with every gift.
    case displayed
    /// Off screen, the count is kept; leaves with a gift (to `displayed`) or at `end_at` (ends).
    case retained
}

/// One live combo: a cell of the partition's table.
struct LiveCombo: PoolCell {
    static let vacant = LiveCombo()

    var key = KeyHash(high: 0, low: 0)
    var firstOffset: Int64 = 0
    /// Offset of the latest counted gift: what orders timers of equal deadlines.
    var lastOffset: Int64 = 0
    var count: Int64 = 0
    var value: Int64 = 0
    /// When it hides, or hid; it ends `retainFor` later.
    var hideAt = EventTime.zero
    /// Commands so far.
    var sequence: UInt32 = 0
    var sender = ByteArena.none
    var gift = UInt32.max
    var memory = KeyMemoryStore.none
    var lane: UInt16 = 0
    var phase = ComboPhase.vacant
    var marks = KeyMarks()

    var nextVacant: UInt32 {
        get { sequence }
        set { sequence = newValue }
    }

    /// Counts a gift; the combo is displayed from now on.
    @inline(__always)
    mutating func add(_ increment: Int64, value: Int64, offset: Int64, hideAt: EventTime) {
        count = saturatingSum(count, increment)
        self.value = saturatingSum(self.value, value)
        lastOffset = offset
        self.hideAt = hideAt
        phase = .displayed
    }

    /// Makes the combo's next command, as far as the combo knows it.
    @inline(__always)
    mutating func write(_ kind: CommandKind, into command: inout OverlayCommand) {
        sequence += 1
        command.kind = kind
        command.resumed = false
        command.lane = lane
        command.sequence = sequence
        command.comboOffset = firstOffset
        command.count = count
        command.value = value
        command.hideAt = hideAt
    }
}

/// An ended combo's key, kept so that nothing is counted twice: a cell of the partition's memory.
///
/// The cells form a list in the order of their ends, which is the order in which they are
/// forgotten.
struct RememberedKey: PoolCell {
    static let vacant = RememberedKey()

    var key = KeyHash(high: 0, low: 0)
    var endAt = EventTime.zero
    var lastOffset: Int64 = 0
    var memory = KeyMemoryStore.none
    var older = UInt32.max
    var newer = UInt32.max
    var marks = KeyMarks()

    var nextVacant: UInt32 {
        get { newer }
        set { newer = newValue }
    }
}

/// What the changelog knows of a key.
struct KeyMarks: BitwiseCopyable {
    /// Changed since the changes were last taken.
    var isChanged = false
    /// The changelog holds a record of the key.
    var isLogged = false
}

/// What conflation needs beside a combo; kept only where `combo.update.min.interval` is set.
struct Conflation: BitwiseCopyable {
    /// The number in the combo's last command.
    var shownCount: Int64 = 0
    /// When its last `show` or `update` went out.
    var shownAt = EventTime.zero
    /// Whether gifts are counted that no command has shown.
    var isHolding = false
}
