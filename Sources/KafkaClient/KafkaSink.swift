internal import CRdKafka
package import StreamPorts

/// The topics that a sink writes to.
package struct OutputTopics: Equatable, Sendable {
    /// Overlay commands, by room.
    package var commands: String
    /// Records that could not be read.
    package var deadLetters: String
    /// The state of each combo key, compacted.
    package var changelog: String

    /// Names the topics.
    package init(commands: String, deadLetters: String, changelog: String) {
        self.commands = commands
        self.deadLetters = deadLetters
        self.changelog = changelog
    }

    subscript(_ topic: OutputTopic) -> String {
        switch topic {
        case .commands: commands
        case .deadLetters: deadLetters
        case .changelog: changelog
        }
    }
}

/// Writes in transactions, as one transactional id.
///
/// The worker's thread makes all calls; delivery reports come to it inside them.
@safe
package final class KafkaSink: TransactionalSink {
    /// How many records may be on their way.
    ///
    /// Under about 8,000 the round trip limits the rate; much above, memory grows for nothing.
    static let outstandingLimit = 20_000
    /// How many records are handed over between two looks at the bound and the delivery reports.
    private static let recordsBetweenChecks = 64

    private let handle: ClientHandle
    private let events: any ClientEvents
    private let clientID: String
    private let inputTopic: String
    private let topics: OutputTopics
    /// By raw value of ``OutputTopic``.
    private var topicHandles: [OpaquePointer] = unsafe []
    /// How long the outstanding records may stay above their bound, milliseconds: librdkafka gives
    /// each of them up within the transaction's time.
    private let roomTimeoutMilliseconds: Int32
    private var deliveryFailure: StreamError?
    private var isClosed = false

    /// Makes a producer; nothing is sent before ``initTransactions(timeoutMilliseconds:)``.
    ///
    /// - Parameters:
    ///   - settings: The user's.
    ///   - transactionalID: What the broker fences by; stable over restarts.
    ///   - inputTopic: The topic whose offsets are committed.
    ///   - topics: What is written to.
    ///   - clientID: The name in logs and in the brokers' quotas.
    ///   - events: Hears of log lines, statistics, and errors that belong to no call.
    /// - Throws: `refused` for settings that librdkafka doesn't take.
    package init(
        _ settings: KafkaSettings,
        transactionalID: String,
        inputTopic: String,
        topics: OutputTopics,
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
        self.inputTopic = inputTopic
        self.topics = topics
        roomTimeoutMilliseconds = Int32(clamping: settings.transactionTimeoutMilliseconds * 2)
        for topic in OutputTopic.allCases {
            guard let topic = unsafe rd_kafka_topic_new(handle.pointer, topics[topic], nil) else {
                throw StreamError(rd_kafka_last_error(), operation: "topic_new")
            }
            unsafe topicHandles.append(topic)
        }
        handle.respond(with: self)
    }

    deinit {
        releaseTopics()
    }

    /// Fences earlier producers of the id, then asks for every topic, so that no record waits for
    /// it.
    package func initTransactions(timeoutMilliseconds: Int32) throws(StreamError) {
        let deadline = Deadline(milliseconds: timeoutMilliseconds)
        try unsafe check(
            "init_transactions",
            rd_kafka_init_transactions(handle.pointer, timeoutMilliseconds)
        )
        try warmUp(deadline)
    }

    /// Asks for each topic's partitions, for which the first record would wait up to a second.
    private func warmUp(_ deadline: Deadline) throws(StreamError) {
        for topic in OutputTopic.allCases {
            let answer = try unsafe TopicMetadata.ask(
                handle.pointer,
                topic: topicHandles[Int(topic.rawValue)],
                timeoutMilliseconds: max(deadline.remainingMilliseconds, 1000)
            )
            try answer.checkExists(topics[topic])
        }
    }

    /// Begins a transaction.
    package func begin() throws(StreamError) {
        deliveryFailure = nil
        try unsafe check("begin_transaction", rd_kafka_begin_transaction(handle.pointer))
    }

    /// Hands records over by copy; waits while more than the bound are outstanding.
    package func produce(_ records: UnsafeBufferPointer<OutgoingRecord>) throws(StreamError) {
        let (client, topics) = unsafe (handle.pointer, topicHandles)
        var next = 0
        while next < records.count {
            try waitForRoom()
            let end = min(next + Self.recordsBetweenChecks, records.count)
            while next < end {
                let code = unsafe handOver(records[next], topics, client)
                if code != RD_KAFKA_RESP_ERR_NO_ERROR {
                    guard code == RD_KAFKA_RESP_ERR__QUEUE_FULL else {
                        throw StreamError(code, operation: "produce")
                    }
                    try waitForRoom(below: outstanding)
                    continue
                }
                next += 1
            }
        }
    }

    private func handOver(
        _ record: OutgoingRecord,
        _ topics: [OpaquePointer],
        _ client: OpaquePointer
    ) -> rd_kafka_resp_err_t {
        unsafe giftcombo_produce(
            client,
            topics[Int(record.topic.rawValue)],
            record.partition,
            record.timestampMilliseconds,
            record.key.baseAddress,
            record.key.count,
            record.value.baseAddress,
            record.value.count
        )
    }

    /// Hands one record with headers over by copy.
    package func produce(
        _ record: OutgoingRecord,
        headers: [RecordHeader]
    ) throws(StreamError) {
        let list = unsafe rd_kafka_headers_new(headers.count)
        for header in headers {
            var value = header.value
            let code = value.withUTF8 { bytes in
                unsafe rd_kafka_header_add(list, header.name, -1, bytes.baseAddress, bytes.count)
            }
            guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
                unsafe rd_kafka_headers_destroy(list)
                throw StreamError(code, operation: "header_add")
            }
        }
        do throws(StreamError) {
            try waitForRoom()
            var code = unsafe handOver(record, headers: list)
            while code == RD_KAFKA_RESP_ERR__QUEUE_FULL {
                try waitForRoom(below: outstanding)
                code = unsafe handOver(record, headers: list)
            }
            guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
                throw StreamError(code, operation: "produce")
            }
        } catch {
            unsafe rd_kafka_headers_destroy(list)
            throw error
        }
    }

    private func handOver(
        _ record: OutgoingRecord,
        headers: OpaquePointer?
    ) -> rd_kafka_resp_err_t {
        unsafe giftcombo_produce_with_headers(
            handle.pointer,
            topicHandles[Int(record.topic.rawValue)],
            record.partition,
            record.timestampMilliseconds,
            record.key.baseAddress,
            record.key.count,
            record.value.baseAddress,
            record.value.count,
            headers
        )
    }

    /// Serves delivery reports until fewer than `limit` records are outstanding.
    private func waitForRoom(below limit: Int = KafkaSink.outstandingLimit) throws(StreamError) {
        serve()
        guard outstanding >= limit else { return }
        let deadline = Deadline(milliseconds: roomTimeoutMilliseconds)
        repeat {
            unsafe rd_kafka_poll(handle.pointer, 1)
            if outstanding < limit { return }
        } while !deadline.hasPassed
        throw StreamError(
            .abortable,
            operation: "produce",
            code: StreamError.name(of: RD_KAFKA_RESP_ERR__QUEUE_FULL),
            detail: "\(outstanding) records still wait after \(roomTimeoutMilliseconds) ms"
        )
    }

    /// Serves delivery reports without waiting.
    package func serve() {
        unsafe rd_kafka_poll(handle.pointer, 0)
    }

    /// Records handed over whose delivery report has not been served.
    package var outstanding: Int {
        unsafe Int(rd_kafka_outq_len(handle.pointer))
    }

    /// Adds input offsets to the transaction, for a member that has joined only.
    package func sendOffsets(
        _ offsets: [PartitionOffset],
        membership: GroupMembership,
        timeoutMilliseconds: Int32
    ) throws(StreamError) {
        precondition(!offsets.isEmpty, "an empty list of offsets is accepted, and fences nobody")
        precondition(
            offsets.allSatisfy { ($0.offset ?? -1) >= 0 },
            "an unknown offset is left out silently, and a list without any fences nobody"
        )
        let operation = "send_offsets_to_transaction"
        guard MembershipFormat.hasJoined(membership.bytes) else {
            throw StreamError(
                .abortable,
                operation: operation,
                code: StreamError.name(of: RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID),
                detail: "not a member of the group; the broker would accept this without any check"
            )
        }
        var standing: OpaquePointer?
        try unsafe check(
            operation,
            membership.bytes.withUnsafeBytes { bytes in
                unsafe rd_kafka_consumer_group_metadata_read(
                    &standing,
                    bytes.baseAddress,
                    bytes.count
                )
            }
        )
        defer { unsafe rd_kafka_consumer_group_metadata_destroy(standing) }
        let list = PartitionList(topic: inputTopic, offsets: offsets)
        try unsafe check(
            operation,
            rd_kafka_send_offsets_to_transaction(
                handle.pointer,
                list.pointer,
                standing,
                timeoutMilliseconds
            )
        )
    }

    /// Waits for every record, then commits; a failed delivery fails it.
    package func commit(timeoutMilliseconds: Int32) throws(StreamError) {
        try unsafe check(
            "commit_transaction",
            rd_kafka_commit_transaction(handle.pointer, timeoutMilliseconds)
        )
        // librdkafka refuses the commit after a failed delivery; this keeps it so.
        if let failure = deliveryFailure { throw failure }
    }

    /// Drops what is queued, waits for the rest, and aborts.
    package func abort(timeoutMilliseconds: Int32) throws(StreamError) {
        try unsafe check(
            "abort_transaction",
            rd_kafka_abort_transaction(handle.pointer, timeoutMilliseconds)
        )
        deliveryFailure = nil
    }

    /// Ends the producer; an open transaction is left to its successor or its time-out.
    package func close(timeoutMilliseconds: Int32) {
        guard !isClosed else { return }
        isClosed = true
        releaseTopics()
        handle.destroy(timeoutMilliseconds: timeoutMilliseconds)
    }

    private func releaseTopics() {
        for index in unsafe topicHandles.indices {
            unsafe rd_kafka_topic_destroy(topicHandles[index])
        }
        unsafe topicHandles.removeAll()
    }

    /// Throws an error; one that follows from a failed delivery names that.
    private func check(_ operation: String, _ error: OpaquePointer?) throws(StreamError) {
        guard
            var error = unsafe StreamError(
                taking: error,
                operation: operation,
                client: handle.pointer
            )
        else { return }
        if let deliveryFailure, error.disposition != .fenced {
            error.detail += "; first failed delivery: \(deliveryFailure)"
            if deliveryFailure.disposition == .refused { error.disposition = .refused }
        }
        throw error
    }
}

extension KafkaSink: ClientResponder {
    func deliveryFailed(_ message: UnsafePointer<rd_kafka_message_t>) {
        guard deliveryFailure == nil else { return }
        let topic = unsafe message.pointee.rkt.map {
            unsafe String(cString: rd_kafka_topic_name($0))
        }
        // Not `rd_kafka_message_errstr`: of a producer's record it returns the payload.
        let reason = unsafe String(cString: rd_kafka_err2str(message.pointee.err))
        var error = unsafe StreamError(
            message.pointee.err,
            operation: "produce",
            detail: "\(topic ?? "?"): \(reason)"
        )
        // Whatever it was, the transaction misses a record now.
        if error.disposition == .retriable || error.disposition == .fatal {
            error.disposition = .abortable
        }
        deliveryFailure = error
    }

    func clientFailed(_ error: StreamError, _ code: rd_kafka_resp_err_t) {
        events.failed(error, client: clientID)
    }
}
