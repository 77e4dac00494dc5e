package import ComboCore

/// A moment of a clock that never jumps, in milliseconds since some start.
package struct MonotonicTime: Comparable, Hashable, Sendable {
    /// Milliseconds since the clock's start.
    package var milliseconds: Int64

    /// Creates a moment.
    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    package static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.milliseconds < right.milliseconds
    }

    /// Milliseconds from `earlier` to here.
    package func since(_ earlier: MonotonicTime) -> Int64 {
        milliseconds - earlier.milliseconds
    }
}

/// The two clocks a worker reads; the simulator has its own.
package protocol WorkerClock: Sendable {
    /// Time as people and producers know it; may jump.
    var wall: WallTime { get }
    /// Time that only goes on, also while the machine's wall clock is set; it counts a pause of the
    /// process.
    var monotonic: MonotonicTime { get }
    /// Microseconds of ``monotonic``, for durations.
    var monotonicMicroseconds: Int64 { get }
    /// Waits without doing anything.
    func sleep(milliseconds: Int64)
}
