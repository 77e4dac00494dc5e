package import ComboCore
internal import Glibc

/// The machine's clocks.
package struct SystemClock: WorkerClock {
    /// Creates the clock.
    package init() {}

    /// The machine's time of day.
    package var wall: WallTime {
        WallTime(milliseconds: nanoseconds(CLOCK_REALTIME) / 1_000_000)
    }

    /// Milliseconds since some moment, never going back.
    package var monotonic: MonotonicTime {
        MonotonicTime(milliseconds: nanoseconds(CLOCK_MONOTONIC) / 1_000_000)
    }

    /// The same in microseconds.
    package var monotonicMicroseconds: Int64 { nanoseconds(CLOCK_MONOTONIC) / 1000 }

    /// Lets the calling thread wait.
    package func sleep(milliseconds: Int64) {
        var rest = timespec(
            tv_sec: Int(milliseconds / 1000),
            tv_nsec: Int(milliseconds % 1000) * 1_000_000
        )
        unsafe nanosleep(&rest, nil)
    }

    private func nanoseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
