package import AdminServer
internal import ComboWire
internal import Glibc
package import StreamPorts
internal import Synchronization
package import Telemetry

/// What a gateway is told.
package struct GatewayConfiguration: Sendable {
    /// Where it listens.
    package var listen: ListenAddress
    /// What it reads, for people.
    package var topic: String
    /// How far back a live combo's latest command can lie, ms: the windows, and how much later than
    /// they are dated commands may be published.
    package var rewindMilliseconds: Int64
    /// Signs links; nil: every room is open to everybody.
    package var signer: LinkSigner?
    /// Clients at a time.
    package var clients: Int
    /// What bounds it.
    package var limits = GatewayLimits()

    /// Creates a configuration.
    package init(
        listen: ListenAddress,
        topic: String,
        rewindMilliseconds: Int64,
        signer: LinkSigner?,
        clients: Int
    ) {
        self.listen = listen
        self.topic = topic
        self.rewindMilliseconds = rewindMilliseconds
        self.signer = signer
        self.clients = clients
    }
}

/// Brings overlay commands from the topic to browsers.
///
/// Two threads: libmicrohttpd's reads requests and answers the small ones, and the loop's reads the
/// topic and writes the streams. They share the live combos, under a lock that the loop holds for
/// a batch of commands at most.
package final class OverlayGateway: Sendable {
    /// Where it listens, with the port that it got.
    package let address: ListenAddress
    private let configuration: GatewayConfiguration
    private let shared: GatewayState
    private let inbox: StreamInbox
    private let registry: MetricRegistry
    private let log: Logger
    private let makeTail: @Sendable () throws(StreamError) -> any TopicTail
    private let server: Mutex<AdminServer?>
    private let isStopping = Atomic(false)

    /// Starts to listen; ``run()`` does the rest.
    ///
    /// - Throws: It can't listen.
    package init(
        _ configuration: GatewayConfiguration,
        registry: MetricRegistry,
        log: Logger,
        makeTail: @escaping @Sendable () throws(StreamError) -> any TopicTail
    ) throws(AdminServerError) {
        let shared = GatewayState(configuration)
        let inbox = StreamInbox(limit: configuration.clients)
        let pages = GatewayPages(configuration, shared, inbox)
        var limits = ServerLimits()
        limits.connections = configuration.limits.connections
        limits.connectionBytes = configuration.limits.requestBytes
        limits.streams = UInt32(clamping: configuration.clients)
        let server = try AdminServer(
            listen: configuration.listen,
            routes: pages.routes(registry),
            streams: pages.streams,
            limits: limits
        )
        address = server.address
        self.configuration = configuration
        self.shared = shared
        self.inbox = inbox
        self.registry = registry
        self.log = log
        self.makeTail = makeTail
        self.server = Mutex(server)
    }

    /// Asks ``run()`` to end; from any thread.
    package func requestStop() {
        isStopping.store(true, ordering: .relaxed)
    }

    /// Whether the snapshots are complete, and if not, why.
    package func readyz() -> HealthReport { shared.readyz() }

    /// Serves until it is asked to stop, then closes every connection.
    ///
    /// - Throws: No client of the brokers can be made.
    package func run() throws(StreamError) {
        let metrics = OverlayMetrics()
        registry.register(metrics)
        let loop = GatewayLoop(configuration, shared, inbox, metrics, log, makeTail)
        defer {
            loop.close()
            // Waits for the server's thread, which may be answering a request.
            server.withLock { server in
                server?.stop()
                server = nil
            }
        }
        while !isStopping.load(ordering: .relaxed) { try loop.turn() }
    }
}

/// What the loop and the server's thread share.
final class GatewayState: Sendable {
    struct Values {
        var combos: LiveCombos
        var notReady: String?
        var turnedAt: Int64
    }

    private let values: Mutex<Values>
    /// How long a turn may take, questions to brokers that don't answer included, ms.
    private static let stuckMilliseconds: Int64 = 15_000

    init(_ configuration: GatewayConfiguration) {
        values = Mutex(
            Values(
                combos: LiveCombos(limits: configuration.limits),
                notReady: "starting",
                turnedAt: monotonicMilliseconds()
            )
        )
    }

