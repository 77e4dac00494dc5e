import KafkaClient
import StreamPorts
import Testing

@testable import Commands

struct CheckTests {
    private func configuration(_ options: String...) throws -> Configuration {
        var sources = ConfigurationSources(machine: Machine(hostName: "host-1"))
        sources.options = options
        return try LoadedConfiguration(sources).configuration
    }

    private func topic(
        _ key: String,
        partitions: Int = 2,
        leader: Int32? = 1,
        replicas: Int = 3,
        inSync: Int = 3,
        _ settings: [String: String]? = [:]
    ) -> TopicDescription {
        let described = (0..<Int32(partitions)).map {
            PartitionDescription(
                partition: $0,
                leader: leader,
                replicas: replicas,
                inSyncReplicas: inSync
            )
        }
        return TopicDescription(key: key, name: "t", partitions: described, settings: settings)
    }

    private func lines(
        _ topic: TopicDescription,
        inputPartitions: Int = 2,
        _ options: String...
    ) throws -> [String] {
        var sources = ConfigurationSources(machine: Machine(hostName: "host-1"))
        sources.options = options
        let rules = TopicRules(configuration: try LoadedConfiguration(sources).configuration)
        let input = self.topic("input.topic", partitions: inputPartitions)
        return (rules.misfits(of: topic, input: input) + rules.weaknesses(of: topic)).map(\.line)
    }

    @Test func `a finding is a line that begins with its verdict`() {
        #expect(Finding(.ok, "clock", "fine").line == "ok      clock: fine")
        #expect(Finding(.warning, "clock", "slow").line == "warning clock: slow")
        #expect(Finding(.failed, "clock", "wrong").line == "FAILED  clock: wrong")
    }

    @Test func `topics as the program makes them give nothing to complain of`() throws {
        for key in ["input.topic", "output.topic", "dlq.topic", "changelog.topic"] {
            let settings = TopicSettings.wanted(of: key)
                .merging(["min.insync.replicas": "2"]) { $1 }
            #expect(try lines(topic(key, settings)) == [])
            #expect(try lines(topic(key, nil)) == [], "settings that can't be seen are not judged")
        }
    }

    @Test func `a changelog that does not fit the input fails`() throws {
        let fewer = try lines(topic("changelog.topic", partitions: 1))
        #expect(fewer.count == 1 && fewer[0].hasPrefix("FAILED  changelog.topic: t has 1 part"))
        #expect(fewer[0].contains("giftcombo topics adds the missing ones"))
        let deleted = try lines(topic("changelog.topic", ["cleanup.policy": "compact,delete"]))
        #expect(deleted.count == 1 && deleted[0].contains("cleanup.policy=compact,delete"))
    }

    @Test func `partitions without a leader or enough copies in sync fail`() throws {
        let leaderless = try lines(topic("output.topic", leader: nil))
        #expect(
            leaderless == [
                "FAILED  output.topic: t: 2 partitions have no leader; see to the brokers"
            ]
        )
        let thin = try lines(topic("dlq.topic", inSync: 1, ["min.insync.replicas": "2"]))
        #expect(thin.count == 2 && thin[0].contains("FAILED") && thin[1].contains("warning"))
    }

    @Test(
        arguments: [
            ("changelog.topic", "segment.bytes=1073741824", "compacted late"),
            ("changelog.topic", "min.cleanable.dirty.ratio=0.5", "compacted late"),
            ("changelog.topic", "delete.retention.ms=3600000", "forgets ends"),
            ("changelog.topic", "max.message.bytes=1048588", "no room"),
            ("dlq.topic", "max.message.bytes=1048588", "no room"),
            ("input.topic", "message.timestamp.type=LogAppendTime", "CreateTime"),
            ("output.topic", "cleanup.policy=compact", "cleanup.policy=delete"),
            ("output.topic", "min.insync.replicas=1", "min.insync.replicas=2"),
        ]
    )
    func `a setting that is worse than it should be is a warning`(
        key: String,
        setting: String,
        words: String
    ) throws {
        let parts = setting.split(separator: "=")
        let found = try lines(topic(key, [String(parts[0]): String(parts[1])]))
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("warning \(key): t ") == true)
        #expect(found.first?.contains(words) == true, "\(found)")
    }

    @Test func `append times are as good as any where gifts carry their own`() throws {
        let input = topic("input.topic", ["message.timestamp.type": "LogAppendTime"])
        #expect(try lines(input, "time.source=event") == [])
    }

    /// A broker whose clock is `skew` ms ahead takes what is dated up to that beyond its bound.
    @Test(
        arguments: [
            0, 999, -999, 1001, -1001, 1500, -2000, 30_000, -30_000, 3_600_000, -7_000_000,
            200_000_000, -200_000_000,
        ] as [Int64]
    )
    func `the clock's skew is found by what a broker takes`(skew: Int64) {
        var attempts = 0
        let found = ClockCheck.skew { ahead in
            attempts += 1
            return ahead <= skew
        }
        switch abs(skew) {
        case ...ClockCheck.tolerance: #expect(found == 0 && attempts == 2)
        case ...ClockCheck.limit: #expect(abs(found - skew) <= ClockCheck.precision)
        default: #expect(found == (skew < 0 ? -ClockCheck.limit : ClockCheck.limit))
        }
        #expect(attempts <= 50)
    }

    @Test func `a clock is compared only where the brokers bound what is ahead`() {
        var settings = [
            "cleanup.policy": "compact", "message.timestamp.type": "CreateTime",
            "message.timestamp.after.max.ms": "3600000",
        ]
        #expect(ClockCheck.bound(of: topic("changelog.topic", settings)) == 3_600_000)
        settings["message.timestamp.after.max.ms"] = "9223372036854775807"
        #expect(ClockCheck.bound(of: topic("changelog.topic", settings)) == nil)
        settings["message.timestamp.after.max.ms"] = nil
        #expect(ClockCheck.bound(of: topic("changelog.topic", settings)) == nil)
        #expect(ClockCheck.bound(of: topic("changelog.topic", nil)) == nil)
        // A record without a key would be taken.
        settings["message.timestamp.after.max.ms"] = "3600000"
        settings["cleanup.policy"] = "delete"
        #expect(ClockCheck.bound(of: topic("changelog.topic", settings)) == nil)
    }

    @Test func `what librdkafka puts around its sentences is left out`() {
        let login =
            "sasl_ssl://a:1/bootstrap: SASL authentication error: no (after 3ms in state AUTH_REQ)"
        #expect(BrokerCheck.essence(of: login) == "SASL authentication error: no")
        let thread = "[thrd:ssl://a:1/1]: ssl://a:1/1: Certificate (subject=/CN=a) failed: expired"
        #expect(BrokerCheck.essence(of: thread) == "Certificate (subject=/CN=a) failed: expired")
        #expect(BrokerCheck.essence(of: "Local: Timed out") == "Local: Timed out")
    }

    @Test func `a configuration that is wrong ends the check with 2, brokers or not`() throws {
        let wrong = try ProgramRun(["check", "--set", "combo.lanes=0"])
        #expect(wrong.exitCode == .usage && wrong.output.isEmpty)
        let missing = try ProgramRun(["check"])
        #expect(missing.exitCode == .usage)
        #expect(missing.errors.contains("kafka.bootstrap.servers is required"))
        let refused = try ProgramRun([
            "check", "--set", "kafka.bootstrap.servers=127.0.0.1:1", "--set", "kafka.acks=1",
        ])
        #expect(refused.exitCode == .usage && refused.errors.contains("kafka.acks must be all"))
    }
}

