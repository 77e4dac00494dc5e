internal import ComboWire
internal import Glibc
internal import KafkaClient
internal import StreamPorts
internal import WorkerRuntime

extension WorkerConfiguration {
    /// What a worker needs of the program's configuration.
    init(_ configuration: Configuration) {
        self.init()
        groupID = configuration.groupID
        instanceID = configuration.instanceID
        inputTopic = configuration.topics.input
        outputTopic = configuration.topics.output
        deadLetterTopic = configuration.topics.deadLetters
        changelogTopic = configuration.topics.changelog
        combo = configuration.combo
        input = InputRules(configuration.input)
        start = configuration.input.start == .earliest ? .earliest : .latest
        idleGrace = configuration.idleGrace
        commit.interval = configuration.commit.interval
        commit.minInterval = configuration.commit.minInterval
        commit.maxEvents = Int(configuration.commit.maxEvents)
    }
}

extension InputRules {
    /// The `input.…` keys that reading needs.
    init(_ settings: Configuration.InputSettings) {
        self.init()
        maximumBytes = Int(settings.maxBytes)
        checksKey = settings.checksKey
    }
}

extension KafkaSettings {
    /// The `kafka.…` settings of the configuration; what can't be had is wrong usage, all of it
    /// told at once.
    init(checked configuration: Configuration) throws(CommandFailure) {
        let mistakes = Self.mistakes(in: configuration.kafka)
        guard let first = mistakes.first else {
            do {
                try self.init(configuration.kafka)
            } catch {
                throw CommandFailure(.usage, "\(error.operation) \(error.detail)")
            }
            return
        }
        var failure = CommandFailure(.usage, "\(first.operation) \(first.detail)")
        failure.messages += mistakes.dropFirst().map { "\($0.operation) \($0.detail)" }
        throw failure
    }
}

/// The compiler's version that the program was built with.
let swiftVersion: String = {
    #if compiler(>=6.4)
    "6.4 or newer"
    #elseif compiler(>=6.3)
    "6.3"
    #else
    "6.2"
    #endif
}()

/// What the process has used so far.
struct ResourceUsage {
    /// All threads, user and system.
    var cpuMicroseconds: Int64
    /// Largest resident set so far.
    var peakResidentBytes: Int64

    static func ofProcess() -> ResourceUsage {
        var usage = rusage()
        unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        let seconds = Int64(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        let micros = Int64(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)
        return ResourceUsage(
            cpuMicroseconds: seconds * 1_000_000 + micros,
            peakResidentBytes: Int64(usage.ru_maxrss) * 1024
        )
    }
}