    func with<Result: Sendable>(_ body: (inout sending Values) -> sending Result) -> Result {
        values.withLock(body)
    }

    func livez() -> HealthReport {
        let turnedAt = values.withLock { $0.turnedAt }
        let idle = monotonicMilliseconds() - turnedAt
        guard idle > Self.stuckMilliseconds else { return HealthReport(ok: true, reason: "") }
        return HealthReport(ok: false, reason: "the loop has not moved for \(idle / 1000) s")
    }

    func readyz() -> HealthReport {
        let reason = values.withLock { $0.notReady }
        return HealthReport(ok: reason == nil, reason: reason ?? "")
    }
}

/// The loop: takes what the topic has, and sends it on, a turn at a time.
final class GatewayLoop {
    private let limits: GatewayLimits
    private let shared: GatewayState
    private let metrics: OverlayMetrics
    private let follower: TopicFollower
    private let hub: StreamHub
    private var wasLive = false
    private var turnEnd: Int64

    init(
        _ configuration: GatewayConfiguration,
        _ shared: GatewayState,
        _ inbox: StreamInbox,
        _ metrics: OverlayMetrics,
        _ log: Logger,
        _ makeTail: @escaping @Sendable () throws(StreamError) -> any TopicTail
    ) {
        limits = configuration.limits
        self.shared = shared
        self.metrics = metrics
        follower = TopicFollower(
            topic: configuration.topic,
            rewindMilliseconds: configuration.rewindMilliseconds,
            limits: configuration.limits,
            log: log,
            makeTail: makeTail
        )
        hub = StreamHub(limits: configuration.limits, metrics: metrics, inbox: inbox)
        turnEnd = monotonicMilliseconds()
    }

    /// Takes the records that come until the turn's end, then sends.
    func turn() throws(StreamError) {
        let now = monotonicMilliseconds()
        var taken: [(ReceivedCommand, [UInt8])] = []
        try follower.turn(
            waiting: Int32(clamping: max(0, min(turnEnd - now, limits.turnMilliseconds))),
            wall: wallMilliseconds(),
            now: now
        ) { record in
            if let command = accept(record) { taken.append(command) }
        }
        apply(taken)
        let later = monotonicMilliseconds()
        guard later >= turnEnd else { return }
        turnEnd = later + limits.turnMilliseconds
        finishTurn(now: later)
    }

    func close() {
        hub.close()
        follower.close()
    }

    /// A record as a command; nil: it is none, which is counted.
    private func accept(_ record: RecordView) -> (ReceivedCommand, [UInt8])? {
        let value = unsafe record.value
        if unsafe value.isEmpty {
            metrics.skipped.add(1, .emptyValue)
        } else if value.count > limits.commandBytes {
            metrics.skipped.add(1, .tooLarge)
        } else if let command = unsafe ReceivedCommand(value) {
            return (command, unsafe EventText.line(value))
        } else {
            metrics.skipped.add(1, .notCommand)
        }
        return nil
    }

    private func apply(_ commands: [(ReceivedCommand, [UInt8])]) {
        guard !commands.isEmpty else { return }
        let news = shared.with { values in
            commands.map { values.combos.apply($0.0, json: $0.1) }
        }
        for (isNews, (command, json)) in zip(news, commands) {
            if isNews {
                metrics.commandsIn.increment()
                hub.deliver(command, json)
            } else {
                metrics.skipped.add(1, .duplicate)
            }
        }
    }

    private func finishTurn(now: Int64) {
        wasLive = wasLive || follower.isLive
        let wall = wallMilliseconds()
        let notReady = follower.notReady
        let combos = shared.with { values in
            values.combos.expire(now: wall)
            values.notReady = notReady
            values.turnedAt = now
            return values.combos
        }
        metrics.combos.set(Int64(combos.count))
        hub.turn(wasLive ? combos : nil, wall: wall, now: now)
        hub.observeLatency(wall: wallMilliseconds())
    }
}

/// The machine's time of day, epoch ms.
func wallMilliseconds() -> Int64 { milliseconds(CLOCK_REALTIME) }

/// A clock that never goes back, ms.
func monotonicMilliseconds() -> Int64 { milliseconds(CLOCK_MONOTONIC) }

private func milliseconds(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
}
