internal import Glibc
internal import Synchronization
internal import Telemetry
internal import WorkerRuntime

/// SIGTERM and SIGINT as an orderly stop; the second one ends the process at once.
///
/// SIGHUP is one of them, as it comes when a terminal is closed; but a daemon only tells of it,
/// instead of being killed by what asks others to read their configuration again.
///
/// The signals are blocked in every thread and taken by one that waits for them, so that nothing
/// ever runs inside a signal handler.
final class StopSignals: Sendable {
    private struct State {
        var isStopping = false
        var action: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    /// Blocks the signals in this thread and in all that it starts later.
    init() {
        var set = Self.set
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Whether a stop was asked for.
    var isStopping: Bool { state.withLock { $0.isStopping } }

    /// Does `action` when a stop is asked for; at once if it was already.
    func onStop(_ action: @escaping @Sendable () -> Void) {
        let isLate = state.withLock { state in
            state.action = action
            return state.isStopping
        }
        if isLate { action() }
    }

    /// Starts to wait for signals; `tell` gets the name of the first that stops.
    ///
    /// With `onHangup` SIGHUP stops only what was started in a terminal, and is told otherwise.
    func start(
        tell: @escaping @Sendable (String) -> Void,
        onHangup: (@Sendable () -> Void)? = nil
    ) {
        // Asked now: once it is closed, a terminal is none any more.
        let onHangup = isatty(STDIN_FILENO) == 1 ? nil : onHangup
        startThread {
            var set = Self.set
            var signal: Int32 = 0
            while true {
                guard unsafe sigwait(&set, &signal) == 0 else { continue }
                if signal == SIGHUP, let onHangup {
                    onHangup()
                    continue
                }
                let (isSecond, action) = self.state.withLock { state in
                    defer { state.isStopping = true }
                    return (state.isStopping, state.action)
                }
                if isSecond { _exit(128 + signal) }
                tell(Self.name(of: signal))
                action?()
            }
        }
    }

    /// Starts to wait for signals in a daemon, which logs them.
    func start(_ log: Logger) {
        start { signal in
            log.info("stopping", ["signal": "\(signal)"])
        } onHangup: {
            log.info("sighup", ["next": "nothing is reloaded; restart to change anything"])
        }
    }

    private static func name(of signal: Int32) -> String {
        switch signal {
        case SIGTERM: "SIGTERM"
        case SIGHUP: "SIGHUP"
        default: "SIGINT"
        }
    }

    private static var set: sigset_t {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        unsafe sigaddset(&set, SIGTERM)
        unsafe sigaddset(&set, SIGINT)
        unsafe sigaddset(&set, SIGHUP)
        return set
    }
}
