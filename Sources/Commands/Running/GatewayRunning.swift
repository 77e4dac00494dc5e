internal import AdminServer
internal import ComboCore
internal import KafkaClient
internal import OverlayGateway
internal import StreamPorts
internal import Telemetry

extension GatewayConfiguration {
    /// Descriptors that are not the streams': files, brokers, the listener.
    private static let otherDescriptors = 64

    /// What the gateway needs of the program's configuration.
    ///
    /// As many clients as `overlay.max.clients` says and descriptors allow; too few are told.
    init(
        _ configuration: Configuration,
        listen: ListenAddress,
        log: Logger
    ) {
        let combo = configuration.combo
        // A combo that lives has spoken within its windows; an update can be held for a while, and
        // an idle clock is behind the wall's.
        let rewind =
            combo.hideAfter + combo.retainFor + combo.updateMinInterval
            + (configuration.idleGrace ?? 0)
        self.init(
            listen: listen,
            topic: configuration.topics.output,
            rewindMilliseconds: rewind,
            signer: configuration.overlay.key.map { LinkSigner(key: $0) },
            clients: configuration.overlay.maxClients
        )
        rewindMilliseconds += limits.slackMilliseconds
        let available =
            DescriptorLimit.raise() - Int(limits.connections) - Self.otherDescriptors
        guard available < clients else { return }
        log.warning(
            "few-descriptors",
            [
                "overlay.max.clients": .integer(Int64(clients)),
                "possible": .integer(Int64(max(1, available))),
                "remedy": "raise the limit of open files (ulimit -n, LimitNOFILE)",
            ]
        )
        clients = max(1, available)
    }
}

/// Makes clients of the topic of overlay commands.
func overlayTail(
    _ settings: KafkaSettings,
    topic: String,
    group: String,
    log: Logger
) -> @Sendable () throws(StreamError) -> any TopicTail {
    { () throws(StreamError) -> any TopicTail in
        try KafkaTopicTail(
            settings,
            topic: topic,
            group: group,
            clientID: "\(group)-overlay",
            events: LoggedEvents(log)
        )
    }
}
