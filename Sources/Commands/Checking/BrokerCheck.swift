internal import KafkaClient
internal import StreamPorts
internal import WorkerRuntime

/// Whether each broker of the cluster can be reached, with TLS and login.
struct BrokerCheck {
    /// How long the brokers have to answer, milliseconds.
    private static let patience: Int64 = 10_000
    /// How long others have, once one has refused for good.
    private static let patienceAfterRefusal: Int64 = 1000
    private static let questionMilliseconds: Int32 = 500

    let configuration: Configuration
    let remedy: Remedy

    /// A client of a cluster that answers; nil: it doesn't, as the findings say.
    func reach(_ findings: inout [Finding]) -> KafkaAdmin? {
        do throws(StreamError) {
            let admin = try client(of: configuration)
            for broker in admin.brokers { findings.append(finding(of: broker)) }
            return admin.client
        } catch {
            let servers = configuration.kafka["bootstrap.servers"] ?? ""
            findings.append(failure("brokers", servers, error))
            return nil
        }
    }

    private func finding(of broker: BrokerAddress) -> Finding {
        let subject = "broker \(broker.node)"
        let address = "\(broker.host):\(broker.port)"
        var copy = configuration
        copy.kafka["bootstrap.servers"] = address
        copy.kafka["metadata.broker.list"] = nil
        do throws(StreamError) {
            try client(of: copy).client.close(timeoutMilliseconds: 1000)
            return Finding(.ok, subject, "\(address) answers\(connectionWords)")
        } catch {
            return failure(subject, address, error)
        }
    }

    /// How a client comes to the brokers: `, by TLS, logged in as worker by PLAIN`.
    private var connectionWords: String {
        let kafka = configuration.kafka
        let networkProtocol = (kafka["security.protocol"] ?? "plaintext").lowercased()
        var words = networkProtocol.hasSuffix("ssl") ? ", by TLS" : ", without TLS"
        if kafka["ssl.key.location"] != nil || kafka["ssl.keystore.location"] != nil {
            words += " with a client's certificate"
        }
        if networkProtocol.hasPrefix("sasl") {
            words += ", logged in as \(kafka["sasl.username"] ?? "?") by \(remedy.mechanism)"
        }
        return words
    }

    private func client(
        of configuration: Configuration
    ) throws(StreamError) -> (client: KafkaAdmin, brokers: [BrokerAddress]) {
        let errors = ReportedErrors()
        let admin = try KafkaAdmin(
            KafkaSettings(configuration.kafka),
            clientID: "\(configuration.groupID)-check",
            events: errors
        )
        let clock = SystemClock()
        let start = clock.monotonic
        while true {
            do throws(StreamError) {
                let brokers = try admin.brokers(timeoutMilliseconds: Self.questionMilliseconds)
                return (admin, brokers)
            } catch {
                let worst = errors.worst
                let isLasting = worst.map(ReportedErrors.isLasting) ?? false
                let patience = isLasting ? Self.patienceAfterRefusal : Self.patience
                guard error.disposition == .retriable, clock.monotonic.since(start) < patience
                else {
                    admin.close(timeoutMilliseconds: 1000)
                    throw worst ?? error
                }
            }
        }
    }

    private func failure(_ subject: String, _ address: String, _ error: StreamError) -> Finding {
        let what = "\(address): \(Self.essence(of: error.detail))"
        return Finding(.failed, subject, remedy(error).map { "\(what); \($0)" } ?? what)
    }

    /// librdkafka's sentence without the thread and the address before it, and the time behind it.
    static func essence(of detail: String) -> String {
        var rest = detail[...]
        for _ in 0..<2 {
            guard let end = rest.firstRange(of: ": "),
                rest[..<end.lowerBound].hasPrefix("[thrd:") || rest[..<end.lowerBound].contains("/")
            else { break }
            rest = rest[end.upperBound...]
        }
        if let time = rest.firstRange(of: " (after ") { rest = rest[..<time.lowerBound] }
        return String(trimmed(rest))
    }
}
