internal import AdminServer
internal import ComboCore
internal import Glibc
internal import KafkaClient
internal import OverlayGateway
internal import StreamPorts
internal import Synchronization
internal import WorkerRuntime

/// Many clients of a gateway, and commands in the topic that it reads: what each client gets, when.
///
/// The commands are plain records, which a reader of committed records sees at once: the time
/// measured is that from the topic to the client, without a worker's commit interval, and with the
/// producer's own wait of a few milliseconds.
final class OverlayBenchmark {
    private let configuration: Configuration
    private let settings: KafkaSettings
    private let address: ListenAddress
    private let plan: OverlayLoadPlan
    private let clock = SystemClock()
    private var measurement = OverlayMeasurement()
    private var chunk = [UInt8](repeating: 0, count: 262_144)
    private let production = Production()
    /// Commands made earlier than this are not timed, epoch ms.
    private var timedFrom = Int64.max

    /// How the producer's thread ends.
    private final class Production: Sendable {
        let result = Mutex<StreamError??>(nil)
    }

    private static let connectMilliseconds: Int64 = 60_000
    private static let drainMilliseconds: Int64 = 15_000
    private static let pollMilliseconds: Int32 = 2
    /// As little as the kernel grants: what a silent client takes is the gateway's to hold.
    private static let silentReceiveBytes: Int32 = 4_096

    init(_ configuration: Configuration, _ plan: OverlayLoadPlan) throws(CommandFailure) {
        var configuration = configuration
        if configuration.kafka["linger.ms"] == nil { configuration.kafka["linger.ms"] = "2" }
        guard let address = configuration.overlay.listen else {
            preconditionFailure("the table has a default for overlay.listen")
        }
        self.configuration = configuration
        self.address = address
        self.plan = plan
        settings = try KafkaSettings(checked: configuration)
        _ = DescriptorLimit.raise()
    }

    /// Connects everybody, writes the commands, and waits until all have come.
    func run() throws(CommandFailure) -> OverlayMeasurement {
        let silent = try (0..<plan.silent).map { number throws(CommandFailure) in
            let stream = OverlayStream(room: number % plan.rooms)
            try connect(stream, receiveBytes: Self.silentReceiveBytes)
            return stream
        }
        let streams = try (0..<plan.clients).map { number throws(CommandFailure) in
            let stream = OverlayStream(room: number % plan.rooms)
            try connect(stream, receiveBytes: nil)
            return stream
        }
        try awaitSnapshots(streams)
        startProducing()
        var producedAt: Int64?
        while true {
            try readReady(streams)
            if producedAt == nil, let result = production.result.withLock({ $0 }) {
                if let error = result { throw CommandFailure(kafka: error, settings) }
                producedAt = clock.monotonic.milliseconds
            }
            guard let producedAt else { continue }
            let isDone = streams.allSatisfy { $0.expected >= plan.total(ofRoom: $0.room) }
            let waited = clock.monotonic.milliseconds - producedAt
            if isDone || waited > Self.drainMilliseconds { break }
        }
        measurement.commands = plan.total
        for stream in streams {
            measurement.delivered += stream.delivered
            measurement.disordered += stream.disordered
            measurement.passedOver += stream.passedOver
            measurement.missing += max(0, plan.total(ofRoom: stream.room) - stream.expected)
        }
        measurement.silentDropped = silent.count { hasEnded($0) }
        return measurement
    }

    /// Connects; a gateway that is full is asked again for a while.
    private func connect(
        _ stream: OverlayStream,
        receiveBytes: Int32?
    ) throws(CommandFailure) {
        let signer = configuration.overlay.key.map { LinkSigner(key: $0) }
        let page = RoomLink.path(of: RoomID(plan.roomID(stream.room)), signer: signer)
        let path = "/events" + page.drop { $0 != "?" }
        guard stream.connect(to: address, path: path, receiveBytes: receiveBytes) else {
            throw CommandFailure(.failure, "\(address): nobody answers")
        }
    }

    private func awaitSnapshots(_ streams: [OverlayStream]) throws(CommandFailure) {
        let started = clock.monotonic
        while streams.contains(where: { $0.snapshots == 0 }) {
            try readReady(streams)
            guard clock.monotonic.since(started) < Self.connectMilliseconds else {
                throw CommandFailure(.failure, "\(address): no snapshots come")
            }
        }
    }

    /// Reads what the streams have, and connects those anew that were dropped.
    private func readReady(_ streams: [OverlayStream]) throws(CommandFailure) {
        var polled = streams.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        let count = unsafe poll(&polled, nfds_t(polled.count), Self.pollMilliseconds)
        guard count > 0 else { return }
        for (index, stream) in streams.enumerated() where polled[index].revents != 0 {
            let now = clock.wall.milliseconds
            let outcome = stream.read(plan, into: &chunk) { time in
                if time >= timedFrom { measurement.latencies.note(now - time) }
            }
            if outcome == .closed {
                measurement.dropped += 1
                try connect(stream, receiveBytes: nil)
            }
        }
    }

    /// Whether the gateway has ended the connection; what it had sent before is read for that.
    private func hasEnded(_ stream: OverlayStream) -> Bool {
        while true {
            let flags = Int32(MSG_DONTWAIT)
            let count = unsafe recv(stream.descriptor, &chunk, chunk.count, flags)
            if count == 0 { return true }
            if count < 0 { return errno != EAGAIN && errno != EINTR }
        }
    }

    // MARK: - Producing

    private func startProducing() {
        let (plan, settings, production) = (plan, settings, production)
        let topic = configuration.topics.output
        let clientID = "\(configuration.groupID)-bench"
        timedFrom = clock.wall.milliseconds + plan.warmUp
        startThread {
            var failure: StreamError?
            do throws(StreamError) {
                try Self.produce(plan, settings, topic: topic, clientID: clientID)
            } catch {
                failure = error
            }
            production.result.withLock { $0 = .some(failure) }
        }
    }

    private static func produce(
        _ plan: OverlayLoadPlan,
        _ settings: KafkaSettings,
        topic: String,
        clientID: String
    ) throws(StreamError) {
        let loader = try KafkaLoader(
            settings,
            topic: topic,
            clientID: clientID,
            events: SilentClientEvents()
        )
        defer { loader.close(timeoutMilliseconds: 1_000) }
        let clock = SystemClock()
        let started = clock.monotonic
        var written = 0
        while written < plan.total {
            let elapsed = clock.monotonic.since(started)
            let due = min(plan.total, Int(Int64(plan.rate) * elapsed / 1_000) + 1)
            let now = clock.wall.milliseconds
            while written < due {
                let room = written % plan.rooms
                let json = plan.json(written / plan.rooms, room: room, at: now)
                try loader.write(
                    timestampMilliseconds: now,
                    key: Array(plan.roomID(room).utf8),
                    value: json
                )
                written += 1
            }
            clock.sleep(milliseconds: 1)
        }
        try loader.flush(timeoutMilliseconds: 10_000)
    }
}
