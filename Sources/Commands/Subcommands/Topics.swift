internal import KafkaClient
internal import StreamPorts
internal import WorkerRuntime

/// `giftcombo topics`: makes the four topics, or checks them.
let topicsCommand = Subcommand(
    name: "topics",
    summary: "create the topics that are missing, and check those that are there",
    operands: "",
    operandCount: 0...0,
    options: Subcommand.Option.configuration + [
        Subcommand.Option(
            "partitions",
            value: "N",
            meaning: "partitions of an input topic that is to be created (default 8)"
        ),
        Subcommand.Option(
            "replication",
            value: "N",
            meaning: "copies of each partition (default: the cluster's)"
        ),
        Subcommand.Option(
            "reset-state",
            meaning: "first delete the changelog, with what is counted of live combos"
        ),
        Subcommand.Option("dry-run", meaning: "only say what would be done"),
    ],
    details: """
        The output and dead-letter topics get as many partitions as the input; the changelog must
        have exactly as many, and is grown with it. Settings of topics that are there are left
        alone. It returns when the brokers know of what was created.

        --reset-state is for a changelog that can't go with the committed offsets: they were set
        back or have expired, or the input was created anew. The group must be stopped. Offsets stay
        as they are; combos that were live start again, and gifts delivered twice around that
        moment count twice.
        """,
    run: { arguments, context throws(CommandFailure) in
        let loaded = try context.configuration(from: arguments)
        guard !arguments.has("print-config") else {
            context.output.write(ConfigurationText.properties(of: loaded))
            return
        }
        try TopicMaker(loaded.configuration, arguments, context).run()
    }
)

/// Brings the topics to what they should be.
private struct TopicMaker {
    private static let timeout: Int32 = 15_000
    private static let defaultPartitions = 8

    private let configuration: Configuration
    private let context: CommandContext
    private let partitions: Int
    private let replication: Int?
    private let isDryRun: Bool
    private let resetsState: Bool
    private let admin: KafkaAdmin

    init(
        _ configuration: Configuration,
        _ arguments: ParsedArguments,
        _ context: CommandContext
    ) throws(CommandFailure) {
        self.configuration = configuration
        self.context = context
        isDryRun = arguments.has("dry-run")
        resetsState = arguments.has("reset-state")
        partitions =
            try Self.number(arguments, "partitions", 1...10_000) ?? Self.defaultPartitions
        replication = try Self.number(arguments, "replication", 1...15)
        let settings = try KafkaSettings(checked: configuration)
        do {
            admin = try KafkaAdmin(
                settings,
                clientID: "\(configuration.groupID)-topics",
                events: SilentClientEvents()
            )
        } catch {
            throw CommandFailure(.usage, "\(error)")
        }
    }

    func run() throws(CommandFailure) {
        do throws(StreamError) {
            try make()
        } catch {
            throw CommandFailure(.failure, "\(error)")
        }
    }

    private func make() throws(StreamError) {
        if resetsState {
            try StateReset(configuration, admin, context.output).run(isDryRun: isDryRun)
        }
        let survey = try TopicSurvey(configuration, admin)
        let count = survey.inputPartitions > 0 ? survey.inputPartitions : partitions
        var problems: [String] = []
        for topic in survey.topics {
            guard let present = topic.partitions else {
                try create(topic, count)
                continue
            }
            if topic.key == "changelog.topic", present < count {
                try grow(topic, from: present, to: count)
                continue
            }
            for problem in topic.problems {
                context.output.write("\(problem)\n")
                problems.append(problem)
            }
            if topic.problems.isEmpty {
                context.output.write("\(topic.name): fine, \(present) partitions\n")
            }
        }
        if let problem = problems.first {
            throw StreamError(.refused, operation: "topics", code: "TOPIC", detail: problem)
        }
        guard !isDryRun else { return }
        try awaitVisible()
    }

    /// Waits until the brokers know of all topics, which is a moment after their creation: a
    /// worker that starts in between would find one missing.
    private func awaitVisible() throws(StreamError) {
        let clock = SystemClock()
        let start = clock.monotonic
        while let problem = try visibilityProblem() {
            let waited = clock.monotonic.milliseconds - start.milliseconds
            guard waited < Int64(Self.timeout) else { throw problem }
            clock.sleep(milliseconds: 50)
        }
    }

    /// What any of the brokers finds missing, each asked by a client that knows no other yet.
    private func visibilityProblem() throws(StreamError) -> StreamError? {
        do {
            for broker in try admin.brokers(timeoutMilliseconds: Self.timeout) {
                var copy = configuration
                copy.kafka["bootstrap.servers"] = "\(broker.host):\(broker.port)"
                copy.kafka["metadata.broker.list"] = nil
                let one = try KafkaAdmin(
                    KafkaSettings(copy.kafka),
                    clientID: "\(configuration.groupID)-topics",
                    events: SilentClientEvents()
                )
                defer { one.close(timeoutMilliseconds: 1000) }
                if let problem = try TopicSurvey(configuration, one).firstProblem {
                    return problem
                }
            }
            return nil
        } catch {
            guard error.disposition == .retriable || error.code == "UNKNOWN_TOPIC_OR_PART" else {
                throw error
            }
            return error
        }
    }

    private func create(_ topic: TopicSurvey.Topic, _ count: Int) throws(StreamError) {
        let settings = TopicSettings.wanted(of: topic.key)
        let described = settings.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        let what = "\(topic.name): \(count) partitions, " + described.joined(separator: ", ")
        guard !isDryRun else {
            context.output.write("would create \(what)\n")
            return
        }
        try admin.create(
            NewTopic(
                name: topic.name,
                partitions: count,
                replication: replication,
                settings: settings
            ),
            timeoutMilliseconds: Self.timeout
        )
        context.output.write("created \(what)\n")
    }

    private func grow(
        _ topic: TopicSurvey.Topic,
        from present: Int,
        to count: Int
    ) throws(StreamError) {
        let what = "\(topic.name) from \(present) to \(count) partitions"
        guard !isDryRun else {
            context.output.write("would grow \(what)\n")
            return
        }
        try admin.grow(topic.name, toPartitions: count, timeoutMilliseconds: Self.timeout)
        context.output.write("grew \(what)\n")
    }

    private static func number(
        _ arguments: ParsedArguments,
        _ option: String,
        _ bounds: ClosedRange<Int>
    ) throws(CommandFailure) -> Int? {
        guard let text = arguments.value(of: option) else { return nil }
        guard let number = Int(text), bounds.contains(number) else {
            throw CommandFailure(
                .usage,
                "topics: --\(option) \(text): a number from \(bounds.lowerBound) to "
                    + "\(bounds.upperBound) is needed"
            )
        }
        return number
    }
}
