// What happens when the group gives and takes partitions. All of it runs inside librdkafka's
// callback, on the worker's thread: the group waits for the answer, so that no other member gets a
// partition before its last owner has committed.
//
//     assign   paused ─▶ incremental_assign ─▶ listener        (it seeks and resumes, now or later)
//     revoke   listener (commits) ─▶ records dropped ─▶ incremental_unassign
//     lost     listener (aborts)  ─▶ records dropped ─▶ incremental_unassign
internal import CRdKafka
internal import StreamPorts

extension KafkaSource: ClientResponder {
    func rebalanced(
        _ code: rd_kafka_resp_err_t,
        _ partitions: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>
    ) {
        let numbers = unsafe (0..<Int(partitions.pointee.cnt)).map {
            unsafe partitions.pointee.elems[$0].partition
        }
        do throws(StreamError) {
            switch code {
            case RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS: try assign(numbers)
            case RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS: try revoke(numbers)
            default:
                consumer.note(.trouble(StreamError(code, operation: "rebalance")))
                try unassign(numbers)
            }
        } catch {
            rebalanceFailure = error
        }
        // Ends the poll around: the worker may have something to do now.
        unsafe rd_kafka_yield(pointer)
    }

    func clientFailed(_ error: StreamError, _ code: rd_kafka_resp_err_t) {
        consumer.clientFailed(error, code)
    }

    func reported(_ json: RawSpan) {
        consumer.reported(json)
    }

    /// Takes partitions over, paused at an explicit offset.
    ///
    /// So nothing is fetched, and no committed offset is asked for behind the worker's back. An
    /// empty assignment needs its answer too.
    private func assign(_ partitions: [Int32]) throws(StreamError) {
        consumer.close(partitions: partitions)
        let list = PartitionList(capacity: partitions.count)
        for partition in partitions {
            list.add(topic: consumer.topic, partition: partition, offset: 0)
        }
        pauseKnown(list)
        try consumer.assign(list)
        isMember = true
        hasBeenAssigned = true
        guard !partitions.isEmpty else { return }
        // Those that the client didn't know before it was assigned them have no leader yet, and so
        // can't have been fetched.
        try pause(partitions)
        listener?.partitionsAssigned(partitions)
    }

    /// Best effort: a partition that the client doesn't know yet is skipped.
    private func pauseKnown(_ list: borrowing PartitionList) {
        unsafe rd_kafka_pause_partitions(pointer, list.pointer)
    }

    private func revoke(_ partitions: [Int32]) throws(StreamError) {
        if unsafe rd_kafka_assignment_lost(pointer) != 0 {
            isMember = false
            listener?.partitionsLost(partitions)
        } else if !partitions.isEmpty {
            listener?.partitionsRevoked(partitions)
        }
        try unassign(partitions)
    }

    private func unassign(_ partitions: [Int32]) throws(StreamError) {
        consumer.close(partitions: partitions)
        // A partition that comes back is paused again; until then nobody resumes it.
        paused.subtract(partitions)
        let list = PartitionList(topic: consumer.topic, partitions: partitions)
        try consumer.unassign(list)
    }
}
