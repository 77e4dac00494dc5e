internal import Glibc

/// Tells a person how far a long run is: one line that overwrites itself, on a terminal only.
struct ProgressLine {
    private let errors: Output
    private let isShown: Bool
    private var shownAt: UInt64 = 0
    private var hasText = false

    /// Often enough to look alive, seldom enough to cost nothing.
    private static let interval: UInt64 = 200_000_000
    /// How many steps go by between two looks at the clock.
    static let stride = 4_096

    /// Creates a line on standard error.
    init(on errors: Output) {
        self.errors = errors
        isShown = errors.isTerminal
    }

    /// Shows the text if it is time to.
    mutating func update(_ text: @autoclosure () -> String) {
        guard isShown else { return }
        let now = monotonicNanoseconds()
        guard now - shownAt >= ProgressLine.interval else { return }
        shownAt = now
        hasText = true
        errors.write("\r\u{1B}[K\(text())")
        errors.flush()
    }

    /// Removes the line, so that what follows starts at the left.
    mutating func clear() {
        guard hasText else { return }
        hasText = false
        errors.write("\r\u{1B}[K")
        errors.flush()
    }
}

/// Nanoseconds since some moment in the past, never going back.
private func monotonicNanoseconds() -> UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
