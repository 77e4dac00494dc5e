internal import CRdKafka
package import StreamPorts

/// librdkafka's cluster of pretended brokers, in this process, on ports of 127.0.0.1.
///
/// For the demo and for tests of broken connections. Its limits (librdkafka 2.0.2): data live in
/// memory and the oldest are dropped beyond 5 MB a partition; records of open and aborted
/// transactions are not hidden, offsets that travel in transactions are not stored, and nobody is
/// fenced, so it proves nothing about exactly-once; a member that joins later waits the session
/// time-out less a second; topics are made by ``createTopic(_:partitions:replication:)`` only.
@safe
package final class MockCluster {
    private let handle: ClientHandle
    private let cluster: OpaquePointer
    private var isAlive = true

    /// Starts so many brokers, numbered from 1.
    ///
    /// - Throws: `fatal` where no port can be had.
    package init(brokers: Int, events: any ClientEvents = SilentClientEvents()) throws(StreamError)
    {
        handle = try ClientHandle(
            .withoutServers,
            role: .loader,
            clientID: "mock-cluster",
            events: events
        )
        guard let cluster = unsafe rd_kafka_mock_cluster_new(handle.pointer, Int32(brokers)) else {
            throw StreamError(rd_kafka_last_error(), operation: "mock_cluster_new")
        }
        unsafe self.cluster = cluster
    }

    deinit {
        close()
    }

    /// What clients take as `bootstrap.servers`.
    package var bootstrapServers: String {
        unsafe String(cString: rd_kafka_mock_cluster_bootstraps(cluster))
    }

    /// Makes a topic.
    package func createTopic(
        _ topic: String,
        partitions: Int,
        replication: Int = 1
    ) throws(StreamError) {
        try unsafe check(
            "mock_topic_create",
            rd_kafka_mock_topic_create(
                cluster,
                topic,
                Int32(partitions),
                Int32(replication)
            )
        )
    }

    /// Cuts a broker off; what it leads and coordinates stays its own.
    package func setDown(broker: Int32) throws(StreamError) {
        try unsafe check("mock_broker_set_down", rd_kafka_mock_broker_set_down(cluster, broker))
    }

    /// Connects a broker again.
    package func setUp(broker: Int32) throws(StreamError) {
        try unsafe check("mock_broker_set_up", rd_kafka_mock_broker_set_up(cluster, broker))
    }

    /// Makes a broker a partition's leader; nil leaves it without one.
    package func setLeader(topic: String, partition: Int32, broker: Int32?) throws(StreamError) {
        try unsafe check(
            "mock_partition_set_leader",
            rd_kafka_mock_partition_set_leader(cluster, topic, partition, broker ?? -1)
        )
    }

    /// Makes a broker the coordinator of a group.
    package func setCoordinator(group: String, broker: Int32) throws(StreamError) {
        try unsafe check(
            "mock_coordinator_set",
            rd_kafka_mock_coordinator_set(cluster, "group", group, broker)
        )
    }

    /// Answers the next requests of a kind with these errors, in order, one each.
    ///
    /// - Parameters:
    ///   - api: The request's number in Kafka's protocol: 0 Produce, 1 Fetch, 28 TxnOffsetCommit.
    ///   - errors: Numbers of `rd_kafka_resp_err_t`; 0: none.
    package func pushErrors(api: Int16, _ errors: [Int32]) {
        let codes = errors.map { rd_kafka_resp_err_t($0) }
        unsafe rd_kafka_mock_push_request_errors_array(cluster, api, codes.count, codes)
    }

    /// Stops the brokers.
    package func close() {
        guard isAlive else { return }
        isAlive = false
        unsafe rd_kafka_mock_cluster_destroy(cluster)
        handle.destroy(timeoutMilliseconds: 1000)
    }

    private func check(_ operation: String, _ code: rd_kafka_resp_err_t) throws(StreamError) {
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
            throw StreamError(code, operation: operation)
        }
    }
}
