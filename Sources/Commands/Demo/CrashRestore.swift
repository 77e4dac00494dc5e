internal import Glibc
internal import Synchronization

/// Gives the terminal back when the process dies of a signal of its own: a trap, an assertion of a
/// library.
///
/// Afterwards the signal kills the process as it would have. The handler does only what one may:
/// an atomic load, `tcsetattr` and `write`.
enum CrashRestore {
    /// What puts colours, line ends, cursor and the first screen back.
    static let leaveText: StaticString = "\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

    /// Where the settings lie that are to be restored; 0: nothing is to be done.
    private static let saved = Atomic<UInt>(0)
    private static let signals = [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP]

    /// Restores these settings on a crash from now on.
    static func arm(_ settings: termios) {
        // Kept for as long as the process lives: a crash may come at any moment.
        let place = UnsafeMutablePointer<termios>.allocate(capacity: 1)
        unsafe place.initialize(to: settings)
        saved.store(UInt(bitPattern: place), ordering: .releasing)
        for number in signals {
            signal(number) { number in
                CrashRestore.restore()
                signal(number, SIG_DFL)
                raise(number)
            }
        }
    }

    /// Leaves crashes alone again.
    static func disarm() {
        saved.store(0, ordering: .releasing)
        for number in signals { signal(number, SIG_DFL) }
    }

    private static func restore() {
        let address = saved.load(ordering: .acquiring)
        guard let settings = unsafe UnsafePointer<termios>(bitPattern: address) else { return }
        unsafe tcsetattr(STDOUT_FILENO, TCSANOW, settings)
        unsafe write(STDOUT_FILENO, leaveText.utf8Start, leaveText.utf8CodeUnitCount)
    }
}
