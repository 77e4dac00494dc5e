internal import Glibc
internal import Simulator
internal import Synchronization
internal import WorkerRuntime

/// `giftcombo simulate`: hunts for lost and doubled gifts, seed by seed.
let simulateCommand = Subcommand(
    name: "simulate",
    summary: "run the workers on a simulated cluster and look for lost and doubled gifts",
    operands: "",
    operandCount: 0...0,
    options: [
        Subcommand.Option("seeds", value: "N", meaning: "how many seeds (default 500)"),
        Subcommand.Option("seed-start", value: "S", meaning: "the first seed (default 1)"),
        Subcommand.Option(
            "faults",
            value: "LIST",
            meaning: "only these: kinds, or numbers of a seed's schedule; none"
        ),
        Subcommand.Option("records", value: "N", meaning: "at most so many records a seed"),
        Subcommand.Option("trace", meaning: "print every call and fault of the first seed"),
    ],
    details: """
        Each seed is about a minute of virtual time: two processes with two workers each, a thousand
        records and more, and faults at any call: crashes, pauses, lost answers, rebalances,
        outages,
        time-outs, compaction. What was committed must be what an undisturbed run gives. A seed that
        fails is printed with the shortest schedule that still fails and the command that repeats
        it.
        From 10,000 seeds on every moment of interest must have been met.

        Kinds of faults: \(FaultKind.allCases.map(\.rawValue).joined(separator: ", ")).
        """,
    run: { arguments, context throws(CommandFailure) in
        try Hunt(arguments, context).run()
    }
)

/// Runs seeds on as many threads as there are cores; each simulation has one thread of its own.
private struct Hunt {
    private static let probedSeeds = 10_000

    /// What the threads share.
    private final class Shared: Sendable {
        let next: Atomic<UInt64>
        let totals: Mutex<HuntTotals>
        let running: Atomic<Int>

        init(first: UInt64, threads: Int) {
            next = Atomic(first)
            totals = Mutex(HuntTotals(first: first))
            running = Atomic(threads)
        }
    }

    private let context: CommandContext
    private let template: SimulationOptions
    private let first: UInt64
    private let count: UInt64

    init(_ arguments: ParsedArguments, _ context: CommandContext) throws(CommandFailure) {
        self.context = context
        first = try Self.number(arguments, "seed-start") ?? 1
        count = try Self.number(arguments, "seeds") ?? 500
        var options = SimulationOptions(seed: first)
        options.isTraced = arguments.has("trace")
        options.recordLimit = try Self.number(arguments, "records").map { Int(clamping: $0) }
        if let list = arguments.value(of: "faults") { try Self.select(list, &options) }
        template = options
    }

    private static func number(
        _ arguments: ParsedArguments,
        _ option: String
    ) throws(CommandFailure) -> UInt64? {
        guard let text = arguments.value(of: option) else { return nil }
        guard let number = UInt64(text), number <= UInt64(Int64.max) else {
            throw CommandFailure(.usage, "--\(option) is a number from 0 on, not \(text)")
        }
        return number
    }

    private static func select(
        _ list: String,
        _ options: inout SimulationOptions
    ) throws(CommandFailure) {
        if list == "none" {
            options.keptFaults = []
            return
        }
        var kinds: [FaultKind] = []
        for word in list.split(separator: ",").map(String.init) {
            if let number = Int(word) {
                options.keptFaults = (options.keptFaults ?? []) + [number]
            } else if let kind = FaultKind(rawValue: word) {
                kinds.append(kind)
            } else {
                let names = FaultKind.allCases.map(\.rawValue)
                throw CommandFailure(
                    .usage,
                    "no kind of fault \(word)\(nearestHint(to: word, among: names))"
                )
            }
        }
        if !kinds.isEmpty { options.kinds = kinds }
    }

