internal import Glibc
internal import KafkaClient
internal import StreamPorts
internal import WorkerRuntime

/// Topics of its own on the configured brokers, deleted at the end, and `giftcombo run` on them.
struct BenchmarkDeployment {
    /// How long a question to the brokers may take, milliseconds.
    static let timeout: Int32 = 30_000

    let settings: KafkaSettings
    let topics: Configuration.TopicNames
    let partitions: Int
    private let kafka: [String: String]
    private let group: String
    private let options: [String]
    private let environment: [String: String]
    private let signals: StopSignals

    /// - Parameters:
    ///   - loaded: Where the brokers are.
    ///   - partitions: Of each topic.
    ///   - arguments: Whose `--config` and `--set` the measured process gets too.
    ///   - context: Whose environment it gets.
    ///   - signals: What stops it.
    /// - Throws: Wrong settings of the client library.
    init(
        _ loaded: LoadedConfiguration,
        partitions: Int,
        _ arguments: ParsedArguments,
        _ context: CommandContext,
        _ signals: StopSignals
    ) throws(CommandFailure) {
        settings = try KafkaSettings(checked: loaded.configuration)
        kafka = loaded.configuration.kafka
        self.partitions = partitions
        self.signals = signals
        let clock = SystemClock()
        group = "\(loaded.configuration.groupID)-bench-\(getpid())-\(clock.monotonic.milliseconds)"
        topics = Configuration.TopicNames(
            input: "\(group)-gifts",
            output: "\(group)-commands",
            deadLetters: "\(group)-dlq",
            changelog: "\(group)-combos"
        )
        var options = arguments.value(of: "config").map { ["--config", $0] } ?? []
        let changed = [
            "input.topic": topics.input, "output.topic": topics.output,
            "dlq.topic": topics.deadLetters, "changelog.topic": topics.changelog,
            "group.id": group, "admin.listen": "127.0.0.1:0", "log.level": "warning",
        ]
        let kept = arguments.values(of: "set").filter { setting in
            !changed.keys.contains { setting.hasPrefix("\($0)=") }
        }
        for setting in kept + changed.map({ "\($0)=\($1)" }).sorted() {
            options += ["--set", setting]
        }
        self.options = options
        environment = context.environment
    }

    /// Makes the topics, does `body`, and deletes them, whatever has become of it.
    func withTopics<Result>(
        _ body: () throws(CommandFailure) -> Result
    ) throws(CommandFailure) -> Result {
        let admin = try asking { () throws(StreamError) in
            try KafkaAdmin(settings, clientID: group, events: SilentClientEvents())
        }
        defer { admin.close(timeoutMilliseconds: 1000) }
        let names = [
            "input.topic": topics.input, "output.topic": topics.output,
            "dlq.topic": topics.deadLetters, "changelog.topic": topics.changelog,
        ]
        defer {
            for name in names.values { try? admin.delete(name, timeoutMilliseconds: Self.timeout) }
        }
        for (key, name) in names {
            var wanted = TopicSettings.wanted(of: key)
            // The events' times are old: by them, retention would delete what comes.
            wanted["retention.ms"] = "-1"
            let topic = NewTopic(name: name, partitions: partitions, settings: wanted)
            try asking { () throws(StreamError) in
                try admin.create(topic, timeoutMilliseconds: Self.timeout)
            }
        }
        return try body()
    }

    /// What the brokers answer; their refusal is told as a command's failure.
    func asking<Answer>(
        _ call: () throws(StreamError) -> Answer
    ) throws(CommandFailure) -> Answer {
        do {
            return try call()
        } catch {
            throw CommandFailure(kafka: error, settings)
        }
    }

    /// Starts `giftcombo run` on the topics.
    func start(workers: Int, _ more: [String] = []) throws(CommandFailure) -> ProgramRun {
        let arguments = ["run"] + options + ["--set", "workers=\(workers)"] + more
        return try ProgramRun(arguments, environment: environment)
    }

    /// Fails if somebody wants us to end, so that everything is taken away.
    func check() throws(CommandFailure) {
        if signals.isStopping { throw CommandFailure(.failure, "stopped by a signal") }
    }

    /// A producer for the input topic, with changes to the client library's settings.
    func makeLoader(_ changes: [String: String] = [:]) throws(CommandFailure) -> KafkaLoader {
        try asking { () throws(StreamError) in
            try KafkaLoader(
                try KafkaSettings(kafka.merging(changes) { $1 }),
                topic: topics.input,
                clientID: group,
                events: SilentClientEvents()
            )
        }
    }

    /// A reader of the overlay commands, from their beginning on.
    func makeReader() throws(CommandFailure) -> TopicReader {
        try asking { () throws(StreamError) in
            let reader = try TopicReader(
                settings,
                topic: topics.output,
                readCommitted: true,
                group: group,
                clientID: group,
                events: SilentClientEvents()
            )
            try reader.assign(
                (0..<partitions).map { PartitionOffset(partition: Int32($0), offset: 0) }
            )
            return reader
        }
    }
}
