internal import CRdKafka
internal import StreamPorts

/// The records of one poll, and librdkafka's messages that their bytes belong to.
///
/// Messages are kept until the next poll and destroyed together; in steady state nothing here
/// allocates.
@safe
final class RecordBuffer {
    private typealias Message = UnsafeMutablePointer<rd_kafka_message_t>

    private var messages: UnsafeMutablePointer<Message>
    private var views: UnsafeMutablePointer<RecordView>
    private var capacity = 256
    private(set) var count = 0

    init() {
        unsafe messages = .allocate(capacity: capacity)
        unsafe views = .allocate(capacity: capacity)
    }

    deinit {
        release()
        unsafe messages.deallocate()
        unsafe views.deallocate()
    }

    /// Valid until the next ``release(reserving:)``.
    var batch: RecordBatch {
        unsafe RecordBatch(UnsafeBufferPointer(start: views, count: count))
    }

    /// Destroys the messages, and makes room for so many new ones.
    func release(reserving limit: Int = 0) {
        for index in 0..<count { unsafe rd_kafka_message_destroy(messages[index]) }
        count = 0
        guard limit > capacity else { return }
        unsafe messages.deallocate()
        unsafe views.deallocate()
        capacity = limit
        unsafe messages = .allocate(capacity: limit)
        unsafe views = .allocate(capacity: limit)
    }

    /// Takes over a message that holds a record.
    func append(_ message: UnsafeMutablePointer<rd_kafka_message_t>) {
        precondition(count < capacity, "the batch is full")
        let record = unsafe message.pointee
        let timestamp = unsafe rd_kafka_message_timestamp(message, nil)
        unsafe messages[count] = message
        unsafe views[count] = RecordView(
            partition: record.partition,
            offset: record.offset,
            timestampMilliseconds: timestamp,
            key: UnsafeRawBufferPointer(start: record.key, count: record.key_len),
            value: UnsafeRawBufferPointer(start: record.payload, count: record.len)
        )
        count += 1
    }

    /// The headers of a record, in order, their values as text; a null value is "".
    func headers(_ index: Int) -> [RecordHeader] {
        precondition(index >= 0 && index < count, "no such record in the batch")
        var list: OpaquePointer?
        let code = unsafe rd_kafka_message_headers(messages[index], &list)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR, let list = unsafe list else { return [] }
        return unsafe (0..<rd_kafka_header_cnt(list)).compactMap { position in
            var name: UnsafePointer<CChar>?
            var value: UnsafeRawPointer?
            var size = 0
            let code = unsafe rd_kafka_header_get_all(list, position, &name, &value, &size)
            guard code == RD_KAFKA_RESP_ERR_NO_ERROR, let name = unsafe name else { return nil }
            let bytes = unsafe UnsafeRawBufferPointer(start: value, count: size)
            return unsafe RecordHeader(
                name: String(cString: name),
                value: String(decoding: bytes, as: UTF8.self)
            )
        }
    }

    /// Destroys the records of partitions that are no longer ours.
    func remove(partitions: [Int32]) {
        var kept = 0
        for index in 0..<count {
            if unsafe partitions.contains(views[index].partition) {
                unsafe rd_kafka_message_destroy(messages[index])
            } else {
                unsafe messages[kept] = messages[index]
                unsafe views[kept] = views[index]
                kept += 1
            }
        }
        count = kept
    }
}

/// The next offset to deliver of each partition, which also keeps out what must not be delivered.
@safe
final class PositionTable {
    /// No offset reaches it: the partition delivers nothing.
    private static let closed = Int64.max

    private var next: UnsafeMutablePointer<Int64>
    private var capacity = 0

    init() {
        unsafe next = .allocate(capacity: 1)
    }

    deinit {
        unsafe next.deallocate()
    }

    /// Whether a record is at or after the position; moves the position behind it.
    ///
    /// Offsets may leave gaps (transaction markers, compaction), so a jump forward is normal.
    func admit(partition: Int32, offset: Int64) -> Bool {
        let index = Int(partition)
        guard index >= 0, index < capacity, unsafe offset >= next[index] else { return false }
        unsafe next[index] = offset + 1
        return true
    }

    /// Delivers from `offset` on.
    func open(partition: Int32, at offset: Int64) {
        reserve(Int(partition) + 1)
        unsafe next[Int(partition)] = offset
    }

    /// Delivers nothing until it is opened.
    func close(partition: Int32) {
        open(partition: partition, at: Self.closed)
    }

    /// The next offset to deliver; nil: closed.
    func position(partition: Int32) -> Int64? {
        let index = Int(partition)
        guard index >= 0, index < capacity, unsafe next[index] != Self.closed else { return nil }
        return unsafe next[index]
    }

    /// Whether anything is delivered.
    var isAnyOpen: Bool {
        (0..<capacity).contains { unsafe next[$0] != Self.closed }
    }

    private func reserve(_ count: Int) {
        guard count > capacity else { return }
        let grown = UnsafeMutablePointer<Int64>.allocate(capacity: count)
        unsafe grown.initialize(repeating: Self.closed, count: count)
        for index in 0..<capacity { unsafe grown[index] = next[index] }
        unsafe next.deallocate()
        unsafe next = grown
        capacity = count
    }
}