    func run() throws(CommandFailure) {
        if template.isTraced {
            let report = Simulation(template).run()
            for line in report.trace { context.output.write("\(line)\n") }
            if !report.violations.isEmpty { throw failure(report, template) }
            return
        }
        let started = SystemClock().monotonic
        let totals = hunt()
        let milliseconds = max(1, SystemClock().monotonic.since(started))
        tell(totals, milliseconds, ResourceUsage.ofProcess().cpuMicroseconds)
        if let failed = totals.failure {
            var options = template
            options.seed = failed.seed
            let (shortened, report) = Shrinker.shortened(failed, options)
            throw failure(report, shortened)
        }
        if totals.seeds >= Self.probedSeeds, !totals.missed.isEmpty {
            let names = totals.missed.map(\.rawValue).joined(separator: ", ")
            throw CommandFailure(.failure, "never met in \(totals.seeds) seeds: \(names)")
        }
    }

    private func hunt() -> HuntTotals {
        let cores = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
        let shared = Shared(first: first, threads: cores)
        let (template, end) = (template, first &+ count)
        for _ in 1..<cores {
            startThread { Self.work(shared, template, end) {} }
        }
        var progress = ProgressLine(on: context.errors)
        let started = SystemClock().monotonic
        Self.work(shared, template, end) {
            let seeds = shared.totals.withLock(\.seeds)
            let elapsed = max(1, SystemClock().monotonic.since(started))
            progress.update("\(seeds) of \(count) seeds, \(seeds * 1000 / Int(elapsed)) a second")
        }
        while shared.running.load(ordering: .acquiring) > 0 { SystemClock().sleep(milliseconds: 1) }
        progress.clear()
        return shared.totals.withLock { $0 }
    }

    /// Runs seeds until there are no more, or one has failed.
    private static func work(
        _ shared: Shared,
        _ template: SimulationOptions,
        _ end: UInt64,
        _ afterEach: () -> Void
    ) {
        defer { shared.running.subtract(1, ordering: .releasing) }
        while shared.totals.withLock({ !$0.hasFailed }) {
            let seed = shared.next.add(1, ordering: .relaxed).oldValue
            guard seed < end else { return }
            var options = template
            options.seed = seed
            let report = Simulation(options).run()
            shared.totals.withLock { $0.add(report) }
            afterEach()
        }
    }

    private func tell(_ totals: HuntTotals, _ milliseconds: Int64, _ cpuMicroseconds: Int64) {
        let seeds = max(1, totals.seeds)
        context.output.write(
            """
            seeds \(totals.seeds), \(totals.seeds * 1000 / Int(milliseconds)) a second, \
            \(cpuMicroseconds / Int64(seeds) / 1000) ms of CPU each
            a seed: \(totals.records / seeds) records, \(totals.commands / seeds) commands, \
            \(totals.faults / seeds) faults, \(totals.committed / seeds) transactions committed, \
            \(totals.aborted / seeds) aborted, \(totals.rebalances / seeds) rebalances, \
            \(totals.restores / seeds) states compared, \
            \(Int(totals.milliseconds) / seeds / 1000) s of virtual time

            """
        )
        for probe in Probe.allCases {
            context.output.write("  \(totals.probes[probe])\t\(probe.rawValue)\n")
        }
    }

    private func failure(_ report: RunReport, _ options: SimulationOptions) -> CommandFailure {
        var failure = CommandFailure(.failure, "seed \(report.seed) fails")
        failure.messages += report.violations.map { "  \($0)" }
        failure.messages += ["the shortest schedule found:"] + report.faults.map { "  \($0)" }
        var command = "giftcombo simulate --seeds 1 --seed-start \(report.seed)"
        if let kept = options.keptFaults {
            command += " --faults "
            command += kept.isEmpty ? "none" : kept.map { String($0) }.joined(separator: ",")
        }
        if options.kinds != FaultKind.allCases {
            command += "," + options.kinds.map(\.rawValue).joined(separator: ",")
        }
        if let limit = options.recordLimit { command += " --records \(limit)" }
        failure.messages.append("to repeat it: \(command) --trace")
        return failure
    }
}
