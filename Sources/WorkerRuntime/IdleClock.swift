internal import ComboCore

/// Says when the wall clock may move partitions that have nothing to read (DESIGN 3).
///
/// A pause must not end combos whose gifts wait in the log. So the wall clock has a say only after
/// a full grace of loop turns none of which came late, and after an outage or a late turn each
/// partition must first be told anew that it is at its end.
struct IdleClock {
    /// How far behind the wall clock partitions follow, milliseconds; nil: never.
    let grace: Int64?
    /// Since when turns came in time.
    private var steadySince: MonotonicTime?
    private var lastTurn: MonotonicTime?

    init(grace: Int64?) {
        self.grace = grace
    }

    /// Notes a turn of the loop; answers whether it came late, so that ends known before count no
    /// more.
    mutating func turn(_ now: MonotonicTime) -> Bool {
        defer { lastTurn = now }
        guard let grace else { return false }
        guard let lastTurn else {
            steadySince = now
            return false
        }
        guard now.since(lastTurn) > grace / 2 else { return false }
        steadySince = now
        return true
    }

    /// Notes an outage: a broker away, a commit that failed.
    mutating func outage(_ now: MonotonicTime) {
        steadySince = now
    }

    /// The time to which the clock of a partition at its end may go; nil: the wall clock has no
    /// say.
    func target(_ now: MonotonicTime, wall: WallTime) -> EventTime? {
        guard let grace, let steadySince, now.since(steadySince) >= grace else { return nil }
        return EventTime(milliseconds: wall.milliseconds).advanced(byMilliseconds: -grace)
    }
}
