internal import CRdKafka
package import StreamPorts

/// Finds out what a producer may do, and changes nothing.
///
/// Everything happens in transactions of an id of its own that are aborted. And what is sent in
/// them is what brokers refuse for a reason that they look at after the rights: a record that is
/// too large, an offset with too much metadata, a record without a key for a compacted topic. A
/// probe tries one thing: a refused record leaves a gap in its producer's sequence numbers. One
/// thread makes all calls.
@safe
package final class RightsProbe {
    /// More metadata of an offset than brokers take (`offset.metadata.max.bytes`, 4096).
    private static let excessiveMetadata = String(repeating: "x", count: 30_000)
    /// How long the answer to a record may take, milliseconds.
    private static let timeout: Int32 = 10_000

    private let handle: ClientHandle
    private let events: any ClientEvents
    private let clientID: String
    private var failures: [rd_kafka_resp_err_t] = []
    private var isClosed = false

    /// Makes a producer; nothing is sent yet.
    ///
    /// - Throws: `refused` for settings that librdkafka doesn't take.
    package init(
        _ settings: KafkaSettings,
        transactionalID: String,
        clientID: String,
        events: any ClientEvents
    ) throws(StreamError) {
        handle = try ClientHandle(
            settings,
            role: .sink(transactionalID: transactionalID),
            clientID: clientID,
            events: events
        )
        self.events = events
        self.clientID = clientID
        handle.respond(with: self)
    }

    /// Whether transactions may be begun under the id, for which Write on it is needed.
    package func beginTransactions() throws(StreamError) {
        try unsafe check(
            "init_transactions",
            rd_kafka_init_transactions(handle.pointer, Self.timeout)
        )
    }

    /// Whether a topic may be written, in a transaction.
    ///
    /// - Parameters:
    ///   - topic: Its name; partition 0 is asked.
    ///   - bytes: More than the topic takes in one record.
    /// - Throws: What the brokers have against it, rights first.
    package func write(to topic: String, refusedBytes bytes: Int) throws(StreamError) {
        let value = [UInt8](repeating: 0, count: bytes)
        let codes = try transaction { () throws(StreamError) in
            try produce(topic, partition: 0, timestampMilliseconds: 0, key: nil, value: value)
        }
        for code in codes where code != RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE {
            throw StreamError(code, operation: "produce", detail: Self.sentence(topic, code))
        }
    }

    /// Whether a compacted topic takes a record of this time.
    ///
    /// The batch is refused in any case, as one of its records has no key; but a time that is too
    /// far ahead of the broker's clock is another error, which wins over that.
    package func takes(
        timestampMilliseconds: Int64,
        topic: String,
        partition: Int32
    ) throws(StreamError) -> Bool {
        let codes = try transaction { () throws(StreamError) in
            for key in [[0], nil] as [[UInt8]?] {
                try produce(
                    topic,
                    partition: partition,
                    timestampMilliseconds: timestampMilliseconds,
                    key: key,
                    value: []
                )
            }
        }
        if codes.contains(RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP) { return false }
        for code in codes where code != RD_KAFKA_RESP_ERR_INVALID_RECORD {
            throw StreamError(code, operation: "produce", detail: Self.sentence(topic, code))
        }
        return true
    }

    /// Whether offsets of a topic may be committed for a group, in a transaction.
    package func commitOffset(of topic: String, group: String) throws(StreamError) {
        let offset = PartitionOffset(
            partition: 0,
            offset: 0,
            metadata: Self.excessiveMetadata
        )
        let list = PartitionList(topic: topic, offsets: [offset])
        guard let membership = unsafe rd_kafka_consumer_group_metadata_new(group) else {
            preconditionFailure("librdkafka is out of memory")
        }
        defer { unsafe rd_kafka_consumer_group_metadata_destroy(membership) }
        _ = try transaction { () throws(StreamError) in
            do throws(StreamError) {
                try unsafe check(
                    "send_offsets_to_transaction",
                    rd_kafka_send_offsets_to_transaction(
                        handle.pointer,
                        list.pointer,
                        membership,
                        Self.timeout
                    )
                )
            } catch {
                guard error.code == "OFFSET_METADATA_TOO_LARGE" else { throw error }
            }
        }
    }

    /// Ends the producer.
    package func close(timeoutMilliseconds: Int32) {
        guard !isClosed else { return }
        isClosed = true
        handle.destroy(timeoutMilliseconds: timeoutMilliseconds)
    }

    /// Does something in a transaction, and aborts it; the errors of the records in it.
    private func transaction(
        _ work: () throws(StreamError) -> Void
    ) throws(StreamError) -> [rd_kafka_resp_err_t] {
        failures = []
        try unsafe check("begin_transaction", rd_kafka_begin_transaction(handle.pointer))
        var failure: StreamError?
        do throws(StreamError) {
            try work()
            let code = unsafe rd_kafka_flush(handle.pointer, Self.timeout)
            if code != RD_KAFKA_RESP_ERR_NO_ERROR {
                failure = StreamError(code, operation: "flush")
            }
            if failures.contains(RD_KAFKA_RESP_ERR__PURGE_QUEUE) { failure = reasonOfPurge() }
        } catch {
            failure = error
        }
        let codes = failures
        do throws(StreamError) {
            try unsafe check(
                "abort_transaction",
                rd_kafka_abort_transaction(handle.pointer, Self.timeout)
            )
        } catch {
            // A broker that has refused the only partition knows of nothing to abort. Whatever
            // is open in truth is ended by the id's next producer, or by its time-out.
            if failure == nil, codes.isEmpty { failure = error }
        }
        if let failure { throw failure }
        return codes
    }

    /// Why records were dropped before they were sent.
    ///
    /// The transaction has failed by then, so that it can only be aborted, and every call that goes
    /// on with it is refused with the reason; a commit too.
    private func reasonOfPurge() -> StreamError {
        let refusal = unsafe rd_kafka_commit_transaction(handle.pointer, Self.timeout)
        return unsafe StreamError(
            taking: refusal,
            operation: "produce",
            client: handle.pointer
        ) ?? StreamError(RD_KAFKA_RESP_ERR__PURGE_QUEUE, operation: "produce")
    }

    private func produce(
        _ topic: String,
        partition: Int32,
        timestampMilliseconds: Int64,
        key: [UInt8]?,
        value: [UInt8]
    ) throws(StreamError) {
        guard let topicHandle = unsafe rd_kafka_topic_new(handle.pointer, topic, nil) else {
            throw StreamError(rd_kafka_last_error(), operation: "topic_new")
        }
        defer { unsafe rd_kafka_topic_destroy(topicHandle) }
        let code = unsafe value.withUnsafeBytes { value in
            let bytes = key ?? []
            return unsafe bytes.withUnsafeBytes { key in
                unsafe giftcombo_produce(
                    handle.pointer,
                    topicHandle,
                    partition,
                    timestampMilliseconds,
                    key.baseAddress,
                    key.count,
                    value.baseAddress,
                    value.count
                )
            }
        }
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
            throw StreamError(code, operation: "produce", detail: Self.sentence(topic, code))
        }
    }

    private static func sentence(_ topic: String, _ code: rd_kafka_resp_err_t) -> String {
        unsafe "topic \(topic): " + String(cString: rd_kafka_err2str(code))
    }

    private func check(_ operation: String, _ error: OpaquePointer?) throws(StreamError) {
        try unsafe StreamError.check(operation, client: handle.pointer, error)
    }
}

extension RightsProbe: ClientResponder {
    func deliveryFailed(_ message: UnsafePointer<rd_kafka_message_t>) {
        unsafe failures.append(message.pointee.err)
    }

    func clientFailed(_ error: StreamError, _ code: rd_kafka_resp_err_t) {
        events.failed(error, client: clientID)
    }
}
