// `giftcombo bench pipeline`, `latency` and `scale`: what needs a real broker and a whole process.

/// Measures a catch-up.
func benchPipeline(
    _ arguments: ParsedArguments,
    _ context: CommandContext
) throws(CommandFailure) {
    let plan = try PipelinePlan(arguments)
    let signals = benchmarkSignals()
    let loaded = try context.configuration(from: arguments)
    try measure(plan, loaded, arguments, context, signals)
}

/// Measures how soon commands come.
func benchLatency(
    _ arguments: ParsedArguments,
    _ context: CommandContext
) throws(CommandFailure) {
    let reader = OptionReader(arguments)
    var plan = LatencyPlan()
    if let rate = try reader.value("rate", .integer(1...100_000)) { plan.rate = Int(rate) }
    if let time = try reader.value("duration", .duration(1_000...3_600_000)) {
        plan.duration = time
    }
    if let time = try reader.value("warm-up", .duration(0...3_600_000)) { plan.warmUp = time }
    let shared = try PipelinePlan(arguments)
    plan.partitions = shared.partitions
    plan.workers = shared.workers
    plan.seed = shared.seed
    let signals = benchmarkSignals()
    let deployment = try BenchmarkDeployment(
        context.configuration(from: arguments),
        partitions: plan.partitions,
        arguments,
        context,
        signals
    )
    let measurement = try LatencyBenchmark(deployment, plan).run()
    context.output.write(arguments.has("json") ? measurement.json : measurement.text)
}

/// Measures what an event costs where there is more of everything.
func benchScale(
    _ arguments: ParsedArguments,
    _ context: CommandContext
) throws(CommandFailure) {
    let given = try PipelinePlan(arguments)
    let signals = benchmarkSignals()
    let loaded = try context.configuration(from: arguments)
    var engine = EngineBenchmarkOptions()
    engine.seed = given.seed
    engine.measuresMemory = false
    measureEngine(engine, arguments, context)
    for partitions in [4, 24] {
        for workers in [1, 2] {
            var plan = given
            plan.partitions = partitions
            plan.workers = workers
            try measure(plan, loaded, arguments, context, signals)
        }
    }
}

private func measure(
    _ plan: PipelinePlan,
    _ loaded: LoadedConfiguration,
    _ arguments: ParsedArguments,
    _ context: CommandContext,
    _ signals: StopSignals
) throws(CommandFailure) {
    let deployment = try BenchmarkDeployment(
        loaded,
        partitions: plan.partitions,
        arguments,
        context,
        signals
    )
    let measurement = try PipelineBenchmark(deployment, plan).run()
    context.output.write(arguments.has("json") ? measurement.json : measurement.text)
    context.output.flush()
}

/// Signals that let a benchmark take away what it has made.
private func benchmarkSignals() -> StopSignals {
    let signals = StopSignals()
    signals.start(tell: { _ in })
    return signals
}

extension PipelinePlan {
    /// What the options say.
    fileprivate init(_ arguments: ParsedArguments) throws(CommandFailure) {
        self.init()
        let reader = OptionReader(arguments)
        if let count = try reader.value("events", .integer(1...100_000_000)) {
            events = Int(count)
        }
        if let count = try reader.value("partitions", .integer(1...1_000)) {
            partitions = Int(count)
        }
        if let count = try reader.value("workers", .integer(1...64)) { workers = Int(count) }
        if let number = try reader.value("seed", .integer(0...Int64.max)) { seed = UInt64(number) }
    }
}
