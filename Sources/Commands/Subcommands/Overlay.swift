internal import AdminServer
internal import Glibc
internal import KafkaClient
internal import OverlayGateway
internal import StreamPorts
internal import Telemetry

/// `giftcombo overlay`: the gateway between the topic of commands and browsers.
let overlayCommand = Subcommand(
    name: "overlay",
    summary: "serve the overlay: a page for OBS and web players, fed from the topic of commands",
    operands: "",
    operandCount: 0...0,
    options: Subcommand.Option.configuration + [
        Subcommand.Option(
            "link",
            value: "ROOM",
            meaning: "print the address of a room's overlay, signed with overlay.key, and end"
        ),
        Subcommand.Option("index-link", meaning: "print the address of the list of rooms, and end"),
    ],
    details: """
        /overlay?room=ID is the page, /events?room=ID its stream of commands (Server-Sent Events),
        /state?room=ID the live combos as JSON, / lists the live rooms; /livez, /readyz and /metrics
        are as a worker's. All on overlay.listen.

        With overlay.key every room's addresses, and the list's, need a signature (sig=...), which
        --link and --index-link print. Addresses begin with http:// and overlay.listen; put your own
        host before the path where a proxy stands in front.

        It joins no group and writes nothing: any number of processes may run. It reads back as far
        as combos can live, so give it the combo keys that the workers have. While the brokers or
        the topic are not there it waits, live and not ready. SIGTERM ends it with 0; SIGHUP
        reloads nothing, as with run.
        """,
    run: { arguments, context throws(CommandFailure) in
        let loaded = try context.configuration(from: arguments)
        guard !arguments.has("print-config") else {
            context.output.write(ConfigurationText.properties(of: loaded))
            return
        }
        guard let listen = loaded.configuration.overlay.listen else {
            preconditionFailure("the table has a default for overlay.listen")
        }
        let signer = loaded.configuration.overlay.key.map { LinkSigner(key: $0) }
        if let room = arguments.value(of: "link") {
            let path = RoomLink.path(of: RoomID(room), signer: signer)
            context.output.write("http://\(listen)\(path)\n")
        } else if arguments.has("index-link") {
            context.output.write("http://\(listen)\(RoomLink.indexPath(signer: signer))\n")
        } else {
            try serve(loaded.configuration, listen, context)
        }
    }
)

/// Never returns: librdkafka's threads may hang in a close, and there is nothing to be lost.
private func serve(
    _ configuration: Configuration,
    _ listen: ListenAddress,
    _ context: CommandContext
) throws(CommandFailure) {
    let settings = try KafkaSettings(checked: configuration)
    // Before any other thread starts, for each inherits the mask.
    let signals = StopSignals()
    let log = Logger(configuration)
    let registry = MetricRegistry()
    registry.register(ProcessMetrics())
    registry.register(
        BuildMetrics(
            version: programVersion,
            swift: swiftVersion,
            librdkafka: KafkaSettings.libraryVersion
        )
    )
    let gateway: OverlayGateway
    do {
        gateway = try OverlayGateway(
            GatewayConfiguration(configuration, listen: listen, log: log),
            registry: registry,
            log: log,
            makeTail: overlayTail(
                settings,
                topic: configuration.topics.output,
                group: configuration.groupID,
                log: log
            )
        )
    } catch {
        throw CommandFailure(.failure, "overlay.listen: \(error)")
    }
    log.info(
        "starting",
        [
            "version": "\(programVersion)", "librdkafka": "\(KafkaSettings.libraryVersion)",
            "topic": "\(configuration.topics.output)", "overlay": "\(gateway.address)",
        ]
    )
    signals.start(log)
    signals.onStop { gateway.requestStop() }
    do {
        try gateway.run()
    } catch {
        throw CommandFailure(.usage, "\(error)")
    }
    log.drain()
    _exit(ExitCode.success.rawValue)
}
