internal import CRdKafka
package import StreamPorts

/// Writes plain records to one topic: idempotent, acknowledged by all replicas, not transactional.
///
/// For loading recordings and generated events. One thread makes all calls.
@safe
package final class KafkaLoader {
    /// How many records may be on their way.
    private static let outstandingLimit = 20_000

    private let handle: ClientHandle
    private let events: any ClientEvents
    private let clientID: String
    private let topic: String
    private var topicHandle: OpaquePointer?
    private var isClosed = false
    /// Records handed over so far.
    package private(set) var handedOver = 0
    /// Records that could not be delivered.
    package private(set) var failed = 0
    /// Why the first of them could not.
    package private(set) var firstFailure: StreamError?

    /// Makes a producer for `topic`.
    ///
    /// - Throws: `refused` for settings that librdkafka doesn't take.
    package init(
        _ settings: KafkaSettings,
        topic: String,
        clientID: String,
        events: any ClientEvents
    ) throws(StreamError) {
        handle = try ClientHandle(settings, role: .loader, clientID: clientID, events: events)
        self.events = events
        self.clientID = clientID
        self.topic = topic
        guard let topicHandle = unsafe rd_kafka_topic_new(handle.pointer, topic, nil) else {
            throw StreamError(rd_kafka_last_error(), operation: "topic_new")
        }
        unsafe self.topicHandle = topicHandle
        handle.respond(with: self)
    }

    deinit {
        releaseTopic()
    }

    /// Hands one record over; its bytes are copied.
    ///
    /// Waits while too many are on their way.
    ///
    /// - Parameters:
    ///   - partition: Where to; nil: where the key belongs, as Java clients compute it.
    ///   - timestampMilliseconds: Epoch milliseconds; 0: now.
    ///   - key: Nil: a null key.
    ///   - value: Nil: a tombstone.
    /// - Throws: `refused` for a partition that doesn't exist or a record that is too large.
    package func write(
        partition: Int32? = nil,
        timestampMilliseconds: Int64,
        key: UnsafeRawBufferPointer,
        value: UnsafeRawBufferPointer
    ) throws(StreamError) {
        var limit = Self.outstandingLimit
        while true {
            while unsafe rd_kafka_outq_len(handle.pointer) >= limit { serve(milliseconds: 1) }
            let code = unsafe giftcombo_produce(
                handle.pointer,
                topicHandle,
                partition ?? -1,
                timestampMilliseconds,
                key.baseAddress,
                key.count,
                value.baseAddress,
                value.count
            )
            switch code {
            case RD_KAFKA_RESP_ERR_NO_ERROR:
                handedOver += 1
                if handedOver % 64 == 0 { serve(milliseconds: 0) }
                return
            case RD_KAFKA_RESP_ERR__QUEUE_FULL:
                limit = unsafe Int(rd_kafka_outq_len(handle.pointer))
            default:
                throw StreamError(code, operation: "produce", detail: "topic \(topic)")
            }
        }
    }

    /// Hands one record of arrays over; otherwise as the other `write`.
    package func write(
        partition: Int32? = nil,
        timestampMilliseconds: Int64,
        key: [UInt8]?,
        value: [UInt8]?
    ) throws(StreamError) {
        // `Array.withUnsafeBytes` gives an empty array no address, which would make it null.
        let keyBytes = ContiguousBytes(key)
        let valueBytes = ContiguousBytes(value)
        try unsafe write(
            partition: partition,
            timestampMilliseconds: timestampMilliseconds,
            key: keyBytes.buffer,
            value: valueBytes.buffer
        )
    }

    /// Waits until every record is acknowledged or has failed.
    ///
    /// - Throws: `retriable` when the time is not enough; the first failure if any record failed.
    package func flush(timeoutMilliseconds: Int32) throws(StreamError) {
        let code = unsafe rd_kafka_flush(handle.pointer, timeoutMilliseconds)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
            throw StreamError(code, operation: "flush")
        }
        if let firstFailure { throw firstFailure }
    }

    /// Ends the producer; what is not flushed is lost.
    package func close(timeoutMilliseconds: Int32) {
        guard !isClosed else { return }
        isClosed = true
        releaseTopic()
        handle.destroy(timeoutMilliseconds: timeoutMilliseconds)
    }

    private func serve(milliseconds: Int32) {
        unsafe rd_kafka_poll(handle.pointer, milliseconds)
    }

    private func releaseTopic() {
        if let topic = unsafe topicHandle { unsafe rd_kafka_topic_destroy(topic) }
        unsafe topicHandle = nil
    }
}

extension KafkaLoader: ClientResponder {
    func deliveryFailed(_ message: UnsafePointer<rd_kafka_message_t>) {
        failed += 1
        guard firstFailure == nil else { return }
        // Not `rd_kafka_message_errstr`: of a producer's record it returns the payload.
        let reason = unsafe String(cString: rd_kafka_err2str(message.pointee.err))
        firstFailure = unsafe StreamError(
            message.pointee.err,
            operation: "produce",
            detail: "\(topic): \(reason)"
        )
    }

    func clientFailed(_ error: StreamError, _ code: rd_kafka_resp_err_t) {
        events.failed(error, client: clientID)
    }
}

/// A copy of an array's bytes at an address that lasts; null for no array, not null for an empty
/// one.
@safe
private final class ContiguousBytes {
    let buffer: UnsafeRawBufferPointer
    private let memory: UnsafeMutableRawBufferPointer

    init(_ bytes: [UInt8]?) {
        let count = bytes?.count ?? 0
        unsafe memory = .allocate(byteCount: max(count, 1), alignment: 1)
        unsafe memory.copyBytes(from: bytes ?? [])
        let address = unsafe bytes == nil ? nil : memory.baseAddress
        unsafe buffer = UnsafeRawBufferPointer(start: address, count: count)
    }

    deinit {
        unsafe memory.deallocate()
    }
}
