internal import CRdKafka
internal import StreamPorts

/// A broker of the cluster.
package struct BrokerAddress: Equatable, Sendable {
    /// The broker's number.
    package let node: Int32
    /// Its advertised host.
    package let host: String
    /// Its advertised port.
    package let port: Int32
}

/// A partition as the cluster describes it.
package struct PartitionDescription: Equatable, Sendable {
    /// Its number.
    package let partition: Int32
    /// The leader's node; nil: none.
    package let leader: Int32?
    /// How many copies there are to be.
    package let replicas: Int
    /// How many copies are up to date.
    package let inSyncReplicas: Int

    /// Describes a partition.
    package init(partition: Int32, leader: Int32?, replicas: Int, inSyncReplicas: Int) {
        self.partition = partition
        self.leader = leader
        self.replicas = replicas
        self.inSyncReplicas = inSyncReplicas
    }
}

/// A cluster's answer about its brokers and one topic.
struct TopicMetadata {
    let brokers: [BrokerAddress]
    /// Empty where ``error`` is set.
    let partitions: [PartitionDescription]
    let error: rd_kafka_resp_err_t

    /// Asks any broker; without a topic, about the brokers and what the client knows.
    ///
    /// - Throws: `retriable` while no broker answers.
    static func ask(
        _ client: OpaquePointer,
        topic: OpaquePointer?,
        timeoutMilliseconds: Int32
    )
        throws(StreamError) -> TopicMetadata
    {
        var answer: UnsafePointer<rd_kafka_metadata>?
        let code = unsafe rd_kafka_metadata(client, 0, topic, &answer, timeoutMilliseconds)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR, let answer = unsafe answer else {
            throw StreamError(code, operation: "metadata")
        }
        defer { unsafe rd_kafka_metadata_destroy(answer) }
        return unsafe TopicMetadata(answer.pointee)
    }

    private init(_ answer: rd_kafka_metadata) {
        brokers = unsafe (0..<Int(answer.broker_cnt)).map { index in
            let broker = unsafe answer.brokers[index]
            return unsafe BrokerAddress(
                node: broker.id,
                host: String(cString: broker.host),
                port: broker.port
            )
        }
        guard unsafe answer.topic_cnt > 0 else {
            (partitions, error) = ([], RD_KAFKA_RESP_ERR_NO_ERROR)
            return
        }
        let topic = unsafe answer.topics[0]
        unsafe error = topic.err
        partitions = unsafe (0..<Int(topic.partition_cnt)).map { index in
            let partition = unsafe topic.partitions[index]
            return unsafe PartitionDescription(
                partition: partition.id,
                leader: partition.leader >= 0 ? partition.leader : nil,
                replicas: Int(partition.replica_cnt),
                inSyncReplicas: Int(partition.isr_cnt)
            )
        }
    }

    /// Throws what the cluster says against a topic.
    func checkExists(_ name: String) throws(StreamError) {
        guard error != RD_KAFKA_RESP_ERR_NO_ERROR else { return }
        let reason = unsafe String(cString: rd_kafka_err2str(error))
        throw StreamError(error, operation: "metadata", detail: "topic \(name): \(reason)")
    }
}
