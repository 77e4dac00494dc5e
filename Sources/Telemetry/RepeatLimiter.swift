/// Decides which of several equal log events are printed.
///
/// The first event with a key is printed at once and opens the key's window. Those that follow
/// within the window are counted. The first one at or after its end is printed with the count of
/// those that were not, and opens the next window. No count is lost: a key that must make room for
/// another, and ``drain()`` at the end, give out the last event that was held back.
struct RepeatLimiter: Sendable {
    /// An event to print, and how many equal ones were not printed before it.
    struct Admitted: Equatable, Sendable {
        var event: LogEvent
        /// When it happened: one that was held back is printed later than that.
        var happenedAt: Int64
        var repeated: Int
    }

    private struct Entry {
        var key: String
        var windowEnd: Int64
        var heldBack: Int
        var latest: LogEvent
        var latestAt: Int64
    }

    private let windowMilliseconds: Int64
    private let capacity: Int
    /// In order of opening, so the first is the one that makes room.
    private var entries: [Entry] = []

    /// Takes the length of a window and how many keys are known at a time.
    init(windowMilliseconds: Int64, capacity: Int) {
        precondition(windowMilliseconds >= 0 && capacity > 0, "a window and room for a key")
        self.windowMilliseconds = windowMilliseconds
        self.capacity = capacity
    }

    /// What to print now that `event` has happened, in order.
    ///
    /// - Complexity: O(known keys), a few hundred at most; events of life are rare.
    mutating func admit(_ event: LogEvent, key: String, now: Int64) -> [Admitted] {
        guard let index = entries.firstIndex(where: { $0.key == key }) else {
            var admitted: [Admitted] = []
            if entries.count == capacity {
                admitted = Self.held(entries.removeFirst())
            }
            open(key, event, now)
            return admitted + [Admitted(event: event, happenedAt: now, repeated: 0)]
        }
        guard now >= entries[index].windowEnd else {
            entries[index].heldBack += 1
            entries[index].latest = event
            entries[index].latestAt = now
            return []
        }
        let repeated = entries.remove(at: index).heldBack
        open(key, event, now)
        return [Admitted(event: event, happenedAt: now, repeated: repeated)]
    }

    /// Forgets all keys; what was held back is to be printed now.
    mutating func drain() -> [Admitted] {
        defer { entries = [] }
        return entries.flatMap(Self.held)
    }

    private mutating func open(_ key: String, _ event: LogEvent, _ now: Int64) {
        let (end, overflow) = now.addingReportingOverflow(windowMilliseconds)
        let windowEnd = overflow ? .max : end
        entries.append(
            Entry(key: key, windowEnd: windowEnd, heldBack: 0, latest: event, latestAt: now)
        )
    }

    /// The event held back last stands for all of them: one is printed, the others are its repeats.
    private static func held(_ entry: Entry) -> [Admitted] {
        guard entry.heldBack > 0 else { return [] }
        let repeated = entry.heldBack - 1
        return [
            Admitted(event: entry.latest, happenedAt: entry.latestAt, repeated: repeated)
        ]
    }
}
