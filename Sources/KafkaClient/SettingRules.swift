// Our settings for each role, and what a user may not set.

/// Which settings are ours, whose they are, and which are refused.
enum SettingRules {
    /// Milliseconds after which the group gives up a silent member.
    static let sessionTimeout = 10_000
    /// Milliseconds after which the broker aborts an open transaction.
    static let transactionTimeout = 10_000
    /// Milliseconds between two reports of what is connected; the idle clock depends on them.
    static let statisticsInterval = 1000
    /// Bytes a reader without a budget may fetch ahead.
    static let readerPrefetchBytes = 16 << 20

    /// Our settings, under the user's.
    static func defaults(for role: ClientRole) -> [String: String] {
        var values = everyClient
        switch role {
        case .source(let group, let groupInstance, let prefetchBytes):
            values.merge(consumer) { $1 }
            values["group.id"] = group
            values["group.instance.id"] = groupInstance
            values["queued.max.messages.kbytes"] = kilobytes(prefetchBytes)
            values["statistics.interval.ms"] = String(statisticsInterval)
        case .reader(let group, let readCommitted, let prefetchBytes):
            values.merge(consumer) { $1 }
            values["group.id"] = group
            values["isolation.level"] = readCommitted ? "read_committed" : "read_uncommitted"
            values["queued.max.messages.kbytes"] = kilobytes(prefetchBytes)
        case .sink(let transactionalID):
            values.merge(producer) { $1 }
            values["transactional.id"] = transactionalID
            values["transaction.timeout.ms"] = String(transactionTimeout)
        case .loader:
            values.merge(producer) { $1 }
        case .admin:
            break
        }
        return values
    }

    private static let everyClient = [
        // A producer's default is to have the broker create what is misspelt.
        "allow.auto.create.topics": "false",
        // The default of 10 s would add as much to every outage.
        "reconnect.backoff.max.ms": "1000",
        "socket.connection.setup.timeout.ms": "5000",
        "socket.keepalive.enable": "true",
        "socket.nagle.disable": "true",
        "topic.metadata.refresh.interval.ms": "60000",
    ]

    private static let consumer = [
        "auto.offset.reset": "error",
        "check.crcs": "true",
        "enable.auto.commit": "false",
        "enable.auto.offset.store": "false",
        "enable.partition.eof": "true",
        "fetch.error.backoff.ms": "100",
        "fetch.wait.max.ms": "100",
        // Members hear of a rebalance in a heartbeat's answer, and a cooperative one takes two:
        // with the default of 3000 a rolling restart paused partitions for 5 s.
        "heartbeat.interval.ms": "500",
        "isolation.level": "read_committed",
        "max.poll.interval.ms": "60000",
        "partition.assignment.strategy": "cooperative-sticky",
        // By count there is no limit: over one, a fetch waits up to a second to be taken up again.
        "queued.min.messages": "10000000",
        "session.timeout.ms": String(sessionTimeout),
    ]

    private static let producer = [
        "acks": "all",
        "batch.size": "1000000",
        "enable.idempotence": "true",
        "linger.ms": "50",
        // The topic's max.message.bytes decides: a dead letter may be over the default of 1 MB.
        "message.max.bytes": "16777216",
        "partitioner": "murmur2_random",
        // The default of 100 is waited whenever a transaction begins before the last one's markers
        // are written.
        "retry.backoff.ms": "10",
    ]

    private static func kilobytes(_ bytes: Int) -> String {
        String(min(max(bytes / 1024, 1024), 2_097_151))
    }

    /// Whether a setting is of any use to a producer, or to a consumer.
    ///
    /// librdkafka warns at every client of those that are not.
    static func concerns(_ name: String, producer: Bool) -> Bool {
        producer ? !consumerOnly.contains(name) : !producerOnly.contains(name)
    }

    /// Why a user's setting is refused; nil where it is not.
    static func refusal(of name: String, value: String) -> String? {
        if let reason = refused[name] { return reason }
        guard let (allowed, reason) = fixed[name], !allowed.contains(value.lowercased()) else {
            return statisticsRefusal(name, value)
        }
        return "must be \(allowed.joined(separator: " or ")): \(reason)"
    }

