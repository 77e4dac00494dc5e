// What resetting a group's state needs: deleting records, and a group's committed offsets.
internal import CRdKafka
internal import Glibc
package import StreamPorts

extension KafkaAdmin {
    /// Between two questions for offsets that a transaction is about to change, microseconds.
    private static let pendingPauseMicroseconds: UInt32 = 50_000

    /// Deletes the records of a topic's partitions below these offsets.
    ///
    /// - Throws: `refused` for a compacted topic.
    package func deleteRecords(
        of topic: String,
        below offsets: [PartitionOffset],
        timeoutMilliseconds: Int32
    ) throws(StreamError) {
        let operation = "delete_records"
        let list = PartitionList(topic: topic, offsets: offsets)
        let deletion = unsafe rd_kafka_DeleteRecords_new(list.pointer)
        defer { unsafe rd_kafka_DeleteRecords_destroy(deletion) }
        let answer = try unsafe request(
            operation,
            RD_KAFKA_ADMIN_OP_DELETERECORDS,
            timeoutMilliseconds
        ) { options, queue in
            var deletions: [OpaquePointer?] = unsafe [deletion]
            unsafe rd_kafka_DeleteRecords(handle.pointer, &deletions, 1, options, queue)
        }
        guard let deleted = unsafe rd_kafka_DeleteRecords_result_offsets(answer.event)
        else { return }
        try unsafe PartitionList(copying: deleted).checkElements(operation)
    }

    /// A group's committed offsets of a topic with their metadata; no offset where none is
    /// committed.
    ///
    /// Pending transactions on them are waited for, as long as the time-out lets: the group's
    /// coordinator marks the end of one a little after its producer has ended it.
    package func committedOffsets(
        of group: String,
        topic: String,
        partitions: [Int32],
        timeoutMilliseconds: Int32
    )
        throws(StreamError) -> [PartitionOffset]
    {
        let deadline = Deadline(milliseconds: timeoutMilliseconds)
        while true {
            do throws(StreamError) {
                return try stableOffsets(
                    of: group,
                    topic: topic,
                    partitions: partitions,
                    timeoutMilliseconds: timeoutMilliseconds
                )
            } catch {
                let isPending = error.code == "UNSTABLE_OFFSET_COMMIT"
                guard isPending, !deadline.hasPassed else { throw error }
                usleep(Self.pendingPauseMicroseconds)
            }
        }
    }

    /// - Throws: `UNSTABLE_OFFSET_COMMIT` where a transaction is about to change them.
    private func stableOffsets(
        of group: String,
        topic: String,
        partitions: [Int32],
        timeoutMilliseconds: Int32
    )
        throws(StreamError) -> [PartitionOffset]
    {
        let operation = "list_consumer_group_offsets"
        let list = PartitionList(topic: topic, partitions: partitions)
        let query = unsafe rd_kafka_ListConsumerGroupOffsets_new(group, list.pointer)
        defer { unsafe rd_kafka_ListConsumerGroupOffsets_destroy(query) }
        let answer = try unsafe request(
            operation,
            RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPOFFSETS,
            timeoutMilliseconds
        ) { options, queue in
            unsafe rd_kafka_error_destroy(
                rd_kafka_AdminOptions_set_require_stable_offsets(options, 1)
            )
            var queries: [OpaquePointer?] = unsafe [query]
            unsafe rd_kafka_ListConsumerGroupOffsets(handle.pointer, &queries, 1, options, queue)
        }
        var count = 0
        let listed = unsafe rd_kafka_ListConsumerGroupOffsets_result_groups(answer.event, &count)
        let offsets = try unsafe answer.partitions(operation, listed, count)
        return (0..<offsets.count).map { index in
            let (partition, offset, _) = offsets.element(index)
            return PartitionOffset(
                partition: partition,
                offset: offset >= 0 ? offset : nil,
                metadata: offsets.metadata(index)
            )
        }.sorted { $0.partition < $1.partition }
    }

    /// Sets a group's committed offsets; refused while the group has members.
    package func setCommittedOffsets(
        of group: String,
        topic: String,
        to offsets: [PartitionOffset],
        timeoutMilliseconds: Int32
    ) throws(StreamError) {
        let operation = "alter_consumer_group_offsets"
        let list = PartitionList(topic: topic, offsets: offsets)
        let change = unsafe rd_kafka_AlterConsumerGroupOffsets_new(group, list.pointer)
        defer { unsafe rd_kafka_AlterConsumerGroupOffsets_destroy(change) }
        let answer = try unsafe request(
            operation,
            RD_KAFKA_ADMIN_OP_ALTERCONSUMERGROUPOFFSETS,
            timeoutMilliseconds
        ) { options, queue in
            var changes: [OpaquePointer?] = unsafe [change]
            unsafe rd_kafka_AlterConsumerGroupOffsets(handle.pointer, &changes, 1, options, queue)
        }
        var count = 0
        let changed = unsafe rd_kafka_AlterConsumerGroupOffsets_result_groups(answer.event, &count)
        _ = try unsafe answer.partitions(operation, changed, count)
    }

