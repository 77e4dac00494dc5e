internal import KafkaClient
internal import StreamPorts
internal import Telemetry

/// Writes what librdkafka reports by itself into the program's log, and its figures into metrics.
struct LoggedEvents: ClientEvents {
    private let log: Logger
    private let metrics: ClientMetrics?
    private let remedy: Remedy?
    private let health: ProcessHealth?

    /// - Parameters:
    ///   - log: Gets lines and errors.
    ///   - metrics: Gets the figures of every handle; nil: nobody does.
    ///   - remedy: Knows what to do about errors.
    ///   - health: Of a process that waits for its brokers, and gives the last error as its reason.
    init(
        _ log: Logger,
        metrics: ClientMetrics? = nil,
        remedy: Remedy? = nil,
        health: ProcessHealth? = nil
    ) {
        self.log = log
        self.metrics = metrics
        self.remedy = remedy
        self.health = health
    }

    func logged(_ line: ClientLogLine) {
        let level: LogLevel = line.level <= 3 ? .warning : line.level <= 5 ? .info : .debug
        log.log(
            level,
            "librdkafka",
            [
                "client": "\(line.client)", "facility": "\(line.facility)",
                "message": "\(line.message)",
            ],
            repeatKey: "librdkafka \(line.client) \(line.facility)"
        )
    }

    func failed(_ error: StreamError, client: String) {
        let advice = remedy?(error)
        if error.code != "_ALL_BROKERS_DOWN" {
            health?.waits(for: advice.map { "\(error.detail); \($0)" } ?? error.detail)
        }
        var fields: LogFields = ["client": "\(client)", "error": "\(error)"]
        if let advice { fields = fields.followed(by: ["next": "\(advice)"]) }
        log.warning("client-error", fields, repeatKey: "client-error \(client) \(error.code)")
    }

    func statistics(_ json: RawSpan, client: String) {
        guard let metrics, let statistics = ClientStatistics(json) else { return }
        var reading = ClientReading()
        reading.fetchedRecords = statistics.fetchedRecords
        reading.fetchedBytes = statistics.fetchedBytes
        reading.unacknowledgedRecords = statistics.unacknowledgedRecords
        reading.roundTripMicroseconds = statistics.roundTripMicroseconds
        reading.connects = statistics.connects
        reading.disconnects = statistics.disconnects
        reading.requestTimeouts = statistics.requestTimeouts
        metrics.report(reading, client: client)
    }
}

extension Logger {
    /// The logger that `log.format` and `log.level` describe, on standard error; it knows the
    /// secrets.
    init(_ configuration: Configuration) {
        let secrets = configuration.kafka.filter {
            ConfigurationTable.isSecret(ConfigurationTable.kafkaPrefix + $0.key)
        }
        self.init(
            format: configuration.log.format == .json ? .json : .text,
            minimumLevel: LogLevel(configuration.log.level),
            redactor: Redactor(
                secretValues: secrets.values.sorted() + [configuration.overlay.key ?? ""]
            ),
            clock: .system,
            sink: Logger.standardError
        )
    }
}

extension LogLevel {
    fileprivate init(_ level: Configuration.LogSettings.Level) {
        switch level {
        case .debug: self = .debug
        case .info: self = .info
        case .warning: self = .warning
        case .error: self = .error
        }
    }
}
