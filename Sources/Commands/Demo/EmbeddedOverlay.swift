internal import AdminServer
internal import KafkaClient
internal import OverlayGateway
internal import StreamPorts
internal import Synchronization
internal import Telemetry
internal import WorkerRuntime

/// The overlay of a demo: a gateway on the embedded broker.
final class EmbeddedOverlay {
    /// The address of the list of rooms.
    let address: String
    private let gateway: OverlayGateway
    private let ending = Ending()
    private static let stopMilliseconds: Int64 = 5_000

    /// What the gateway's thread leaves behind.
    private final class Ending: Sendable {
        let hasEnded = Atomic(false)
    }

    /// Starts to serve.
    ///
    /// - Parameters:
    ///   - configuration: Its `overlay` and `combo` keys hold.
    ///   - isChosen: Whether its `overlay.listen` was given; if not, any free port does where that
    ///     one is in use.
    ///   - pool: The brokers and the topic.
    ///   - log: Where life is told.
    /// - Throws: It can't listen.
    init(
        _ configuration: Configuration,
        isChosen: Bool,
        _ pool: EmbeddedPool,
        log: Logger
    ) throws(CommandFailure) {
        guard let wanted = configuration.overlay.listen else {
            preconditionFailure("the table has a default for overlay.listen")
        }
        let make = { (listen: ListenAddress) throws(AdminServerError) -> OverlayGateway in
            try OverlayGateway(
                GatewayConfiguration(configuration, listen: listen, log: log),
                registry: MetricRegistry(),
                log: log,
                makeTail: overlayTail(
                    pool.settings,
                    topic: EmbeddedPool.output.commands,
                    group: "demo",
                    log: log
                )
            )
        }
        do throws(AdminServerError) {
            do throws(AdminServerError) {
                gateway = try make(wanted)
            } catch {
                guard error.problem == .portInUse, !isChosen else { throw error }
                gateway = try make(wanted.withAnyPort)
            }
        } catch {
            throw CommandFailure(.failure, "overlay.listen: \(error)")
        }
        let signer = configuration.overlay.key.map { LinkSigner(key: $0) }
        address = "http://\(gateway.address)\(RoomLink.indexPath(signer: signer))"
        startThread { [gateway, ending] in
            do throws(StreamError) {
                try gateway.run()
            } catch {
                log.error("overlay-ended", ["error": "\(error)"])
            }
            ending.hasEnded.store(true, ordering: .releasing)
        }
    }

    /// Closes the streams, and waits a little for that.
    func stop() {
        gateway.requestStop()
        let clock = SystemClock()
        let started = clock.monotonic
        while !ending.hasEnded.load(ordering: .acquiring),
            clock.monotonic.since(started) < Self.stopMilliseconds
        {
            clock.sleep(milliseconds: 5)
        }
    }
}
