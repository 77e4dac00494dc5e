internal import KafkaClient
internal import StreamPorts

/// What a catch-up is of.
struct PipelinePlan: Equatable {
    var events = 1_000_000
    var partitions = 4
    var workers = 1
    var seed: UInt64 = 1
    /// Gift events in a second of event time: 1.3 times as many combos are live at once.
    var density = 20_000
}

/// A topic full of gift events, and one process that catches up with it.
struct PipelineBenchmark {
    private let deployment: BenchmarkDeployment
    private let plan: PipelinePlan

    init(_ deployment: BenchmarkDeployment, _ plan: PipelinePlan) {
        self.deployment = deployment
        self.plan = plan
    }

    /// Loads the events, then runs the process to their end.
    func run() throws(CommandFailure) -> PipelineMeasurement {
        try deployment.withTopics { () throws(CommandFailure) in
            let written = try fill()
            let process = try deployment.start(workers: plan.workers, ["--stop-at-end"])
            let printed = try process.finish()
            try deployment.check()
            guard let summary = RunSummary(json: printed) else {
                throw CommandFailure(.failure, "giftcombo run printed: \(printed)")
            }
            guard summary.records == written else {
                throw CommandFailure(
                    .failure,
                    "\(written) records were written, and \(summary.records) read"
                )
            }
            return PipelineMeasurement(plan: plan, summary: summary)
        }
    }

    /// How many records were written.
    private func fill() throws(CommandFailure) -> Int64 {
        let loader = try deployment.makeLoader()
        defer { loader.close(timeoutMilliseconds: 1000) }
        var pattern = TrafficPattern()
        pattern.seed = plan.seed
        pattern.eventsPerSecond = plan.density
        pattern.duplicates = Share(millionths: 10_000)
        pattern.late = Share(millionths: 5_000)
        pattern.unreadable = Share(millionths: 1_000)
        var traffic = GiftTraffic(pattern)
        var record = GeneratedRecord()
        for number in 0..<plan.events {
            if number % 10_000 == 0 { try deployment.check() }
            traffic.next(into: &record)
            try deployment.asking { () throws(StreamError) in
                try loader.write(
                    timestampMilliseconds: record.timestamp,
                    key: record.key,
                    value: record.value
                )
            }
        }
        try deployment.asking { () throws(StreamError) in
            try loader.flush(timeoutMilliseconds: BenchmarkDeployment.timeout)
        }
        return Int64(plan.events)
    }
}

/// What a catch-up has taken.
struct PipelineMeasurement: Equatable {
    let plan: PipelinePlan
    let summary: RunSummary

    /// From the first record to the last commit.
    private var eventsPerSecond: Int64 {
        summary.records * 1000 / max(1, summary.busyMilliseconds)
    }

    /// The whole process's, start and end included, in tenths of microseconds.
    private var cpuTenths: Int64 {
        summary.cpuMilliseconds * 10_000 / max(1, summary.records)
    }

    private var cpuPerEvent: String { "\(cpuTenths / 10).\(cpuTenths % 10)" }

    /// For people.
    var text: String {
        "\(plan.partitions) partitions, workers: \(plan.workers), seed \(plan.seed): "
            + "\(summary.records) events, \(summary.commands) commands in "
            + "\(summary.transactions) transactions; \(eventsPerSecond) events/s, \(cpuPerEvent) "
            + "CPU-µs an event, at most \(summary.peakResidentBytes / 1_000_000) MB\n"
    }

    /// A line for programs.
    var json: String {
        "{\"bench\":\"pipeline\",\"seed\":\(plan.seed),\"partitions\":\(plan.partitions),"
            + "\"workers\":\(plan.workers),\"density\":\(plan.density),"
            + "\"events\":\(summary.records),\"commands\":\(summary.commands),"
            + "\"transactions\":\(summary.transactions),\"busy_ms\":\(summary.busyMilliseconds),"
            + "\"events_per_s\":\(eventsPerSecond),\"cpu_us_per_event\":\(cpuPerEvent),"
            + "\"rss_peak_bytes\":\(summary.peakResidentBytes)}\n"
    }
}
