internal import ComboCore
internal import KafkaClient
internal import Telemetry
internal import WorkerRuntime

/// `giftcombo generate`: gift events as IM servers would send them.
let generateCommand = Subcommand(
    name: "generate",
    summary: "make gift events as IM servers send them, as lines or into a topic",
    operands: "",
    operandCount: 0...0,
    options: Subcommand.Option.configuration + [
        Subcommand.Option("topic", value: "T", meaning: "write to this topic, not to lines"),
        Subcommand.Option(
            "from",
            value: "FILE",
            repeats: true,
            meaning: "write recordings, as replay reads them, into the topic"
        ),
        Subcommand.Option(
            "rate",
            value: "N",
            meaning: "events a second; 0: as fast as possible (lines: 0, a topic: 1000)"
        ),
        Subcommand.Option("events", value: "N", meaning: "end after so many records"),
        Subcommand.Option("duration", value: "TIME", meaning: "end after this time of traffic"),
        Subcommand.Option("seed", value: "N", meaning: "the same seed gives the same bytes"),
        Subcommand.Option(
            "density",
            value: "N",
            meaning: "with --rate 0: events in a second of their timestamps (1000)"
        ),
        Subcommand.Option("users", value: "N", meaning: "how many senders there are (20000)"),
        Subcommand.Option("rooms", value: "N", meaning: "how many live rooms there are (500)"),
        Subcommand.Option(
            "start",
            value: "MS",
            meaning: "time of the first event, epoch ms (lines: 1760000000000, a topic: now)"
        ),
        Subcommand.Option("partitions", value: "N", meaning: "of the lines (4)"),
        Subcommand.Option(
            "duplicates",
            value: "PERCENT",
            meaning: "events that are delivered twice (0)"
        ),
        Subcommand.Option(
            "late",
            value: "PERCENT",
            meaning: "events whose timestamp is up to 1.5 s too early (0)"
        ),
        Subcommand.Option(
            "unreadable",
            value: "PERCENT",
            meaning: "records that are no gift events (0)"
        ),
        Subcommand.Option(
            "totals",
            value: "PERCENT",
            meaning: "senders whose messages carry running totals (10)"
        ),
    ],
    details: """
        Prints lines that `giftcombo replay -` reads, or writes to --topic with
        kafka.bootstrap.servers from -c, the environment or --set. Records are keyed by user_id, and
        their partitions are those of Java's clients (murmur2).

        Without --events and --duration it goes on until it is stopped. In a topic the events are of
        now: paced ones begin now, those of --rate 0 are a backlog that ends now. A seed that is not
        given is 1 for lines, and new each time for a topic, where a second run with the same event
        ids would be duplicates.

        --from writes each record to its recorded partition with its recorded timestamp, key and
        bytes, without transactions, so that in a fresh topic the offsets are the recorded ones.
        """,
    run: generate
)

private func generate(
    _ arguments: ParsedArguments,
    _ context: CommandContext
) throws(CommandFailure) {
    let loaded = try context.configuration(from: arguments)
    guard !arguments.has("print-config") else {
        context.output.write(ConfigurationText.properties(of: loaded))
        return
    }
    let options: GenerateOptions
    do {
        options = try GenerateOptions(arguments, SystemClock().wall.milliseconds)
    } catch {
        throw generateCommand.usage(error.messages[0])
    }
    switch options.destination {
    case .lines(let partitions):
        let writer = LineRecordWriter(context.output, partitions: partitions)
        let signals = options.rate == nil ? nil : startedSignals()
        var generation = Generation(options, writer: writer, signals: signals, context)
        try generation.run()
    case .topic(let topic):
        let settings = try KafkaSettings(checked: loaded.configuration.forGenerating())
        // Before the client's threads start, for each inherits the mask.
        let signals = startedSignals()
        let log = Logger(loaded.configuration)
        defer { log.drain() }
        let writer = try TopicRecordWriter(
            settings,
            topic: topic,
            placement: options.isRecording ? .asRecorded : .byKey,
            events: LoggedEvents(log)
        )
        var generation = Generation(options, writer: writer, signals: signals, context)
        try generation.run()
    }
}

private func startedSignals() -> StopSignals {
    let signals = StopSignals()
    signals.start { _ in }
    return signals
}

extension GenerateOptions {
    fileprivate var isRecording: Bool {
        if case .recording = origin { true } else { false }
    }
}

extension Configuration {
    /// A producer that is watched gives up sooner than the library's five minutes: a broker that
    /// comes back within half a minute costs nothing, a longer outage is told.
    fileprivate func forGenerating() -> Configuration {
        var copy = self
        let names = ["message.timeout.ms", "delivery.timeout.ms"]
        if names.allSatisfy({ copy.kafka[$0] == nil }) {
            copy.kafka["message.timeout.ms"] = "30000"
        }
        return copy
    }
}
