internal import AdminServer
internal import Glibc
internal import KafkaClient
internal import StreamPorts
internal import Telemetry
internal import WorkerRuntime

/// `giftcombo run`: the worker pool.
let runCommand = Subcommand(
    name: "run",
    summary: "count combos: read gift events from Kafka, publish overlay commands, exactly once",
    operands: "",
    operandCount: 0...0,
    options: Subcommand.Option.configuration + [
        Subcommand.Option(
            "stop-at-end",
            meaning: "end when what is in the topic now is processed and committed"
        )
    ],
    details: """
        Runs until SIGTERM or SIGINT: then it commits, leaves the group and ends with 0, within
        10 s; a second signal ends it at once. Killed in any way it loses nothing.

        SIGHUP reopens nothing and reloads nothing, which a log line says: a process keeps the
        configuration that it started with, secrets and certificates too; restart it to change them.
        (Started in a terminal, it takes SIGHUP, which comes when that is closed, for SIGTERM.)

        While the brokers can't be reached it waits for them, live and not ready (/livez, /readyz on
        admin.listen). The topics must be there: `giftcombo topics` makes them.

        With --stop-at-end it prints one JSON line at the end: records_in, commands, transactions,
        cpu_s, wall_s (from the start), busy_s (from the first record; both to the last commit),
        rss_peak_bytes. Live combos stay live.
        """,
    run: { arguments, context throws(CommandFailure) in
        let loaded = try context.configuration(from: arguments)
        guard !arguments.has("print-config") else {
            context.output.write(ConfigurationText.properties(of: loaded))
            return
        }
        let process = try RunningProcess(
            loaded.configuration,
            stopsAtEnd: arguments.has("stop-at-end"),
            context
        )
        try process.run()
    }
)

/// One process of the worker pool, from its configuration to its exit code.
private struct RunningProcess {
    private let configuration: Configuration
    private let stopsAtEnd: Bool
    private let context: CommandContext
    private let settings: KafkaSettings
    private let log: Logger
    private let clock = SystemClock()

    init(
        _ configuration: Configuration,
        stopsAtEnd: Bool,
        _ context: CommandContext
    ) throws(CommandFailure) {
        self.configuration = configuration
        self.stopsAtEnd = stopsAtEnd
        self.context = context
        settings = try KafkaSettings(checked: configuration)
        log = Logger(configuration)
    }

    /// Never returns: librdkafka's threads may hang in a close, and everything is committed by
    /// then.
    func run() throws(CommandFailure) {
        // Before any other thread starts, for each inherits the mask.
        let signals = StopSignals()
        let health = ProcessHealth(waitingFor: settings.bootstrapServers)
        let registry = MetricRegistry()
        registry.register(ProcessMetrics())
        registry.register(
            BuildMetrics(
                version: programVersion,
                swift: swiftVersion,
                librdkafka: KafkaSettings.libraryVersion
            )
        )
        let server = try startAdminServer(configuration.admin, registry, health, log)
        log.info(
            "starting",
            [
                "version": "\(programVersion)", "librdkafka": "\(KafkaSettings.libraryVersion)",
                "group": "\(configuration.groupID)", "instance": "\(configuration.instanceID)",
                "admin": "\(server.map { "\($0.address)" } ?? "off")",
            ]
        )
        signals.start(log)
        let partitions = try checkedPartitions(signals, health)
        let pool = makePool(partitions, registry)
        health.watch(pool)
        signals.onStop { pool.requestStop() }
        let started = clock.monotonic
        let outcome = pool.run()
        if stopsAtEnd, outcome.exitCode == 0 {
            context.output.write(summary(outcome, pool, since: started))
        }
        context.output.flush()
        if let reason = outcome.reason { context.tell(reason) }
        log.drain()
        _exit(outcome.exitCode)
    }

    /// Waits for the brokers, then checks the topics; the input's number of partitions.
    private func checkedPartitions(
        _ signals: StopSignals,
        _ health: ProcessHealth
    ) throws(CommandFailure) -> Int {
        let remedy = Remedy(configuration)
        let admin: KafkaAdmin
        do {
            admin = try KafkaAdmin(
                settings,
                clientID: "\(configuration.groupID)-admin",
                events: LoggedEvents(log, remedy: remedy, health: health)
            )
        } catch {
            throw CommandFailure(.usage, "\(error)")
        }
        defer { admin.close(timeoutMilliseconds: 1000) }
        while true {
            do throws(StreamError) {
                // What has gone wrong is reported between two questions, so the first is short.
                _ = try admin.brokers(timeoutMilliseconds: 1000)
                let topics = try TopicSurvey(configuration, admin)
                if let problem = topics.firstProblem { throw problem }
                return topics.inputPartitions
            } catch {
                guard error.disposition == .retriable else {
                    throw CommandFailure(
                        error.code == TopicSurvey.mismatchCode ? .changelogTooSmall : .failure,
                        remedy(error).map { "\(error.detail); \($0)" } ?? error.detail
                    )
                }
                log.warning(
                    "waiting-for-brokers",
                    ["brokers": "\(settings.bootstrapServers)", "error": "\(error)"],
                    repeatKey: "waiting-for-brokers"
                )
            }
            if signals.isStopping {
                log.drain()
                _exit(0)
            }
            clock.sleep(milliseconds: 200)
        }
    }

    private func makePool(_ partitions: Int, _ registry: MetricRegistry) -> WorkerPool {
        let cores = Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        let workers = configuration.workers ?? max(1, min(cores, partitions))
        let topics = configuration.topics
        let clientMetrics = ClientMetrics()
        registry.register(clientMetrics)
        let ports = KafkaPorts(
            settings: settings,
            inputTopic: topics.input,
            outputTopics: OutputTopics(
                commands: topics.output,
                deadLetters: topics.deadLetters,
                changelog: topics.changelog
            ),
            group: configuration.groupID,
            instance: configuration.instanceID,
            isStaticMember: configuration.isStaticMember,
            workers: workers,
            prefetchBytes: Int(configuration.input.prefetchBytes),
            events: LoggedEvents(log, metrics: clientMetrics, remedy: Remedy(configuration))
        )
        var worker = WorkerConfiguration(configuration)
        worker.transactionTimeout = Int32(clamping: settings.transactionTimeoutMilliseconds)
        worker.stopsAtEnd = stopsAtEnd
        return WorkerPool(
            configuration: worker,
            workers: workers,
            ports: ports,
            clock: clock,
            log: log,
            registry: registry
        )
    }

    private func summary(
        _ outcome: WorkerPool.Outcome,
        _ pool: WorkerPool,
        since started: MonotonicTime
    ) -> String {
        let usage = ResourceUsage.ofProcess()
        let (first, last) = (outcome.totals.firstRecord, pool.board.lastCommit)
        return RunSummary(
            records: outcome.totals.records,
            commands: outcome.totals.commands,
            cpuMilliseconds: usage.cpuMicroseconds / 1000,
            wallMilliseconds: last.map { max(0, $0.since(started)) } ?? 0,
            busyMilliseconds: first.flatMap { first in last.map { max(0, $0.since(first)) } } ?? 0,
            peakResidentBytes: usage.peakResidentBytes,
            transactions: outcome.totals.transactions
        ).json
    }
}
