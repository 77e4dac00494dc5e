internal import ComboCore
internal import WorkerRuntime

/// `giftcombo bench`: how fast the program's parts are.
let benchCommand = Subcommand(
    name: "bench",
    summary: "measure the engine, catch-up and latency on real brokers, a restore, the gateway",
    operands: "engine|pipeline|latency|scale|restore|overlay",
    operandCount: 1...1,
    options: Subcommand.Option.configuration.filter { $0.name != "print-config" } + [
        Subcommand.Option(
            "live",
            value: "N",
            repeats: true,
            meaning: "combos that are live at once (1000, 20000 and 500000, one after the other)"
        ),
        Subcommand.Option(
            "events",
            value: "N",
            meaning: "events in a round (200000), or of a catch-up (1000000)"
        ),
        Subcommand.Option("partitions", value: "N", meaning: "of the input topic (4)"),
        Subcommand.Option("workers", value: "N", meaning: "of the measured process (1)"),
        Subcommand.Option("records", value: "N", meaning: "changelog records (1000000)"),
        Subcommand.Option("rounds", value: "N", meaning: "rounds (5); 0: see below"),
        Subcommand.Option("seed", value: "N", meaning: "the same seed gives the same events (1)"),
        Subcommand.Option("only", value: "WHAT", meaning: "time or memory"),
        Subcommand.Option("clients", value: "N", meaning: "overlays that read (2000)"),
        Subcommand.Option("silent", value: "N", meaning: "overlays that never read (0)"),
        Subcommand.Option("rooms", value: "N", meaning: "rooms that they watch (50)"),
        Subcommand.Option("rate", value: "N", meaning: "events or commands a second (2000)"),
        Subcommand.Option(
            "duration",
            value: "TIME",
            meaning: "how long events are timed (20s), or commands come (10s)"
        ),
        Subcommand.Option(
            "warm-up",
            value: "TIME",
            meaning: "how long events (5s) or commands (2s) are not timed"
        ),
        Subcommand.Option("json", meaning: "one JSON object a line for each measurement"),
    ],
    details: """
        engine: one partition from a record's bytes to its commands' bytes, without Kafka and
        without changelog: parse, combo, timers, encode, with default settings. Senders tap in
        bursts of six on average, one record in 100 is delivered twice, one in 200 late, one in
        1000 can't be read; the rate is such that about --live combos are live.

        Time: the warm-up is 6 s of event time, and until as many remembered keys are forgotten as
        are added (66 s, or 200,000 keys). Then the events of all rounds are made, in one run of
        memory, and only after that measured; ns an event is CPU time of the median round.

        Memory: what the state's stores hold, free room included, a key: of --live combos that live
        at once, and of as many remembered keys (at most 200,000); with 8 event ids, names of 19 B
        on average, no pictures.

        A process can't count its instructions and heap allocations; valgrind can. With --rounds 0
        the events of one round are made and not measured: what callgrind counts of it is to be
        subtracted from what it counts of --rounds 1. deploy/checks/instructions does that.

        pipeline: --events with duplicates, late and unreadable ones among them, 27,000 combos live
        at once, are written to topics of their own at kafka.bootstrap.servers; then `giftcombo run
        --stop-at-end` catches up with them, with default settings or those given by --config and
        --set. Events a second go from its first record to its last commit; CPU is the whole
        process's, its start included. No warm-up. The topics are deleted at the end.

        latency: --rate events a second, each with the moment of its sending as its time, to
        `giftcombo run` on topics of its own, and when the commands can be read (read_committed):
        show and update from their gift's time, hide and end from their deadline.

        scale: what an event costs with 1000, 20000 and 500000 live combos (engine), and on 4 and
        24 partitions with 1 and 2 workers (pipeline).

        restore: a changelog of --records records, as a partition with 20,000 live combos writes it,
        is made in a topic of its own at kafka.bootstrap.servers, and restored --rounds times as a
        worker does it; the topic is deleted at the end.

        overlay: --clients connect to the gateway at overlay.listen, --rate commands a second are
        written to output.topic at kafka.bootstrap.servers, and every client must get every command
        of its room once and in order, or be dropped and told the rest by a snapshot: else exit
        code 1. The time is that from a command's making to its client's reading it.
        """,
    run: bench
)

private func bench(
    _ arguments: ParsedArguments,
    _ context: CommandContext
) throws(CommandFailure) {
    switch arguments.operands[0] {
    case "engine": try benchEngine(arguments, context)
    case "pipeline": try benchPipeline(arguments, context)
    case "latency": try benchLatency(arguments, context)
    case "scale": try benchScale(arguments, context)
    case "restore": try benchRestore(arguments, context)
    case "overlay": try benchOverlay(arguments, context)
    default:
        throw benchCommand.usage("nothing to measure called \"\(arguments.operands[0])\"")
    }
}

