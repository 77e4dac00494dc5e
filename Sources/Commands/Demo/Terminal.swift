internal import Glibc
internal import Synchronization

/// The terminal on standard output, while a full-screen view has it.
///
/// The view lives on the alternate screen, without cursor, echo and automatic line ends.
/// ``leave()`` puts all of it back; any thread may call it, any number of times, and after it
/// nothing is drawn. Standard input has no part in it: it may be something else, or closed by a
/// library that ran out of descriptors.
final class Terminal: Sendable {
    private struct State {
        var isActive = false
        var saved = termios()
    }

    private let state = Mutex(State())
    private static let enterText = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[2J"
    private static let leaveText = "\(CrashRestore.leaveText)"
    private static let defaultSize = (rows: 24, columns: 80)

    /// Whether there is a terminal that can show a view.
    static func isAvailable(_ environment: [String: String]) -> Bool {
        isatty(STDOUT_FILENO) == 1 && environment["TERM", default: "dumb"] != "dumb"
    }

    /// Takes the terminal.
    func enter() {
        state.withLock { state in
            guard !state.isActive else { return }
            state.isActive = true
            // A stopped process would miss its heartbeats, and its screen would stay behind.
            signal(SIGTSTP, SIG_IGN)
            if unsafe tcgetattr(STDOUT_FILENO, &state.saved) == 0 {
                CrashRestore.arm(state.saved)
                var changed = state.saved
                changed.c_lflag &= ~tcflag_t(ECHO)
                unsafe tcsetattr(STDOUT_FILENO, TCSANOW, &changed)
            }
            Self.writeAll(Self.enterText)
        }
    }

    /// Gives the terminal back as it was.
    func leave() {
        state.withLock { state in
            guard state.isActive else { return }
            state.isActive = false
            CrashRestore.disarm()
            unsafe tcsetattr(STDOUT_FILENO, TCSANOW, &state.saved)
            Self.writeAll(Self.leaveText)
            signal(SIGTSTP, SIG_DFL)
        }
    }

    /// Writes a frame, unless the terminal was given back.
    func draw(_ frame: String) {
        state.withLock { state in
            if state.isActive { Self.writeAll(frame) }
        }
    }

    /// The size now; asked before each frame, which is sooner than a signal tells.
    var size: (rows: Int, columns: Int) {
        var window = winsize()
        guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &window) == 0, window.ws_row > 0,
            window.ws_col > 0
        else { return Self.defaultSize }
        return (Int(window.ws_row), Int(window.ws_col))
    }

    private static func writeAll(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { bytes in
                unsafe write(STDOUT_FILENO, bytes.baseAddress, bytes.count)
            }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                // The terminal is gone, and whoever looked at it too.
                return
            }
        }
    }
}