    private static func statisticsRefusal(_ name: String, _ value: String) -> String? {
        guard name == "statistics.interval.ms", let interval = Int(value),
            interval < statisticsInterval
        else { return nil }
        return "must be \(statisticsInterval) or more: whether a leader is connected, on which the "
            + "idle clock depends, is read from the statistics"
    }

    private static let byTransaction = "offsets are committed by transactions only"
    private static let byWorker = "every position is an explicit one that the worker sets"

    /// Never to be set.
    private static let refused: [String: String] = [
        "auto.commit.enable": byTransaction,
        "auto.commit.interval.ms": byTransaction,
        "auto.offset.reset": "\(byWorker); input.start says where a new group begins",
        "client.id": "is made of group.id, instance.id and the worker's number",
        "delivery.report.only.error": "a commit would wait in steps of 10 ms",
        "enable.auto.commit": byTransaction,
        "enable.auto.offset.store": byTransaction,
        "enable.partition.eof": "it tells the worker that it has caught up",
        "group.id": "is set by the key group.id",
        "group.instance.id": "is made of instance.id and the worker's number",
        "group.protocol": "rebalances are handled as the classic protocol has them",
        "isolation.level": "each client has the one that exactly-once needs",
        "log.queue": "the client's log lines go through the program's own log",
        "offset.store.method": byTransaction,
        "test.mock.num.brokers": "each client would have a cluster of its own",
        "transactional.id": "is made of group.id, instance.id and the worker's number",
    ]

    /// To be set to these values only.
    private static let fixed: [String: (allowed: [String], reason: String)] = [
        "acks": (["all", "-1"], "a record that one broker has is not yet safe"),
        "enable.idempotence": (["true"], "a retry would write a record twice"),
        "partition.assignment.strategy": (
            ["cooperative-sticky"], "the worker keeps its other partitions during a rebalance"
        ),
        "partitioner": (["murmur2_random"], "Java clients expect a key in this partition"),
        "request.required.acks": (["all", "-1"], "a record that one broker has is not yet safe"),
    ]

    static func isSecret(_ name: String) -> Bool {
        secrets.contains(name)
            || ["password", "passphrase", "secret", "private.key"].contains { name.contains($0) }
    }

    private static let secrets: Set<String> = [
        "sasl.jaas.config", "sasl.oauthbearer.config", "sasl.password", "ssl.key.password",
        "ssl.key.pem", "ssl.keystore.password", "ssl_key",
    ]

    /// Marked C in librdkafka's list of settings.
    private static let consumerOnly: Set<String> = [
        "check.crcs", "consume.callback.max.messages", "coordinator.query.interval.ms",
        "fetch.error.backoff.ms", "fetch.max.bytes", "fetch.message.max.bytes",
        "fetch.min.bytes", "fetch.queue.backoff.ms", "fetch.wait.max.ms", "group.protocol.type",
        "group.remote.assignor", "heartbeat.interval.ms", "max.partition.fetch.bytes",
        "max.poll.interval.ms", "partition.assignment.strategy", "queued.max.messages.kbytes",
        "queued.min.messages", "session.timeout.ms",
    ]

    /// Marked P in librdkafka's list of settings.
    private static let producerOnly: Set<String> = [
        "acks", "batch.num.messages", "batch.size", "compression.codec", "compression.level",
        "compression.type", "delivery.timeout.ms", "enable.gapless.guarantee",
        "enable.idempotence", "linger.ms", "message.send.max.retries", "message.timeout.ms",
        "msg_order_cmp", "partitioner", "queue.buffering.backpressure.threshold",
        "queue.buffering.max.kbytes", "queue.buffering.max.messages", "queue.buffering.max.ms",
        "queuing.strategy", "request.required.acks", "request.timeout.ms", "retries",
        "retry.backoff.ms", "sticky.partitioning.linger.ms", "transaction.timeout.ms",
    ]
}
