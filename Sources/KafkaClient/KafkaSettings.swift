internal import CRdKafka
package import StreamPorts

/// What a client is for; decides its settings.
package enum ClientRole: Equatable, Sendable {
    /// A worker's member of the consumer group.
    case source(group: String, groupInstance: String?, prefetchBytes: Int)
    /// A worker's transactional producer.
    case sink(transactionalID: String)
    /// Reads assigned partitions, and never joins a group (librdkafka wants a group id all the
    /// same).
    case reader(group: String, readCommitted: Bool, prefetchBytes: Int)
    /// Writes plain records.
    case loader
    /// Asks about topics and groups, and changes them.
    case admin

    var isProducer: Bool {
        switch self {
        case .sink, .loader: true
        case .source, .reader, .admin: false
        }
    }
}

/// The user's `kafka.*` settings, checked, and our own under them.
///
/// The user's win, except those that would break exactly-once or that other keys set: these are
/// refused with the reason. Names that librdkafka doesn't know are refused by it, in its own words.
package struct KafkaSettings: Sendable {
    /// The user's, by librdkafka's names.
    private let chosen: [String: String]

    /// Checks the user's settings, named without the `kafka.` prefix.
    ///
    /// - Throws: `refused`, the operation being the setting's name with the prefix; the first of
    ///   ``mistakes(in:)``.
    package init(_ settings: [String: String]) throws(StreamError) {
        if let mistake = Self.mistakes(in: settings).first { throw mistake }
        chosen = settings
    }

    /// Everything that is wrong with settings, each setting by itself, and if nothing is, how they
    /// go together.
    package static func mistakes(in settings: [String: String]) -> [StreamError] {
        var mistakes: [StreamError] = []
        for (name, value) in settings.sorted(by: { $0.key < $1.key }) {
            if let reason = SettingRules.refusal(of: name, value: value)
                ?? libraryRefusal(of: name, value: value)
            {
                mistakes.append(refusal(name, reason))
            }
        }
        let servers = settings["bootstrap.servers"] ?? settings["metadata.broker.list"] ?? ""
        if servers.isEmpty {
            let reason = "is required: host:port, several with commas"
            mistakes.append(refusal("bootstrap.servers", reason))
        }
        guard mistakes.isEmpty else { return mistakes }
        let all = KafkaSettings(unchecked: settings)
        do throws(StreamError) {
            try all.checkTimeouts()
            for role in everyRole { try all.check(role) }
        } catch {
            mistakes.append(error)
        }
        return mistakes
    }

    /// What librdkafka has against a setting, in its words.
    private static func libraryRefusal(of name: String, value: String) -> String? {
        guard let configuration = unsafe rd_kafka_conf_new() else {
            preconditionFailure("librdkafka is out of memory")
        }
        defer { unsafe rd_kafka_conf_destroy(configuration) }
        let (result, text) = unsafe withErrorText { bytes, size in
            unsafe rd_kafka_conf_set(configuration, name, value, bytes, size)
        }
        return result == RD_KAFKA_CONF_OK ? nil : text
    }

    private init(unchecked settings: [String: String]) {
        chosen = settings
    }

    /// For a client that talks to no broker.
    static let withoutServers = KafkaSettings(unchecked: [:])

    /// Whether the value of a setting is a secret, to be shown to nobody.
    package static func isSecret(_ name: String) -> Bool {
        SettingRules.isSecret(name)
    }

    /// The servers that clients ask first.
    package var bootstrapServers: String {
        chosen["bootstrap.servers"] ?? chosen["metadata.broker.list"] ?? ""
    }

    /// The version of the librdkafka that runs, which need not be the one compiled against.
    package static var libraryVersion: String {
        unsafe String(cString: rd_kafka_version_str())
    }

    /// The same as a number that grows: 0x020601ff is 2.6.1.
    package static var libraryNumber: Int {
        Int(rd_kafka_version())
    }

    /// The longest time that a transaction may take, milliseconds.
    package var transactionTimeoutMilliseconds: Int {
        milliseconds("transaction.timeout.ms", default: SettingRules.transactionTimeout)
    }

    /// Everything that is set for a role, by name: ours, the role's own, and the user's on top.
    package func resolved(for role: ClientRole, clientID: String) -> [(name: String, value: String)]
    {
        var values = SettingRules.defaults(for: role)
        values["client.id"] = clientID
        for (name, value) in chosen where SettingRules.concerns(name, producer: role.isProducer) {
            values[name] = value
        }
        return values.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
    }

    /// A configuration for `rd_kafka_new`, which takes it over; else it is the caller's to destroy.
    func configuration(for role: ClientRole, clientID: String) throws(StreamError) -> OpaquePointer
    {
        guard let configuration = unsafe rd_kafka_conf_new() else {
            preconditionFailure("librdkafka is out of memory")
        }
        for (name, value) in resolved(for: role, clientID: clientID) {
            let (result, text) = unsafe withErrorText { bytes, size in
                unsafe rd_kafka_conf_set(configuration, name, value, bytes, size)
            }
            if result != RD_KAFKA_CONF_OK {
                unsafe rd_kafka_conf_destroy(configuration)
                throw Self.refusal(name, text)
            }
        }
        return unsafe configuration
    }

    /// One of each role, to find out at once what librdkafka would refuse later.
    private static let everyRole: [ClientRole] = [
        .source(group: "check", groupInstance: nil, prefetchBytes: 1 << 20),
        .sink(transactionalID: "check"),
    ]

    private func check(_ role: ClientRole) throws(StreamError) {
        unsafe rd_kafka_conf_destroy(try configuration(for: role, clientID: "check"))
    }

    private func checkTimeouts() throws(StreamError) {
        let session = milliseconds("session.timeout.ms", default: SettingRules.sessionTimeout)
        if transactionTimeoutMilliseconds > session {
            throw Self.refusal(
                "transaction.timeout.ms",
                "must not be above session.timeout.ms (\(session)): a member that the group has "
                    + "given up must not hold back its successor's reads for longer than that"
            )
        }
    }

    private func milliseconds(_ name: String, default value: Int) -> Int {
        chosen[name].flatMap { Int($0) } ?? value
    }

    private static func refusal(_ name: String, _ reason: String) -> StreamError {
        StreamError(
            .refused,
            operation: "kafka.\(name)",
            code: StreamError.name(of: RD_KAFKA_RESP_ERR__INVALID_ARG),
            detail: reason
        )
    }
}
