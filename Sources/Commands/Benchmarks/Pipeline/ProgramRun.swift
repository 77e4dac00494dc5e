internal import Glibc

/// This program, run once more as a process of its own, so that nothing else counts as its cost.
final class ProgramRun {
    private let id: pid_t
    private let output: Int32
    private var isReaped = false

    /// Starts it; its standard error is ours.
    ///
    /// - Parameters:
    ///   - arguments: The subcommand and its options.
    ///   - environment: All that it gets.
    /// - Throws: The system has no room for it.
    init(_ arguments: [String], environment: [String: String]) throws(CommandFailure) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw Self.failure("pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[1]) }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        // The signals that we wait for are blocked here, and would be there.
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let words = unsafe (["giftcombo"] + arguments).map { unsafe strdup($0) }
        let variables = unsafe environment.map { unsafe strdup("\($0)=\($1)") }
        defer { unsafe (words + variables).forEach { unsafe free($0) } }
        var child = pid_t()
        let code = unsafe posix_spawn(
            &child,
            "/proc/self/exe",
            &actions,
            &attributes,
            words + [nil],
            variables + [nil]
        )
        guard code == 0 else {
            close(ends[0])
            errno = code
            throw Self.failure("posix_spawn")
        }
        id = child
        output = ends[0]
    }

    deinit {
        if !isReaped {
            kill(id, SIGKILL)
            _ = reap()
        }
        close(output)
    }

    /// Processor time that it has used so far, microseconds.
    var cpuMicroseconds: Int64 {
        var clock = clockid_t()
        var time = timespec()
        guard unsafe clock_getcpuclockid(id, &clock) == 0,
            unsafe clock_gettime(clock, &time) == 0
        else { return 0 }
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }

    /// Its resident memory now, bytes.
    var residentBytes: Int64 {
        guard let bytes = try? readSmallFile("/proc/\(id)/statm") else { return 0 }
        let words = String(decoding: bytes, as: UTF8.self).split(separator: " ")
        return words.count > 1 ? (Int64(words[1]) ?? 0) * Int64(getpagesize()) : 0
    }

    /// Asks it to stop in order.
    func requestStop() {
        kill(id, SIGTERM)
    }

    /// Whether it has ended by itself.
    var hasEnded: Bool {
        var information = unsafe siginfo_t()
        let options = WEXITED | WNOHANG | WNOWAIT
        let code = unsafe waitid(P_PID, id_t(id), &information, options)
        return unsafe code == 0 && information.si_signo == SIGCHLD
    }

    /// Waits for its end; what it has printed.
    ///
    /// - Throws: It did not end with exit code 0.
    func finish() throws(CommandFailure) -> String {
        var text: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe read(output, &chunk, chunk.count)
            if count > 0 { text += chunk.prefix(count) }
            if count == 0 || (count < 0 && errno != EINTR) { break }
        }
        let status = reap()
        guard status == 0 else {
            // The low seven bits are the signal that ended it, the next eight its exit code.
            let signal = status & 0x7f
            let how = signal == 0 ? "exit code \(status >> 8)" : "signal \(signal)"
            throw CommandFailure(.failure, "the measured process ended with \(how)")
        }
        return String(decoding: text, as: UTF8.self)
    }

    private func reap() -> Int32 {
        var status: Int32 = 0
        while unsafe waitpid(id, &status, 0) == -1, errno == EINTR {}
        isReaped = true
        return status
    }

    private static func failure(_ call: String) -> CommandFailure {
        CommandFailure(
            .failure,
            unsafe "this program can't be run again: \(call): \(String(cString: strerror(errno)))"
        )
    }
}
