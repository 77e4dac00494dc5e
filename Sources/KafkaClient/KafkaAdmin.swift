internal import CRdKafka
package import StreamPorts

/// A topic to be made.
package struct NewTopic: Equatable, Sendable {
    /// The topic's name.
    package var name: String
    /// How many partitions it gets.
    package var partitions: Int
    /// Copies of each partition; nil: the cluster's default.
    package var replication: Int?
    /// Topic settings by Kafka's names: `cleanup.policy`.
    package var settings: [String: String]

    /// Describes a topic.
    package init(
        name: String,
        partitions: Int,
        replication: Int? = nil,
        settings: [String: String] = [:]
    ) {
        self.name = name
        self.partitions = partitions
        self.replication = replication
        self.settings = settings
    }
}

/// Asks a cluster about its topics and groups, and changes them.
///
/// Calls block. A cluster that doesn't answer is `retriable`; what it refuses (a topic that exists
/// or doesn't, a missing right, a value that a policy forbids) is `refused`.
@safe
package final class KafkaAdmin {
    let handle: ClientHandle
    private let events: any ClientEvents
    private let clientID: String

    /// Makes a client; no broker need be there yet.
    ///
    /// - Throws: `refused` for settings that librdkafka doesn't take.
    package init(
        _ settings: KafkaSettings,
        clientID: String,
        events: any ClientEvents
    ) throws(StreamError) {
        handle = try ClientHandle(settings, role: .admin, clientID: clientID, events: events)
        self.events = events
        self.clientID = clientID
        handle.respond(with: self)
    }

    /// The cluster's brokers.
    package func brokers(timeoutMilliseconds: Int32) throws(StreamError) -> [BrokerAddress] {
        serve()
        return try unsafe TopicMetadata.ask(
            handle.pointer,
            topic: nil,
            timeoutMilliseconds: timeoutMilliseconds
        ).brokers
    }

    /// A topic's partitions, by number; nil: there is no such topic.
    ///
    /// It is not made by asking.
    package func partitions(
        of topic: String,
        timeoutMilliseconds: Int32
    )
        throws(StreamError) -> [PartitionDescription]?
    {
        serve()
        guard let topicHandle = unsafe rd_kafka_topic_new(handle.pointer, topic, nil) else {
            throw StreamError(rd_kafka_last_error(), operation: "topic_new")
        }
        defer { unsafe rd_kafka_topic_destroy(topicHandle) }
        let answer = try unsafe TopicMetadata.ask(
            handle.pointer,
            topic: topicHandle,
            timeoutMilliseconds: timeoutMilliseconds
        )
        if answer.error == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART { return nil }
        try answer.checkExists(topic)
        return answer.partitions.sorted { $0.partition < $1.partition }
    }

    /// Makes a topic.
    package func create(_ topic: NewTopic, timeoutMilliseconds: Int32) throws(StreamError) {
        let operation = "create_topics"
        let (made, reason) = unsafe withErrorText { bytes, size in
            unsafe rd_kafka_NewTopic_new(
                topic.name,
                Int32(clamping: topic.partitions),
                Int32(clamping: topic.replication ?? -1),
                bytes,
                size
            )
        }
        guard let new = unsafe made else {
            throw StreamError(RD_KAFKA_RESP_ERR__INVALID_ARG, operation: operation, detail: reason)
        }
        defer { unsafe rd_kafka_NewTopic_destroy(new) }
        for (name, value) in topic.settings.sorted(by: { $0.key < $1.key }) {
            unsafe rd_kafka_NewTopic_set_config(new, name, value)
        }
        let answer = try unsafe request(
            operation,
            RD_KAFKA_ADMIN_OP_CREATETOPICS,
            timeoutMilliseconds
        ) { options, queue in
            var topics: [OpaquePointer?] = unsafe [new]
            unsafe rd_kafka_CreateTopics(handle.pointer, &topics, 1, options, queue)
        }
        var count = 0
        try unsafe answer.checkTopics(
            operation,
            rd_kafka_CreateTopics_result_topics(answer.event, &count),
            count
        )
    }

    /// Raises a topic's number of partitions.
    package func grow(
        _ topic: String,
        toPartitions total: Int,
        timeoutMilliseconds: Int32
    ) throws(StreamError) {
        let operation = "create_partitions"
        let (made, reason) = unsafe withErrorText { bytes, size in
            unsafe rd_kafka_NewPartitions_new(topic, total, bytes, size)
        }
        guard let new = unsafe made else {
            throw StreamError(RD_KAFKA_RESP_ERR__INVALID_ARG, operation: operation, detail: reason)
        }
        defer { unsafe rd_kafka_NewPartitions_destroy(new) }
        let answer = try unsafe request(
            operation,
            RD_KAFKA_ADMIN_OP_CREATEPARTITIONS,
            timeoutMilliseconds
        ) { options, queue in
            var topics: [OpaquePointer?] = unsafe [new]
            unsafe rd_kafka_CreatePartitions(handle.pointer, &topics, 1, options, queue)
        }
        var count = 0
        try unsafe answer.checkTopics(
            operation,
            rd_kafka_CreatePartitions_result_topics(answer.event, &count),
            count
        )
    }

    /// Deletes a topic with all that is in it.
    package func delete(_ topic: String, timeoutMilliseconds: Int32) throws(StreamError) {
        let operation = "delete_topics"
        guard let name = unsafe rd_kafka_DeleteTopic_new(topic) else {
            preconditionFailure("librdkafka is out of memory")
        }
        defer { unsafe rd_kafka_DeleteTopic_destroy(name) }
        let answer = try unsafe request(
            operation,
            RD_KAFKA_ADMIN_OP_DELETETOPICS,
            timeoutMilliseconds
        ) { options, queue in
            var topics: [OpaquePointer?] = unsafe [name]
            unsafe rd_kafka_DeleteTopics(handle.pointer, &topics, 1, options, queue)
        }
        var count = 0
        try unsafe answer.checkTopics(
            operation,
            rd_kafka_DeleteTopics_result_topics(answer.event, &count),
            count
        )
    }

    /// A topic's settings, defaults included; a value that is kept secret is "".
    package func settings(
        of topic: String,
        timeoutMilliseconds: Int32
    )
        throws(StreamError) -> [String: String]
    {
        let operation = "describe_configs"
        guard let resource = unsafe rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic)
        else { preconditionFailure("librdkafka is out of memory") }
        defer { unsafe rd_kafka_ConfigResource_destroy(resource) }
        let answer = try unsafe request(
            operation,
            RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS,
            timeoutMilliseconds
        ) { options, queue in
            var resources: [OpaquePointer?] = unsafe [resource]
            unsafe rd_kafka_DescribeConfigs(handle.pointer, &resources, 1, options, queue)
        }
        var count = 0
        let described = unsafe rd_kafka_DescribeConfigs_result_resources(answer.event, &count)
        guard count == 1, let described = unsafe described, let topic = unsafe described[0] else {
            return [:]
        }
        let code = unsafe rd_kafka_ConfigResource_error(topic)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
            throw StreamError(code, operation: operation)
        }
        var entryCount = 0
        guard let entries = unsafe rd_kafka_ConfigResource_configs(topic, &entryCount) else {
            return [:]
        }
        var settings: [String: String] = [:]
        for index in 0..<entryCount {
            guard let entry = unsafe entries[index] else { continue }
            let value = unsafe rd_kafka_ConfigEntry_value(entry)
            let name = unsafe String(cString: rd_kafka_ConfigEntry_name(entry))
            settings[name] = unsafe value.map { unsafe String(cString: $0) } ?? ""
        }
        return settings
    }

    /// Ends the client.
    package func close(timeoutMilliseconds: Int32) {
        handle.destroy(timeoutMilliseconds: timeoutMilliseconds)
    }

    /// Lets callbacks run, for nothing else polls this client.
    func serve() {
        unsafe rd_kafka_poll(handle.pointer, 0)
    }
}

extension KafkaAdmin: ClientResponder {
    func clientFailed(_ error: StreamError, _ code: rd_kafka_resp_err_t) {
        events.failed(error, client: clientID)
    }
}