struct RemedyTests {
    private func remedy(_ version: Int = 0x0200_02FF, _ options: String...) throws -> Remedy {
        var sources = ConfigurationSources(machine: Machine(hostName: "host-1"))
        sources.options = options
        return Remedy(
            try LoadedConfiguration(sources).configuration,
            libraryNumber: version,
            libraryVersion: "2.0.2"
        )
    }

    private func error(_ code: String, _ detail: String) -> StreamError {
        StreamError(.retriable, operation: "client", code: code, detail: detail)
    }

    @Test func `a login by SCRAM that fails on an old librdkafka names its fault`() throws {
        let refused = error("_AUTHENTICATION", "invalid credentials")
        let scram = "kafka.sasl.mechanism=SCRAM-SHA-512"
        let old = try remedy(0x0206_00FF, scram)
        #expect(old.sendsWrongNonce && old(refused)?.contains("4895") == true)
        let new = try remedy(0x0206_01FF, scram)
        #expect(!new.sendsWrongNonce && new(refused)?.contains("kafka.sasl.password") == true)
        #expect(try !remedy(0x0200_02FF, "kafka.sasl.mechanisms=PLAIN").sendsWrongNonce)
    }

    @Test(
        arguments: [
            ("_AUTHENTICATION", "Unsupported SASL mechanism", "set kafka.sasl.mechanism"),
            ("_AUTHENTICATION", "Invalid username or password", "check kafka.sasl.username"),
            ("_SSL", "certificate verify failed", "kafka.ssl.ca.location must be"),
            ("_SSL", "its authority is not among the trusted ones", "kafka.ssl.ca.location must"),
            ("_SSL", "the certificate has expired", "renew the certificate"),
            ("_SSL", "hostname mismatch: another host", "use a name"),
            ("_SSL", "unexpected eof while reading", "check kafka.security.protocol"),
            ("_TRANSPORT", "SSL routines::sslv3 alert bad certificate", "the brokers want a"),
            ("_TRANSPORT", "connecting to a SSL listener?", "set kafka.security.protocol"),
            ("_TRANSPORT", "Connection refused", "check kafka.bootstrap.servers"),
            ("_RESOLVE", "Failed to resolve", "check the host name"),
            ("TOPIC_AUTHORIZATION_FAILED", "topic t", "grant the operations"),
        ]
    )
    func `each trouble of a connection has something to do about it`(
        code: String,
        detail: String,
        start: String
    ) throws {
        let advice = try remedy()(error(code, detail))
        #expect(advice?.hasPrefix(start) == true, "\(String(describing: advice))")
    }

    @Test func `a certificate that the brokers refuse is told from one that is missing`() throws {
        let alert = error("_TRANSPORT", "SSL routines::sslv3 alert certificate unknown")
        let shown = try remedy(0x0200_02FF, "kafka.ssl.key.location=k")
        #expect(shown(alert)?.contains("refuse this client's certificate") == true)
    }

    @Test func `what explains itself has no advice`() throws {
        #expect(try remedy()(error("_TIMED_OUT", "Local: Timed out")) == nil)
    }
}
