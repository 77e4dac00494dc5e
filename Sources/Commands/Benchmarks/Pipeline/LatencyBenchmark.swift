internal import ComboCore
internal import KafkaClient
internal import StreamPorts
internal import WorkerRuntime

/// What a paced load is.
struct LatencyPlan: Equatable {
    /// Gift events a second.
    var rate = 2_000
    /// How long commands are timed, milliseconds.
    var duration: Int64 = 20_000
    /// How long before that they are not, milliseconds.
    var warmUp: Int64 = 5_000
    var partitions = 4
    var workers = 1
    var seed: UInt64 = 1
}

/// Gift events at an even pace, and when the commands that they lead to can be read.
final class LatencyBenchmark {
    /// How long the process may take until the first command, milliseconds.
    private static let startMilliseconds: Int64 = 60_000
    /// How long commands are awaited after the last event that counts, milliseconds.
    private static let lateMilliseconds: Int64 = 3_000
    private static let recordsPerPoll = 4_000

    private let deployment: BenchmarkDeployment
    private let plan: LatencyPlan
    private let clock = SystemClock()
    private var measurement: LatencyMeasurement
    /// Commands dated in this time are measured, epoch ms.
    private var timed: Range<Int64> = 0..<0
    private var traffic: GiftTraffic
    private var record = GeneratedRecord()
    private var sent = 0
    private var received = 0

    init(_ deployment: BenchmarkDeployment, _ plan: LatencyPlan) {
        self.deployment = deployment
        self.plan = plan
        measurement = LatencyMeasurement(plan: plan)
        var pattern = TrafficPattern()
        pattern.seed = plan.seed
        pattern.eventsPerSecond = plan.rate
        traffic = GiftTraffic(pattern)
    }

    /// Runs the process under the load.
    func run() throws(CommandFailure) -> LatencyMeasurement {
        try deployment.withTopics { () throws(CommandFailure) in try measure() }
        return measurement
    }

    private func measure() throws(CommandFailure) {
        let loader = try deployment.makeLoader(["linger.ms": "0"])
        defer { loader.close(timeoutMilliseconds: 1000) }
        let reader = try deployment.makeReader()
        defer { reader.close(timeoutMilliseconds: 1000) }
        let process = try deployment.start(workers: plan.workers)
        try awaitFirst(process, loader, reader)
        let start = clock.monotonic
        let wall = clock.wall.milliseconds
        timed = (wall + plan.warmUp)..<(wall + plan.warmUp + plan.duration)
        let sentBefore = sent
        var cpu: (start: Int64, events: Int)?
        while true {
            let elapsed = clock.monotonic.since(start)
            guard elapsed < plan.warmUp + plan.duration else { break }
            if cpu == nil, elapsed >= plan.warmUp { cpu = (process.cpuMicroseconds, sent) }
            let due = sentBefore + Int(Int64(plan.rate) * elapsed / 1000)
            while sent < due { try send(loader) }
            try receive(reader, waitingMilliseconds: 1)
            try check(process)
        }
        if let cpu {
            measurement.cpuMicroseconds = process.cpuMicroseconds - cpu.start
            measurement.events = sent - cpu.events
        }
        measurement.residentBytes = process.residentBytes
        let end = clock.monotonic
        while clock.monotonic.since(end) < Self.lateMilliseconds {
            try receive(reader, waitingMilliseconds: 1)
            try check(process)
        }
        process.requestStop()
        _ = try process.finish()
    }

    /// Sends a few events until the first command comes: the process is up then.
    private func awaitFirst(
        _ process: ProgramRun,
        _ loader: KafkaLoader,
        _ reader: TopicReader
    ) throws(CommandFailure) {
        let start = clock.monotonic
        while received == 0 {
            try send(loader)
            try receive(reader, waitingMilliseconds: 100)
            try check(process)
            guard clock.monotonic.since(start) < Self.startMilliseconds else {
                throw CommandFailure(.failure, "no command came in a minute")
            }
        }
    }

    private func check(_ process: ProgramRun) throws(CommandFailure) {
        try deployment.check()
        if process.hasEnded {
            _ = try process.finish()
            throw CommandFailure(.failure, "the measured process ended by itself")
        }
    }

    private func send(_ loader: KafkaLoader) throws(CommandFailure) {
        traffic.next(into: &record)
        try deployment.asking { () throws(StreamError) in
            try loader.write(
                timestampMilliseconds: clock.wall.milliseconds,
                key: record.key,
                value: record.value
            )
        }
        sent += 1
    }

    private func receive(
        _ reader: TopicReader,
        waitingMilliseconds: Int32
    ) throws(CommandFailure) {
        try deployment.asking { () throws(StreamError) in
            try reader.poll(limit: Self.recordsPerPoll, timeoutMilliseconds: waitingMilliseconds)
        }
        let now = clock.wall.milliseconds
        received += reader.batch.count
        for index in 0..<reader.batch.count {
            guard let command = unsafe ParsedCommand(reader.batch[index].value),
                timed.contains(command.at)
            else { continue }
            switch command.kind {
            case .show, .update: measurement.shown.note(now - command.at)
            case .hide, .end: measurement.ended.note(now - command.at)
            }
        }
    }
}

/// What a paced load has measured.
struct LatencyMeasurement: Equatable {
    let plan: LatencyPlan
    /// From an event's sending to the arrival of its show or update.
    var shown = LatencyCounts()
    /// From a deadline to the arrival of its hide or end.
    var ended = LatencyCounts()
    /// The process's own, while commands were timed.
    var cpuMicroseconds: Int64 = 0
    /// Events sent in that time.
    var events = 0
    var residentBytes: Int64 = 0

    private var cpuPerEvent: String {
        let tenths = cpuMicroseconds * 10 / Int64(max(1, events))
        return "\(tenths / 10).\(tenths % 10)"
    }

    /// For people.
    var text: String {
        func row(_ counts: LatencyCounts) -> String {
            "\(counts.quantile(perThousand: 500)) ms, 99 %: \(counts.quantile(perThousand: 990)) "
                + "ms, longest: \(counts.quantile(perThousand: 1_000)) ms (\(counts.total))"
        }
        return """
            \(plan.rate) events/s, \(plan.partitions) partitions, workers: \(plan.workers), seed \
            \(plan.seed)
              from gift to command: \(row(shown))
              from deadline to hide or end: \(row(ended))
              \(cpuPerEvent) CPU-µs an event, \(residentBytes / 1_000_000) MB

            """
    }

    /// A line for programs.
    var json: String {
        "{\"bench\":\"latency\",\"seed\":\(plan.seed),\"rate\":\(plan.rate),"
            + "\"partitions\":\(plan.partitions),\"workers\":\(plan.workers),"
            + "\"warm_up_ms\":\(plan.warmUp),\"duration_ms\":\(plan.duration),"
            + "\"measured\":\(shown.total),\"p50_ms\":\(shown.quantile(perThousand: 500)),"
            + "\"p90_ms\":\(shown.quantile(perThousand: 900)),"
            + "\"p99_ms\":\(shown.quantile(perThousand: 990)),"
            + "\"max_ms\":\(shown.quantile(perThousand: 1_000)),"
            + "\"hide_end\":\(ended.total),"
            + "\"hide_end_p50_ms\":\(ended.quantile(perThousand: 500)),"
            + "\"hide_end_p99_ms\":\(ended.quantile(perThousand: 990)),"
            + "\"cpu_us_per_event\":\(cpuPerEvent),\"rss_bytes\":\(residentBytes)}\n"
    }
}