private func benchRestore(
    _ arguments: ParsedArguments,
    _ context: CommandContext
) throws(CommandFailure) {
    let reader = OptionReader(arguments)
    let records = try reader.value("records", .integer(1...50_000_000)) ?? 1_000_000
    let rounds = try reader.value("rounds", .integer(1...100)) ?? 3
    let seed = try reader.value("seed", .integer(0...Int64.max)) ?? 1
    let loaded = try context.configuration(from: arguments)
    let measurements = try RestoreBenchmark(loaded.configuration).run(
        records: Int(records),
        rounds: Int(rounds),
        seed: UInt64(seed)
    )
    for measurement in measurements {
        let isJSON = arguments.has("json")
        context.output.write(isJSON ? measurement.json : measurement.text)
    }
}

private func benchOverlay(
    _ arguments: ParsedArguments,
    _ context: CommandContext
) throws(CommandFailure) {
    let reader = OptionReader(arguments)
    var plan = OverlayLoadPlan()
    if let count = try reader.value("clients", .integer(0...100_000)) { plan.clients = Int(count) }
    if let count = try reader.value("silent", .integer(0...100_000)) { plan.silent = Int(count) }
    if let count = try reader.value("rooms", .integer(1...10_000)) { plan.rooms = Int(count) }
    if let count = try reader.value("rate", .integer(1...100_000)) { plan.rate = Int(count) }
    if let time = try reader.value("duration", .duration(1_000...3_600_000)) {
        plan.duration = time
    }
    if let time = try reader.value("warm-up", .duration(0...3_600_000)) { plan.warmUp = time }
    plan.base = SystemClock().wall.milliseconds
    let loaded = try context.configuration(from: arguments)
    let measurement = try OverlayBenchmark(loaded.configuration, plan).run()
    context.output.write(arguments.has("json") ? measurement.json : measurement.text)
    guard measurement.isWhole else {
        throw CommandFailure(.failure, "not every overlay got every command of its room")
    }
}

extension RestoreMeasurement {
    fileprivate var text: String {
        "\(recordsPerSecond) changelog records a second: \(records) records (\(bytes / 1_000_000) "
            + "MB) in \(totalMilliseconds) ms, \(readMilliseconds) of them until all were read; "
            + "\(keys) keys\n"
    }

    fileprivate var json: String {
        "{\"records\":\(records),\"keys\":\(keys),\"bytes\":\(bytes),\"read_ms\":"
            + "\(readMilliseconds),\"total_ms\":\(totalMilliseconds),\"records_per_s\":"
            + "\(recordsPerSecond)}\n"
    }
}

func benchEngine(
    _ arguments: ParsedArguments,
    _ context: CommandContext
) throws(CommandFailure) {
    let options: EngineBenchmarkOptions
    do {
        options = try EngineBenchmarkOptions(arguments)
    } catch {
        throw benchCommand.usage(error.messages[0])
    }
    measureEngine(options, arguments, context)
}

/// Measures and prints, one number of live combos after the other.
func measureEngine(
    _ options: EngineBenchmarkOptions,
    _ arguments: ParsedArguments,
    _ context: CommandContext
) {
    for live in options.live {
        let measurement = EngineBenchmark.measure(live: live, options)
        let isJSON = arguments.has("json")
        context.output.write(isJSON ? measurement.json(options) : measurement.text(options))
        context.output.flush()
    }
}

extension EngineBenchmarkOptions {
    fileprivate init(_ arguments: ParsedArguments) throws(CommandFailure) {
        let reader = OptionReader(arguments)
        let counts = ValueType<Int64>.integer(1...5_000_000)
        var given: [Int] = []
        for text in arguments.values(of: "live") {
            guard let count = counts.read(text) else {
                throw reader.usage("--live \"\(text)\" is not allowed; allowed: \(counts.allowed)")
            }
            given.append(Int(count))
        }
        if !given.isEmpty { live = given }
        if let number = try reader.value("events", .integer(1...10_000_000)) {
            events = Int(number)
        }
        if let isTime = try reader.value("only", .choice([("time", true), ("memory", false)])) {
            measuresTime = isTime
            measuresMemory = !isTime
        }
        if let number = try reader.value("rounds", .integer(0...100)) { rounds = Int(number) }
        if let number = try reader.value("seed", .integer(0...Int64.max)) { seed = UInt64(number) }
    }
}
