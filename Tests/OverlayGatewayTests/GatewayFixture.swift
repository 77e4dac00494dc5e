import AdminServer
import Foundation
import StreamPorts
import Synchronization
import Telemetry
import Testing

@testable import OverlayGateway

/// A gateway that runs on a topic in memory, until it goes away.
final class GatewayFixture {
    let topic: FakeTopic
    let gateway: OverlayGateway
    private let lines = Mutex<[String]>([])
    private let ended = DispatchSemaphore(value: 0)

    /// Lines that were logged.
    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
    }

    private let logged = Lines()

    init(
        partitions: Int? = 2,
        key: String? = nil,
        clients: Int = 100,
        _ change: (inout GatewayLimits) -> Void = { _ in }
    ) throws {
        let topic = FakeTopic(partitions: partitions)
        var configuration = GatewayConfiguration(
            listen: try ListenAddress("127.0.0.1:0"),
            topic: "overlay.commands",
            rewindMilliseconds: 15_000,
            signer: key.map { LinkSigner(key: $0) },
            clients: clients
        )
        configuration.limits.askAgainMilliseconds = 10
        configuration.limits.partitionsMilliseconds = 10
        change(&configuration.limits)
        self.topic = topic
        gateway = try OverlayGateway(
            configuration,
            registry: MetricRegistry(),
            log: Logger(sink: { [logged] line in logged.all.withLock { $0.append(line) } }),
            makeTail: { FakeTail(topic) }
        )
        Thread.detachNewThread { [gateway, ended] in
            try? gateway.run()
            ended.signal()
        }
    }

    deinit {
        stop()
    }

    /// Ends it; false: it does not end in time.
    @discardableResult
    func stop() -> Bool {
        gateway.requestStop()
        guard ended.wait(timeout: .now() + 20) == .success else { return false }
        ended.signal()
        return true
    }

    /// What was logged so far.
    var log: [String] { logged.all.withLock { $0 } }

    /// Connects to a path.
    func open(
        _ path: String,
        headers: [String] = [],
        receiveBytes: Int32? = nil
    ) throws -> StreamReader {
        try StreamReader(
            port: gateway.address.port,
            path,
            headers: headers,
            receiveBytes: receiveBytes
        )
    }

    /// A whole answer.
    func get(_ path: String, headers: [String] = []) throws -> StreamReader {
        let reader = try open(path, headers: headers + ["Connection: close"])
        _ = reader.readToEnd()
        return reader
    }

    /// Asks a path until its answer is as it should be; false: not within 20 s.
    func await(_ path: String, _ isRight: (StreamReader) -> Bool) throws -> Bool {
        let end = ContinuousClock.now + .seconds(20)
        while ContinuousClock.now < end {
            if isRight(try get(path)) { return true }
        }
        return false
    }

    /// The milliseconds of the wall clock.
    static var now: Int64 { wallMilliseconds() }

    /// A live combo's command, dated now.
    static func live(
        _ kind: String = "show",
        room: String? = "r",
        combo: String = "0-0",
        sequence: Int64 = 1,
        name: String = "Ana"
    ) -> String {
        Commands.json(
            kind,
            room: room,
            combo: combo,
            sequence: sequence,
            at: now,
            endAt: now + 60_000,
            name: name
        )
    }
}
