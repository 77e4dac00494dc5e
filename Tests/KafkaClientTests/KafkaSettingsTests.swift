import StreamPorts
import Testing

@testable import KafkaClient

@Suite struct `Settings of librdkafka` {
    private let servers = ["bootstrap.servers": "127.0.0.1:9092"]
    private let source = ClientRole.source(group: "g", groupInstance: "i", prefetchBytes: 48 << 20)
    private let sink = ClientRole.sink(transactionalID: "t")

    private func with(_ more: [String: String]) -> [String: String] {
        servers.merging(more) { $1 }
    }

    private func values(
        _ role: ClientRole,
        _ more: [String: String] = [:]
    ) throws -> [String: String] {
        let settings = try KafkaSettings(with(more))
        return Dictionary(
            uniqueKeysWithValues: settings.resolved(for: role, clientID: "c").map { ($0, $1) }
        )
    }

    @Test func `each role has what exactly-once needs`() throws {
        let source = try values(source)
        #expect(source["enable.auto.commit"] == "false")
        #expect(source["enable.auto.offset.store"] == "false")
        #expect(source["auto.offset.reset"] == "error")
        #expect(source["enable.partition.eof"] == "true")
        #expect(source["isolation.level"] == "read_committed")
        #expect(source["partition.assignment.strategy"] == "cooperative-sticky")
        #expect(source["group.id"] == "g" && source["group.instance.id"] == "i")
        #expect(source["client.id"] == "c")
        #expect(source["queued.max.messages.kbytes"] == "49152")
        #expect(source["transactional.id"] == nil)
        let sink = try values(sink)
        #expect(sink["transactional.id"] == "t" && sink["enable.idempotence"] == "true")
        #expect(sink["acks"] == "all" && sink["partitioner"] == "murmur2_random")
        #expect(sink["transaction.timeout.ms"] == "10000" && sink["retry.backoff.ms"] == "10")
        let uncommitted = try values(.reader(group: "g", readCommitted: false, prefetchBytes: 0))
        #expect(uncommitted["isolation.level"] == "read_uncommitted")
        #expect(uncommitted["queued.max.messages.kbytes"] == "1024")
        #expect(try values(.admin)["allow.auto.create.topics"] == "false")
    }

    @Test func `the user's settings win, at the clients that they concern`() throws {
        let chosen = ["linger.ms": "7", "fetch.wait.max.ms": "70", "socket.timeout.ms": "9000"]
        let source = try values(source, chosen)
        let sink = try values(sink, chosen)
        #expect(source["fetch.wait.max.ms"] == "70" && source["linger.ms"] == nil)
        #expect(sink["linger.ms"] == "7" && sink["fetch.wait.max.ms"] == nil)
        #expect(source["socket.timeout.ms"] == "9000" && sink["socket.timeout.ms"] == "9000")
    }

    @Test(arguments: [
        ("enable.auto.commit", "true"), ("enable.auto.commit", "false"),
        ("enable.auto.offset.store", "true"), ("auto.offset.reset", "earliest"),
        ("enable.partition.eof", "false"), ("isolation.level", "read_uncommitted"),
        ("enable.idempotence", "false"), ("transactional.id", "x"), ("acks", "1"),
        ("request.required.acks", "0"), ("group.id", "x"), ("group.instance.id", "x"),
        ("client.id", "x"), ("partition.assignment.strategy", "range"),
        ("partitioner", "consistent"), ("statistics.interval.ms", "0"),
        ("group.protocol", "consumer"), ("delivery.report.only.error", "true"),
        ("transaction.timeout.ms", "60000"), ("session.timeout.ms", "6000"),
        ("no.such.setting", "1"), ("linger.ms", "soon"), ("bootstrap.servers", ""),
    ])
    func `what would break exactly-once, or is unknown, is refused by name`(
        name: String,
        value: String
    ) throws {
        let refusal = try #require(failure { try KafkaSettings(with([name: value])) })
        #expect(refusal.disposition == .refused)
        #expect(refusal.detail.count > 10)
        // The shorter session is refused for the transaction that is longer then.
        let named = name == "session.timeout.ms" ? "transaction.timeout.ms" : name
        #expect(refusal.operation == "kafka.\(named)")
    }

    @Test(arguments: [
        ("enable.idempotence", "true"), ("acks", "-1"), ("acks", "ALL"),
        ("partition.assignment.strategy", "cooperative-sticky"),
        ("statistics.interval.ms", "5000"), ("session.timeout.ms", "30000"),
        ("compression.type", "lz4"), ("metadata.broker.list", "a:1,b:2"),
    ])
    func `what does no harm is taken`(name: String, value: String) throws {
        _ = try KafkaSettings(with([name: value]))
    }

    @Test func `librdkafka's own words name an unknown setting`() throws {
        let refusal = failure { try KafkaSettings(with(["fetch.wait.max": "1"])) }
        #expect(refusal?.detail == "No such configuration property: \"fetch.wait.max\"")
    }

    @Test func `secrets are known by name`() {
        for name in ["sasl.password", "ssl.key.password", "ssl.keystore.password", "ssl.key.pem"] {
            #expect(KafkaSettings.isSecret(name), "\(name)")
        }
        for name in ["sasl.username", "bootstrap.servers", "ssl.ca.location", "debug"] {
            #expect(!KafkaSettings.isSecret(name), "\(name)")
        }
    }

    @Test func `no refusal repeats a secret`() {
        let refusal = failure {
            try KafkaSettings(with(["sasl.password": "hunter2", "security.protocol": "nonsense"]))
        }
        #expect(refusal?.description.contains("hunter2") == false)
    }
}