    /// Forgets a group's committed offsets of a topic; refused while a member reads it.
    package func deleteCommittedOffsets(
        of group: String,
        topic: String,
        partitions: [Int32],
        timeoutMilliseconds: Int32
    ) throws(StreamError) {
        let operation = "delete_consumer_group_offsets"
        let list = PartitionList(topic: topic, partitions: partitions)
        let deletion = unsafe rd_kafka_DeleteConsumerGroupOffsets_new(group, list.pointer)
        defer { unsafe rd_kafka_DeleteConsumerGroupOffsets_destroy(deletion) }
        let answer = try unsafe request(
            operation,
            RD_KAFKA_ADMIN_OP_DELETECONSUMERGROUPOFFSETS,
            timeoutMilliseconds
        ) { options, queue in
            var deletions: [OpaquePointer?] = unsafe [deletion]
            unsafe rd_kafka_DeleteConsumerGroupOffsets(
                handle.pointer,
                &deletions,
                1,
                options,
                queue
            )
        }
        var count = 0
        let deleted = unsafe rd_kafka_DeleteConsumerGroupOffsets_result_groups(answer.event, &count)
        _ = try unsafe answer.partitions(operation, deleted, count)
    }

    /// Sends a request with a time-out on a queue of its own, and waits for its answer.
    func request(
        _ operation: String,
        _ kind: rd_kafka_admin_op_t,
        _ timeoutMilliseconds: Int32,
        send: (_ options: OpaquePointer, _ queue: OpaquePointer) -> Void
    )
        throws(StreamError) -> AdminAnswer
    {
        serve()
        guard let options = unsafe rd_kafka_AdminOptions_new(handle.pointer, kind),
            let queue = unsafe rd_kafka_queue_new(handle.pointer)
        else { preconditionFailure("librdkafka is out of memory") }
        defer {
            unsafe rd_kafka_queue_destroy(queue)
            unsafe rd_kafka_AdminOptions_destroy(options)
        }
        let (code, reason) = unsafe withErrorText { bytes, size in
            unsafe rd_kafka_AdminOptions_set_request_timeout(
                options,
                timeoutMilliseconds,
                bytes,
                size
            )
        }
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
            throw StreamError(code, operation: operation, detail: reason)
        }
        unsafe send(options, queue)
        // librdkafka keeps the time-out; the margin lets its answer come.
        guard let event = unsafe rd_kafka_queue_poll(queue, timeoutMilliseconds + 1000) else {
            throw StreamError(RD_KAFKA_RESP_ERR__TIMED_OUT, operation: operation)
        }
        let answer = unsafe AdminAnswer(event)
        let failure = unsafe rd_kafka_event_error(event)
        guard failure == RD_KAFKA_RESP_ERR_NO_ERROR else {
            let detail = unsafe String(cString: rd_kafka_event_error_string(event))
            throw StreamError(failure, operation: operation, detail: detail)
        }
        return answer
    }
}

/// The answer to an administrative request, which owns the results that are read from it.
@safe
final class AdminAnswer {
    let event: OpaquePointer

    init(_ event: OpaquePointer) {
        unsafe self.event = event
    }

    deinit {
        unsafe rd_kafka_event_destroy(event)
    }

    /// Throws the first topic's error.
    func checkTopics(
        _ operation: String,
        _ topics: UnsafeMutablePointer<OpaquePointer?>?,
        _ count: Int
    ) throws(StreamError) {
        for index in 0..<count {
            guard let topic = unsafe topics?[index] else { continue }
            let code = unsafe rd_kafka_topic_result_error(topic)
            guard code != RD_KAFKA_RESP_ERR_NO_ERROR else { continue }
            let name = unsafe String(cString: rd_kafka_topic_result_name(topic))
            let reason = unsafe rd_kafka_topic_result_error_string(topic)
                .map { unsafe String(cString: $0) }
            throw StreamError(
                code,
                operation: operation,
                detail: "topic \(name): \(reason ?? StreamError.name(of: code))"
            )
        }
    }

    /// The first group's partitions; throws its error or one of theirs.
    func partitions(
        _ operation: String,
        _ groups: UnsafeMutablePointer<OpaquePointer?>?,
        _ count: Int
    )
        throws(StreamError) -> PartitionList
    {
        guard count > 0, let group = unsafe groups?[0] else { return PartitionList(capacity: 1) }
        if let failure = unsafe rd_kafka_group_result_error(group) {
            throw unsafe StreamError(
                rd_kafka_error_code(failure),
                operation: operation,
                detail: String(cString: rd_kafka_error_string(failure))
            )
        }
        guard let partitions = unsafe rd_kafka_group_result_partitions(group) else {
            return PartitionList(capacity: 1)
        }
        let list = unsafe PartitionList(copying: partitions)
        try list.checkElements(operation)
        return list
    }
}
