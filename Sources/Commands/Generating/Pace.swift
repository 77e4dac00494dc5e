internal import WorkerRuntime

/// Holds a producer back to the time that its records say.
struct Pace {
    private let clock = SystemClock()
    private let started: MonotonicTime
    /// Longest wait in one go, so that a request to stop is soon seen, milliseconds.
    private static let longestWait: Int64 = 100

    /// The time starts now.
    init() {
        started = SystemClock().monotonic
    }

    /// Milliseconds since the start.
    var elapsed: Int64 { clock.monotonic.since(started) }

    /// Waits until `time` milliseconds after the start, or until `isStopping`.
    ///
    /// `beforeWaiting` is called if there is a wait at all: what is collected shall not wait too.
    func wait(
        until time: Int64,
        unless isStopping: () -> Bool,
        beforeWaiting: () -> Void
    ) {
        guard elapsed < time else { return }
        beforeWaiting()
        while !isStopping() {
            let left = time - elapsed
            guard left > 0 else { return }
            clock.sleep(milliseconds: min(left, Self.longestWait))
        }
    }
}
