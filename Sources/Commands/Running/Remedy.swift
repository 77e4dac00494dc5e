internal import KafkaClient
internal import StreamPorts

/// What a person can do about an error of the client or the brokers.
struct Remedy {
    /// The first version that sends the right nonce (librdkafka 4895).
    private static let firstWithSCRAM = 0x0206_0100

    /// How clients log in, if they do: `PLAIN`.
    let mechanism: String
    private let hasKey: Bool
    private let authorities: String
    private let libraryNumber: Int
    private let libraryVersion: String

    /// For clients with these settings, on the librdkafka that runs.
    init(
        _ configuration: Configuration,
        libraryNumber: Int = KafkaSettings.libraryNumber,
        libraryVersion: String = KafkaSettings.libraryVersion
    ) {
        let kafka = configuration.kafka
        mechanism = kafka["sasl.mechanism"] ?? kafka["sasl.mechanisms"] ?? "GSSAPI"
        hasKey = ["ssl.key.location", "ssl.key.pem", "ssl.keystore.location", "ssl_key"]
            .contains { kafka[$0] != nil }
        authorities =
            kafka["ssl.ca.location"].map { "kafka.ssl.ca.location (\($0))" }
            ?? (kafka["ssl.ca.pem"] == nil ? "kafka.ssl.ca.location" : "kafka.ssl.ca.pem")
        self.libraryNumber = libraryNumber
        self.libraryVersion = libraryVersion
    }

    /// Whether logins by SCRAM fail on newer brokers whatever the password is.
    var sendsWrongNonce: Bool {
        mechanism.uppercased().hasPrefix("SCRAM") && libraryNumber < Self.firstWithSCRAM
    }

    /// Why SCRAM does not work; for ``sendsWrongNonce``.
    var nonceReason: String {
        "librdkafka \(libraryVersion) sends a wrong nonce in SCRAM (its issue 4895), which Kafka "
            + "3.8.1 and newer refuse as invalid credentials whatever the password is; run it "
            + "with librdkafka 2.6.1 or newer, or use PLAIN over TLS or a client certificate"
    }

    /// What to do about an error; nil: nothing that its own words don't say.
    func callAsFunction(_ error: StreamError) -> String? {
        switch error.code {
        case "_AUTHENTICATION", "SASL_AUTHENTICATION_FAILED": login(error.detail)
        case "_SSL", "SSL": tls(error.detail)
        case "_RESOLVE": "check the host name in kafka.bootstrap.servers, and the DNS"
        case "_TRANSPORT": transport(error.detail)
        case "TOPIC_AUTHORIZATION_FAILED", "GROUP_AUTHORIZATION_FAILED",
            "TRANSACTIONAL_ID_AUTHORIZATION_FAILED", "CLUSTER_AUTHORIZATION_FAILED":
            "grant the operations that the README's table under Security lists"
        default: nil
        }
    }

    private func login(_ detail: String) -> String {
        if detail.contains("nsupported") || detail.contains("nabled") {
            return "set kafka.sasl.mechanism to one that the brokers have"
        }
        if sendsWrongNonce { return nonceReason }
        return "check kafka.sasl.username and kafka.sasl.password (or kafka.sasl.password.file), "
            + "and that the brokers know the user for \(mechanism)"
    }

    private func tls(_ detail: String) -> String {
        if detail.contains("expired") || detail.contains("not yet valid") {
            return "renew the certificate, or set the clock of this machine"
        }
        if detail.contains("ostname mismatch") || detail.contains("IP address mismatch") {
            return "use a name in kafka.bootstrap.servers and advertised.listeners that the "
                + "brokers' certificates have"
        }
        if detail.contains("certificate verify failed") || detail.contains("trusted") {
            return "\(authorities) must be the authority that signed the brokers' certificates"
        }
        if detail.contains("alert") {
            return hasKey
                ? "the brokers refuse this client's certificate: it must be valid now, and signed "
                    + "by an authority that they trust"
                : "the brokers want a client's certificate: set kafka.ssl.certificate.location "
                    + "and kafka.ssl.key.location"
        }
        return "check kafka.security.protocol, and that the port is one with TLS"
    }

    private func transport(_ detail: String) -> String? {
        // A refusal of the client's certificate comes after the handshake of TLS 1.3.
        if detail.contains("SSL routines") { return tls(detail) }
        if detail.contains("security.protocol") || detail.contains("SSL listener") {
            return "set kafka.security.protocol as the port has it: SSL, SASL_SSL or "
                + "SASL_PLAINTEXT"
        }
        guard detail.contains("refused") || detail.contains("timed out") else { return nil }
        return "check kafka.bootstrap.servers, that the brokers run, and that no firewall is "
            + "between"
    }
}
