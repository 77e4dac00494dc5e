internal import CRdKafka
internal import Glibc
internal import StreamPorts

/// A consumer of one topic: its batch, its positions, and what it met besides records.
///
/// Shared by the source, which adds the group, and the readers, which assign partitions themselves.
@safe
final class ConsumerClient: ClientResponder {
    /// How many events one poll gathers at most; the others wait for the next.
    private static let eventLimit = 256
    /// How long a change of position may take, milliseconds: librdkafka's own thread does it.
    private static let seekTimeoutMilliseconds: Int32 = 5000
    /// How often a seek is tried on a partition that has not started, and how long between.
    private static let seekAttempts = 50
    private static let seekPauseMicroseconds: UInt32 = 2000

    /// How long the question for leaders may take where no time is left, milliseconds.
    private static let leaderMilliseconds: Int32 = 100

    let handle: ClientHandle
    let topic: String
    let positions = PositionTable()
    private let buffer = RecordBuffer()
    private(set) var events: [SourceEvent] = []
    private(set) var connection: LeaderConnections
    /// Partitions whose fetcher has stopped: out of range; a seek must start them anew.
    private var stopped: Set<Int32> = []
    private var isPolling = false
    private var fatal: StreamError?

    init(
        _ settings: KafkaSettings,
        role: ClientRole,
        topic: String,
        clientID: String,
        events: any ClientEvents
    ) throws(StreamError) {
        handle = try ClientHandle(settings, role: role, clientID: clientID, events: events)
        self.topic = topic
        connection = LeaderConnections(topic: topic)
        unsafe rd_kafka_poll_set_consumer(handle.pointer)
        handle.respond(with: self)
    }

    /// Empty inside a poll: what a rebalance takes away must not be seen before it is taken out.
    var batch: RecordBatch {
        isPolling ? unsafe RecordBatch(UnsafeBufferPointer(start: nil, count: 0)) : buffer.batch
    }

    /// Waits for the first message, then takes what is there; the batch before is released.
    func poll(limit: Int, timeoutMilliseconds: Int32) throws(StreamError) {
        releaseBatch(reserving: limit)
        events.removeAll(keepingCapacity: true)
        if let fatal { throw fatal }
        isPolling = true
        defer { isPolling = false }
        let client = unsafe handle.pointer
        var message = unsafe rd_kafka_consumer_poll(client, timeoutMilliseconds)
        while let current = unsafe message {
            if unsafe current.pointee.err == RD_KAFKA_RESP_ERR_NO_ERROR {
                unsafe takeRecord(current)
            } else {
                unsafe takeError(current)
                unsafe rd_kafka_message_destroy(current)
            }
            guard buffer.count < limit, events.count < Self.eventLimit else { break }
            unsafe message = rd_kafka_consumer_poll(client, 0)
        }
        if let fatal { throw fatal }
    }

    func releaseBatch(reserving limit: Int = 0) {
        buffer.release(reserving: limit)
    }

    func headers(_ index: Int) -> [RecordHeader] {
        buffer.headers(index)
    }

    /// Adds an event to the poll under way.
    func note(_ event: SourceEvent) {
        events.append(event)
    }

    /// Forgets a partition, its records in the batch included; it delivers nothing until it is
    /// sought.
    func close(partitions: [Int32]) {
        for partition in partitions {
            positions.close(partition: partition)
            connection.forget(partition)
            stopped.remove(partition)
        }
        buffer.remove(partitions: partitions)
    }

    private func takeRecord(_ message: UnsafeMutablePointer<rd_kafka_message_t>) {
        let (partition, offset) = unsafe (message.pointee.partition, message.pointee.offset)
        guard positions.admit(partition: partition, offset: offset) else {
            unsafe rd_kafka_message_destroy(message)
            return
        }
        unsafe buffer.append(message)
        if connection.isDown { noteConnected() }
    }

