/// A moment on the monotonic clock until which a call may wait.
struct Deadline {
    private let instant: ContinuousClock.Instant

    init(milliseconds: Int32) {
        instant = .now.advanced(by: .milliseconds(Int64(max(milliseconds, 0))))
    }

    var hasPassed: Bool { .now >= instant }

    /// What is left, rounded up, so that a wait never ends just before the deadline.
    var remainingMilliseconds: Int32 {
        let left = ContinuousClock.now.duration(to: instant)
        guard left > .zero else { return 0 }
        let milliseconds = left / Duration.milliseconds(1)
        return Int32(clamping: Int64(milliseconds.rounded(.up)))
    }
}
