internal import Glibc
internal import Synchronization

/// The times that log lines need.
package struct LogClock: Sendable {
    let wallMilliseconds: @Sendable () -> Int64
    let monotonicMilliseconds: @Sendable () -> Int64

    /// Takes the wall clock (milliseconds since the epoch), for timestamps, and a clock that never
    /// goes back (milliseconds), for the windows of repeats.
    package init(
        wallMilliseconds: @escaping @Sendable () -> Int64,
        monotonicMilliseconds: @escaping @Sendable () -> Int64
    ) {
        self.wallMilliseconds = wallMilliseconds
        self.monotonicMilliseconds = monotonicMilliseconds
    }

    /// The machine's clocks.
    package static let system = LogClock(
        wallMilliseconds: { clockNanoseconds(CLOCK_REALTIME) / 1_000_000 },
        monotonicMilliseconds: { clockNanoseconds(CLOCK_MONOTONIC) / 1_000_000 }
    )
}

/// Takes finished lines, each with its line feed, one at a time.
package typealias LogSink = @Sendable (String) -> Void

/// Writes one line for each event of life: start, assigned, ready, revoked, fenced, error, stop.
///
/// Never once a record, and never a record's content. A value that may be copied to all threads.
/// An event with an equal key within a window is counted instead of printed (``RepeatLimiter``).
/// The lock is held while a line is written, which keeps lines whole and in order.
package struct Logger: Sendable {
    private final class Shared: Sendable {
        let format: LogFormat
        let minimumLevel: LogLevel
        let clock: LogClock
        let redactor: Redactor
        let sink: LogSink
        let limiter: Mutex<RepeatLimiter>

        init(
            format: LogFormat,
            minimumLevel: LogLevel,
            clock: LogClock,
            redactor: Redactor,
            sink: @escaping LogSink
        ) {
            self.format = format
            self.minimumLevel = minimumLevel
            self.clock = clock
            self.redactor = redactor
            self.sink = sink
            limiter = Mutex(
                RepeatLimiter(
                    windowMilliseconds: Logger.repeatWindowMilliseconds,
                    capacity: Logger.repeatKeys
                )
            )
        }

        func write(_ admitted: [RepeatLimiter.Admitted]) {
            for one in admitted {
                let age = clock.monotonicMilliseconds() - one.happenedAt
                let time = clock.wallMilliseconds() - age
                sink(format.line(one.event, wallMilliseconds: time, repeated: one.repeated))
            }
        }
    }

    /// How long equal events are counted before one is printed again: 10 s, often enough to see
    /// that trouble lasts, rarely enough to read the rest.
    private static let repeatWindowMilliseconds: Int64 = 10_000
    /// How many keys are known at a time: 256, more than a process has kinds of trouble.
    private static let repeatKeys = 256

    private let shared: Shared
    private var context: LogFields = [:]

    /// Creates a logger; `sink` must not log itself.
    package init(
        format: LogFormat = .text,
        minimumLevel: LogLevel = .info,
        redactor: Redactor = Redactor(),
        clock: LogClock = .system,
        sink: @escaping LogSink = Logger.standardError
    ) {
        shared = Shared(
            format: format,
            minimumLevel: minimumLevel,
            clock: clock,
            redactor: redactor,
            sink: sink
        )
    }

    /// The same logger with fields that stand first in each of its lines.
    package func with(_ fields: LogFields) -> Logger {
        var logger = self
        logger.context = context.followed(by: fields)
        return logger
    }

    /// Logs an event.
    ///
    /// Events with an equal `repeatKey` are rate-limited together; without one, those that would
    /// give the same line.
    package func log(
        _ level: LogLevel,
        _ event: String,
        _ fields: @autoclosure () -> LogFields = [:],
        repeatKey: String? = nil
    ) {
        guard level >= shared.minimumLevel else { return }
        let all = context.followed(by: fields())
        let safe = shared.redactor.redacted(LogEvent(level: level, name: event, fields: all))
        let key = repeatKey ?? LogFormat.text.line(safe, wallMilliseconds: 0, repeated: 0)
        shared.limiter.withLock { limiter in
            let now = shared.clock.monotonicMilliseconds()
            shared.write(limiter.admit(safe, key: key, now: now))
        }
    }

    /// Logs at debug level; see ``log(_:_:_:repeatKey:)``.
    package func debug(
        _ event: String,
        _ fields: @autoclosure () -> LogFields = [:],
        repeatKey: String? = nil
    ) {
        log(.debug, event, fields(), repeatKey: repeatKey)
    }

    /// Logs at info level; see ``log(_:_:_:repeatKey:)``.
    package func info(
        _ event: String,
        _ fields: @autoclosure () -> LogFields = [:],
        repeatKey: String? = nil
    ) {
        log(.info, event, fields(), repeatKey: repeatKey)
    }

    /// Logs at warning level; see ``log(_:_:_:repeatKey:)``.
    package func warning(
        _ event: String,
        _ fields: @autoclosure () -> LogFields = [:],
        repeatKey: String? = nil
    ) {
        log(.warning, event, fields(), repeatKey: repeatKey)
    }

    /// Logs at error level; see ``log(_:_:_:repeatKey:)``.
    package func error(
        _ event: String,
        _ fields: @autoclosure () -> LogFields = [:],
        repeatKey: String? = nil
    ) {
        log(.error, event, fields(), repeatKey: repeatKey)
    }

    /// Prints what is still held back, with its counts; before the process ends.
    package func drain() {
        shared.limiter.withLock { limiter in
            shared.write(limiter.drain())
        }
    }

    /// Writes a line to standard error; one that can't be written is dropped.
    package static let standardError: LogSink = { line in
        var rest = Array(line.utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { bytes in
                unsafe write(STDERR_FILENO, bytes.baseAddress, bytes.count)
            }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                return
            }
        }
    }
}
