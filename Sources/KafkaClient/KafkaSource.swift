internal import CRdKafka
package import StreamPorts

/// Reads one topic as one member of a consumer group.
///
/// The worker's thread makes all calls, and librdkafka calls back on it, inside
/// ``poll(limit:timeoutMilliseconds:)`` and ``close(timeoutMilliseconds:)``. Nothing is ever
/// committed through it: offsets travel in the sink's transactions.
@safe
package final class KafkaSource: RecordSource {
    let consumer: ConsumerClient
    weak var listener: (any RebalanceListener)?
    /// Keeps the topic known to the client, so that a partition can be paused before it is
    /// assigned.
    private var topicHandle: OpaquePointer?
    /// Partitions that are paused; only these are ever resumed (librdkafka 4686).
    var paused: Set<Int32> = []
    /// Whether an assignment, empty or not, has been taken since the last was lost.
    var isMember = false
    private var hasSubscribed = false
    var hasBeenAssigned = false
    private var isClosed = false
    /// What failed inside the rebalance callback, for the poll around it to throw.
    var rebalanceFailure: StreamError?

    /// Makes a member of `group`; nothing is read before ``subscribe(listener:)``.
    ///
    /// - Parameters:
    ///   - settings: The user's.
    ///   - topic: What is read.
    ///   - group: The consumer group.
    ///   - groupInstance: The name of a static member; nil: a dynamic one.
    ///   - clientID: The name in logs and in the brokers' quotas.
    ///   - prefetchBytes: How much is fetched ahead, all partitions together.
    ///   - events: Hears of log lines and statistics; errors come as ``events``.
    /// - Throws: `refused` for settings that librdkafka doesn't take.
    package init(
        _ settings: KafkaSettings,
        topic: String,
        group: String,
        groupInstance: String? = nil,
        clientID: String,
        prefetchBytes: Int,
        events: any ClientEvents
    ) throws(StreamError) {
        try MembershipFormat.checkLibrary()
        let role = ClientRole.source(
            group: group,
            groupInstance: groupInstance,
            prefetchBytes: prefetchBytes
        )
        consumer = try ConsumerClient(
            settings,
            role: role,
            topic: topic,
            clientID: clientID,
            events: events
        )
        unsafe topicHandle = rd_kafka_topic_new(consumer.handle.pointer, topic, nil)
        consumer.handle.respond(with: self)
    }

    deinit {
        releaseTopic()
    }

    var pointer: OpaquePointer { unsafe consumer.handle.pointer }

    /// The records of the last poll, in order of offset within each partition.
    package var batch: RecordBatch { consumer.batch }
    /// What the last poll met besides records, in order.
    package var events: [SourceEvent] { consumer.events }

    /// Joins the group, once; the listener is not retained.
    package func subscribe(listener: any RebalanceListener) throws(StreamError) {
        precondition(!hasSubscribed, "a source subscribes once (librdkafka 4686)")
        self.listener = listener
        let list = PartitionList(capacity: 1)
        list.add(topic: consumer.topic, partition: -1)
        let code = unsafe rd_kafka_subscribe(pointer, list.pointer)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
            throw StreamError(code, operation: "subscribe")
        }
        hasSubscribed = true
    }

    /// Takes at most `limit` records, waiting at most `timeoutMilliseconds` for the first.
    package func poll(limit: Int, timeoutMilliseconds: Int32) throws(StreamError) {
        precondition(limit > 0, "a poll takes at least one record")
        try consumer.poll(limit: limit, timeoutMilliseconds: timeoutMilliseconds)
        if let failure = rebalanceFailure {
            rebalanceFailure = nil
            throw failure
        }
    }

    /// Stops delivery; what was fetched ahead is dropped, and fetched again later.
    package func pause(_ partitions: [Int32]) throws(StreamError) {
        guard !partitions.isEmpty else { return }
        let list = PartitionList(topic: consumer.topic, partitions: partitions)
        let code = unsafe rd_kafka_pause_partitions(pointer, list.pointer)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
            throw StreamError(code, operation: "pause")
        }
        try list.checkElements("pause")
        paused.formUnion(partitions)
    }

    /// Resumes those of the partitions that are paused.
    package func resume(_ partitions: [Int32]) throws(StreamError) {
        let resumed = partitions.filter { paused.contains($0) }
        guard !resumed.isEmpty else { return }
        let list = PartitionList(topic: consumer.topic, partitions: resumed)
        let code = unsafe rd_kafka_resume_partitions(pointer, list.pointer)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
            throw StreamError(code, operation: "resume")
        }
        try list.checkElements("resume")
        paused.subtract(resumed)
    }

    /// Moves the position of an owned partition; also starts one anew that was out of range.
    package func seek(partition: Int32, offset: Int64) throws(StreamError) {
        precondition(offset >= 0, "a position is an explicit offset")
        try consumer.seek(partition: partition, offset: offset)
    }

    /// The committed offsets with their metadata, once no transaction on them is pending.
    package func committed(
        _ partitions: [Int32],
        timeoutMilliseconds: Int32
    )
        throws(StreamError) -> [PartitionOffset]
    {
        guard !partitions.isEmpty else { return [] }
        let list = PartitionList(topic: consumer.topic, partitions: partitions)
        let code = unsafe rd_kafka_committed(pointer, list.pointer, timeoutMilliseconds)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
            throw StreamError(code, operation: "committed")
        }
        try list.checkElements("committed")
        return (0..<list.count).map { index in
            let (partition, offset, _) = list.element(index)
            return PartitionOffset(
                partition: partition,
                offset: offset >= 0 ? offset : nil,
                metadata: list.metadata(index)
            )
        }
    }

    /// The log's first offset and its last stable offset, asked of the leader.
    package func watermarks(
        partition: Int32,
        timeoutMilliseconds: Int32
    )
        throws(StreamError) -> (low: Int64, high: Int64)
    {
        try consumer.watermarks(partition: partition, timeoutMilliseconds: timeoutMilliseconds)
    }

    /// The high watermark as of the last fetch.
    package func cachedEnd(partition: Int32) -> Int64? {
        var low: Int64 = -1
        var high: Int64 = -1
        let code = unsafe rd_kafka_get_watermark_offsets(
            pointer,
            consumer.topic,
            partition,
            &low,
            &high
        )
        return code == RD_KAFKA_RESP_ERR_NO_ERROR && high >= 0 ? high : nil
    }

    /// Whether the leader is connected, by the last statistics, errors and ends.
    package func isConnected(partition: Int32) -> Bool {
        consumer.connection.isConnected(partition)
    }

    /// One's standing, asked of the client; nil unless it has joined and not been lost since.
    package func membership() -> GroupMembership? {
        guard isMember, let standing = unsafe rd_kafka_consumer_group_metadata(pointer) else {
            return nil
        }
        defer { unsafe rd_kafka_consumer_group_metadata_destroy(standing) }
        guard let bytes = unsafe MembershipFormat.bytes(of: standing),
            MembershipFormat.hasJoined(bytes)
        else { return nil }
        return GroupMembership(bytes: bytes)
    }

    /// Leaves the group within `timeoutMilliseconds`, and ends the client.
    package func close(timeoutMilliseconds: Int32) {
        guard !isClosed else { return }
        isClosed = true
        let deadline = Deadline(milliseconds: timeoutMilliseconds)
        consumer.releaseBatch()
        leave(deadline)
        isMember = false
        releaseTopic()
        // Between joining and the first assignment, the end of a cooperative consumer crashes
        // before 2.3 (librdkafka 4381).
        if hasSubscribed, !hasBeenAssigned, rd_kafka_version() < 0x0203_0000 {
            consumer.handle.abandon()
        } else {
            consumer.handle.destroy(timeoutMilliseconds: max(deadline.remainingMilliseconds, 100))
        }
    }

    /// Leaves the group; the listener is told of the revocation on this thread.
    ///
    /// `rd_kafka_consumer_close` has no time-out. Its asynchronous form needs its queue served, and
    /// by events: the records that still come make `rd_kafka_queue_poll_callback` end the process
    /// by an assertion.
    private func leave(_ deadline: Deadline) {
        guard hasSubscribed, let queue = unsafe rd_kafka_queue_new(pointer) else { return }
        defer { unsafe rd_kafka_queue_destroy(queue) }
        // After a fatal error it answers with that error: there is nothing to leave then.
        let error = unsafe rd_kafka_consumer_close_queue(pointer, queue)
        guard unsafe error == nil else {
            unsafe rd_kafka_error_destroy(error)
            return
        }
        while unsafe rd_kafka_consumer_closed(pointer) == 0, !deadline.hasPassed {
            let wait = min(deadline.remainingMilliseconds, 50)
            guard let event = unsafe rd_kafka_queue_poll(queue, wait) else { continue }
            if unsafe rd_kafka_event_type(event) == RD_KAFKA_EVENT_REBALANCE,
                let partitions = unsafe rd_kafka_event_topic_partition_list(event)
            {
                unsafe rebalanced(rd_kafka_event_error(event), partitions)
            }
            unsafe rd_kafka_event_destroy(event)
        }
    }

    private func releaseTopic() {
        if let topic = unsafe topicHandle { unsafe rd_kafka_topic_destroy(topic) }
        unsafe topicHandle = nil
    }
}
