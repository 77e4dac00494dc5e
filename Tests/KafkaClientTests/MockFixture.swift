import KafkaClient
import StreamPorts

/// librdkafka's pretended cluster, one for each test.
final class MockFixture: KafkaFixture, @unchecked Sendable {
    // A test's fixture stays on the test's thread; `PortFixture` is Sendable for the sake of
    // others.
    let cluster: MockCluster

    init() throws {
        cluster = try MockCluster(brokers: 1)
    }

    /// Short sessions: later joins wait for the session time-out less a second here.
    var settings: KafkaSettings {
        get throws {
            try KafkaSettings([
                "bootstrap.servers": cluster.bootstrapServers,
                "session.timeout.ms": "3000",
                "heartbeat.interval.ms": "500",
                "transaction.timeout.ms": "3000",
            ])
        }
    }

    func makeTopic(partitions: Int) throws -> String {
        let topic = Names.unique()
        try cluster.createTopic(topic, partitions: partitions)
        return topic
    }

    func interrupt() throws {
        try cluster.setDown(broker: 1)
    }

    func restore() throws {
        try cluster.setUp(broker: 1)
    }
}