    private func takeError(_ message: UnsafeMutablePointer<rd_kafka_message_t>) {
        let (code, partition, offset) = unsafe (
            message.pointee.err, message.pointee.partition, message.pointee.offset
        )
        switch code {
        case RD_KAFKA_RESP_ERR__PARTITION_EOF:
            guard let position = positions.position(partition: partition), offset >= position
            else { return }
            // The end lies behind transaction markers, which are no records.
            positions.open(partition: partition, at: offset)
            connection.reachedEnd(partition, offset: offset)
            if connection.isDown { noteConnected() }
            events.append(.endOfPartition(partition: partition, offset: offset))
        case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
            takeOutOfRange(partition: partition, offset: offset)
        default:
            let reason = unsafe String(cString: rd_kafka_message_errstr(message))
            let detail = partition >= 0 ? "partition \(partition): \(reason)" : reason
            events.append(.trouble(StreamError(code, operation: "fetch", detail: detail)))
        }
    }

    /// A fetch failed because its offset lies outside the log; its fetcher has stopped.
    ///
    /// Such an answer is not dropped by librdkafka when the partition was sought meanwhile (fetch
    /// at 0 under way; seek to 500; the answer stops the fetcher, which is at 500 now). So one
    /// about an offset below the position only starts the fetcher again.
    private func takeOutOfRange(partition: Int32, offset: Int64) {
        stopped.insert(partition)
        guard let position = positions.position(partition: partition) else { return }
        guard offset < position else {
            events.append(.outOfRange(partition: partition))
            return
        }
        do throws(StreamError) {
            try seek(partition: partition, offset: position)
        } catch {
            events.append(.trouble(error))
        }
    }

    func clientFailed(_ error: StreamError, _ code: rd_kafka_resp_err_t) {
        if code == RD_KAFKA_RESP_ERR__FATAL { fatal = error }
        if code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN {
            if connection.lostAll() { events.append(.brokersDown) }
        } else {
            connection.doubt()
            events.append(.trouble(error))
        }
    }

    func reported(_ json: RawSpan) {
        guard let report = StatisticsReport(json, topic: topic) else { return }
        if connection.isDown, !report.connected.isEmpty { noteConnected() }
        if connection.hasLostAll(report, isReading: positions.isAnyOpen) {
            events.append(.brokersDown)
        }
        for partition in connection.update(report) { renewEnd(partition) }
    }

    private func noteConnected() {
        connection.foundOne()
        events.append(.brokersUp)
    }

    /// Seeks to where the partition stands already, so that its end is reported anew.
    ///
    /// librdkafka reports an end once; whether a record was written during an outage only the next
    /// fetch shows, and only a changed position makes it speak of the end again.
    private func renewEnd(_ partition: Int32) {
        guard let position = positions.position(partition: partition),
            connection.isAtEnd(partition, position: position), !stopped.contains(partition)
        else { return }
        let list = PartitionList(capacity: 1)
        list.add(topic: topic, partition: partition, offset: position)
        // Without a time-out it is asynchronous, and has no result.
        let error = unsafe rd_kafka_seek_partitions(handle.pointer, list.pointer, 0)
        if let error = unsafe StreamError(
            taking: error,
            operation: "seek_partitions",
            client: handle.pointer
        ) {
            events.append(.trouble(error))
        }
    }

    /// Moves the position; the partition must be assigned.
    func seek(partition: Int32, offset: Int64) throws(StreamError) {
        positions.open(partition: partition, at: offset)
        connection.left(partition)
        if stopped.remove(partition) == nil {
            for _ in 0..<Self.seekAttempts {
                if try seekStarted(partition: partition, offset: offset) { return }
                usleep(Self.seekPauseMicroseconds)
            }
        }
        try restart(partition: partition, offset: offset)
    }

    /// False: the partition's fetcher has not started yet, or has stopped.
    private func seekStarted(partition: Int32, offset: Int64) throws(StreamError) -> Bool {
        let list = PartitionList(capacity: 1)
        list.add(topic: topic, partition: partition, offset: offset)
        // Before 2.1 the time-out is taken for microseconds (librdkafka 4230).
        let unit: Int32 = rd_kafka_version() < 0x0201_0000 ? 1000 : 1
        try unsafe StreamError.check(
            "seek_partitions",
            client: handle.pointer,
            rd_kafka_seek_partitions(
                handle.pointer,
                list.pointer,
                Self.seekTimeoutMilliseconds * unit
            )
        )
        if list.element(0).error == RD_KAFKA_RESP_ERR__STATE { return false }
        try list.checkElements("seek_partitions")
        return true
    }

