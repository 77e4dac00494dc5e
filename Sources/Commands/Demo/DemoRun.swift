internal import ComboCore
internal import Glibc
internal import Telemetry
internal import WorkerRuntime

/// One run of the demo: sends gifts, shows the commands that come back, and checks them.
final class DemoRun {
    private let options: DemoOptions
    private let context: CommandContext
    private let signals: StopSignals
    private let pool: EmbeddedPool
    private let view: DemoView
    private let comparison: ReplayComparison
    private let clock = SystemClock()
    private var laws = CommandLaws()
    private var rows: LaneRows
    private var feed: DemoFeed
    private var waiting: GeneratedRecord?
    private var latencies = LatencyWindow()
    private var rate = RateWindow()
    private var figures = DemoFigures()
    private var units: Int64 = 0
    private var started = MonotonicTime(milliseconds: 0)
    private var start = WallTime(milliseconds: 0)
    private var drawnAt: Int64 = -DemoRun.drawMilliseconds
    private var unreadable = 0

    private static let drawMilliseconds: Int64 = 100
    private static let longestPollMilliseconds: Int64 = 20
    private static let processedMilliseconds: Int64 = 10_000

    init(
        _ options: DemoOptions,
        _ pool: EmbeddedPool,
        _ view: DemoView,
        _ signals: StopSignals,
        _ context: CommandContext,
        overlay: String
    ) {
        figures.overlay = overlay
        self.options = options
        self.pool = pool
        self.view = view
        self.signals = signals
        self.context = context
        comparison = ReplayComparison(partitions: EmbeddedPool.partitions, options.combo)
        rows = LaneRows(lanes: Int(options.combo.lanes))
        feed = .story([])
        figures.duration = options.duration
    }

    /// Runs until it is stopped or done, then says what was checked.
    func run() throws(CommandFailure) -> String {
        draw(isForced: true)
        try pool.settle { signals.isStopping }
        started = clock.monotonic
        start = clock.wall
        feed = options.feed(start: start)
        while !isOver {
            try pool.check()
            try sendDue()
            let wait = min(Self.longestPollMilliseconds, (waiting?.sentAfter ?? .max) - elapsed)
            try receive(waitingMilliseconds: Int32(max(1, wait)))
            draw(isForced: false)
            guard context.output.failure == nil else { break }
        }
        return try finish()
    }

    private var elapsed: Int64 { clock.monotonic.since(started) }

    private var isOver: Bool {
        if signals.isStopping { return true }
        if let duration = options.duration, elapsed >= duration { return true }
        return options.isSlow && laws.ended >= DemoFeed.storyCombos && waiting == nil
    }

    // MARK: - Sending

    private func sendDue() throws(CommandFailure) {
        while true {
            var record = waiting ?? GeneratedRecord()
            if waiting == nil, !feed.next(into: &record, start: start.milliseconds) { return }
            guard record.sentAfter <= elapsed else {
                waiting = record
                return
            }
            waiting = nil
            let count = Int32(EmbeddedPool.partitions)
            let partition = Murmur2.partition(ofKey: record.key, partitions: count)
            try pool.send(record, partition: partition)
            comparison.replay(record, partition: partition)
            units +=
                options.combo.increment == .one ? min(1, Int64(record.units)) : Int64(record.units)
            figures.events += 1
            if case .screen = view { rate.add(at: elapsed) }
            if case .story(let teller) = view {
                context.output.write(teller.line(tapAfter: record.sentAfter))
                context.output.flush()
            }
        }
    }

    // MARK: - Receiving

    private func receive(waitingMilliseconds: Int32) throws(CommandFailure) {
        try unsafe pool.receive(waitingMilliseconds: waitingMilliseconds) { unsafe take($0) }
        context.output.flush()
    }

    private func take(_ bytes: UnsafeRawBufferPointer) {
        guard let command = unsafe ParsedCommand(bytes) else {
            unreadable += 1
            return
        }
        laws.observe(command)
        unsafe comparison.take(bytes, command)
        figures.commands += 1
        if command.kind == .show || command.kind == .update {
            latencies.add(clock.wall.milliseconds - command.at)
        }
        switch view {
        case .screen: rows.apply(command, now: elapsed)
        case .lines:
            unsafe context.output.append(bytes)
            context.output.write("\n")
        case .story(let teller):
            context.output.write(teller.line(command, start: start.milliseconds))
        }
    }

    private func draw(isForced: Bool) {
        guard case .screen(let terminal, let screen) = view else { return }
        let now = started.milliseconds == 0 ? 0 : elapsed
        guard isForced || now - drawnAt >= Self.drawMilliseconds else { return }
        drawnAt = now
        let size = terminal.size
        rows.resize(rows: DemoScreen.rows(inHeight: size.rows))
        figures.elapsed = now
        figures.eventsPerSecond = rate.rate(at: now)
        figures.liveCombos = pool.liveCombos
        figures.lag = pool.lag
        figures.latencyMedian = latencies.percentile(50)
        figures.latencyHigh = latencies.percentile(99)
        terminal.draw(screen.frame(rows, figures, size: size))
    }

    // MARK: - The end

    private func finish() throws(CommandFailure) -> String {
        try pool.flush()
        let flushed = clock.monotonic
        while pool.processed < figures.events {
            try pool.check()
            guard clock.monotonic.since(flushed) < Self.processedMilliseconds else {
                throw CommandFailure(
                    .failure,
                    "\(figures.events) records were sent, \(pool.processed) were processed"
                )
            }
            try receive(waitingMilliseconds: 20)
        }
        guard !pool.wasDisturbed else {
            throw CommandFailure(
                .failure,
                "the process stood still for so long that the workers lost their partitions; "
                    + "the embedded broker keeps no offsets, so there is nothing to check"
            )
        }
        let clocks = pool.clocks
        try unsafe pool.stop { unsafe take($0) }
        context.output.flush()
        return try verdict(clocks)
    }

    private func verdict(_ clocks: [Int32: Int64]) throws(CommandFailure) -> String {
        laws.finish(sent: units)
        var problems = laws.breaches
        if unreadable > 0 { problems.append("\(unreadable) published commands can't be read") }
        let late = pool.lateRecords
        let compared: String
        if late == 0 {
            comparison.finish(clocks: clocks)
            problems += comparison.differences
            compared = "\(comparison.matched) commands equal the offline replay's"
        } else {
            compared =
                "not compared with the offline replay, as \(late) records came behind a clock "
                + "that the wall had moved"
        }
        guard problems.isEmpty else {
            var failure = CommandFailure(.failure, "checked: the commands are wrong")
            failure.messages += problems
            throw failure
        }
        return "checked: \(figures.events) events, \(units) units, \(laws.begun) combos "
            + "(\(laws.live) still live), \(laws.commands) commands: "
            + "the laws of the combo machine hold; \(compared)"
    }
}
