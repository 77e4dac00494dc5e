/// A moment in event time: what records say of themselves, in milliseconds since the epoch.
///
/// Event time, wall clock and monotonic time are three types, so that they are never mixed. Sums
/// saturate: no record can make a deadline wrap around.
package struct EventTime: Comparable, Hashable, Sendable, BitwiseCopyable {
    /// Milliseconds since the epoch.
    package var milliseconds: Int64

    /// Where a partition's clock starts when nothing is known of the time.
    package static let zero = EventTime(milliseconds: 0)
    /// The end of time; no deadline lies behind it.
    package static let max = EventTime(milliseconds: .max)

    /// Creates a moment from milliseconds since the epoch.
    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// The moment `duration` milliseconds later, at most ``max``.
    package func advanced(byMilliseconds duration: Int64) -> EventTime {
        let (sum, overflow) = milliseconds.addingReportingOverflow(duration)
        return EventTime(milliseconds: overflow ? (duration < 0 ? .min : .max) : sum)
    }

    package static func < (left: EventTime, right: EventTime) -> Bool {
        left.milliseconds < right.milliseconds
    }
}

/// A moment of this machine's wall clock, in milliseconds since the epoch.
package struct WallTime: Comparable, Hashable, Sendable, BitwiseCopyable {
    /// Milliseconds since the epoch.
    package var milliseconds: Int64

    /// Creates a moment from milliseconds since the epoch.
    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    package static func < (left: WallTime, right: WallTime) -> Bool {
        left.milliseconds < right.milliseconds
    }
}