    /// Takes a partition out of the assignment and puts it back at an offset.
    ///
    /// It is the only way to start a stopped fetcher. Whether it is paused is kept. Should the
    /// group just now wait for the answer to a rebalance, librdkafka takes this for the answer,
    /// before the listener has been asked: the broker's fencing covers that.
    private func restart(partition: Int32, offset: Int64) throws(StreamError) {
        let list = PartitionList(capacity: 1)
        list.add(topic: topic, partition: partition, offset: offset)
        try unassign(list)
        try assign(list)
    }

    func assign(_ list: borrowing PartitionList) throws(StreamError) {
        try unsafe StreamError.check(
            "incremental_assign",
            client: handle.pointer,
            rd_kafka_incremental_assign(handle.pointer, list.pointer)
        )
    }

    func unassign(_ list: borrowing PartitionList) throws(StreamError) {
        try unsafe StreamError.check(
            "incremental_unassign",
            client: handle.pointer,
            rd_kafka_incremental_unassign(handle.pointer, list.pointer)
        )
    }

    /// The log's first offset and its end under the client's isolation level, asked of the leader.
    func watermarks(
        partition: Int32,
        timeoutMilliseconds: Int32
    )
        throws(StreamError) -> (low: Int64, high: Int64)
    {
        let deadline = Deadline(milliseconds: timeoutMilliseconds)
        // The protocol has a timestamp for either. Not by `rd_kafka_query_watermark_offsets`, which
        // before 2.3 goes on for as long as the leader is away (librdkafka 4460).
        func offset(_ name: Int32) throws(StreamError) -> Int64 {
            let found = try offsets(at: Int64(name), of: [partition], deadline)
            return found[0].offset ?? Int64(RD_KAFKA_OFFSET_END)
        }
        return (try offset(RD_KAFKA_OFFSET_BEGINNING), try offset(RD_KAFKA_OFFSET_END))
    }

    /// Asks the leaders for the first offsets at or after a timestamp; no offset: there is none.
    func offsets(
        at timestamp: Int64,
        of partitions: [Int32],
        _ deadline: Deadline
    ) throws(StreamError) -> [PartitionOffset] {
        let list = PartitionList(capacity: partitions.count)
        for partition in partitions {
            list.add(topic: topic, partition: partition, offset: timestamp)
        }
        let code = unsafe rd_kafka_offsets_for_times(
            handle.pointer,
            list.pointer,
            max(deadline.remainingMilliseconds, 1)
        )
        do throws(StreamError) {
            guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
                throw StreamError(code, operation: "offsets_for_times")
            }
            try list.checkElements("offsets_for_times")
        } catch {
            renewLeaders(deadline)
            throw error
        }
        return (0..<list.count).map { index in
            let (partition, offset, _) = list.element(index)
            return PartitionOffset(partition: partition, offset: offset >= 0 ? offset : nil)
        }
    }

    /// Asks where the topic's leaders are, for the question that failed to be asked there again.
    ///
    /// librdkafka refreshes only topics that a client has a handle of. One that reads nothing just
    /// now would ask the leader that moved away, or the node that is gone, for another minute.
    private func renewLeaders(_ deadline: Deadline) {
        guard let topic = unsafe rd_kafka_topic_new(handle.pointer, topic, nil) else { return }
        defer { unsafe rd_kafka_topic_destroy(topic) }
        // Without an answer here there is nothing to add to the failure that is told already.
        _ = try? unsafe TopicMetadata.ask(
            handle.pointer,
            topic: topic,
            timeoutMilliseconds: max(deadline.remainingMilliseconds, Self.leaderMilliseconds)
        )
    }
}
