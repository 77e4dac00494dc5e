// librdkafka's callbacks. They are functions of this file, not closures: one written in a
// main-actor file would trap on librdkafka's threads.
internal import CRdKafka
internal import StreamPorts
internal import Synchronization

/// Who polls a client, and hears its callbacks on the same thread.
protocol ClientResponder: AnyObject {
    /// The group assigns, revokes or reports an error; the list is librdkafka's.
    func rebalanced(
        _ code: rd_kafka_resp_err_t,
        _ partitions: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>
    )
    /// A record could not be delivered.
    func deliveryFailed(_ message: UnsafePointer<rd_kafka_message_t>)
    /// An error that belongs to no call.
    func clientFailed(_ error: StreamError, _ code: rd_kafka_resp_err_t)
    /// Statistics as JSON.
    func reported(_ json: RawSpan)
}

extension ClientResponder {
    func rebalanced(
        _ code: rd_kafka_resp_err_t,
        _ partitions: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>
    ) {}
    func deliveryFailed(_ message: UnsafePointer<rd_kafka_message_t>) {}
    func reported(_ json: RawSpan) {}
}

/// What a client's callbacks find at its opaque pointer; lives until the client has ended.
final class CallbackContext {
    let client: String
    let events: any ClientEvents
    /// Touched by the polling thread only.
    weak var responder: (any ClientResponder)?
    /// Why a broker's certificate was refused last; written by librdkafka's threads.
    let certificateFault = Mutex<String?>(nil)

    init(client: String, events: any ClientEvents) {
        self.client = client
        self.events = events
    }

    /// The context of a client, borrowed; nil while the client is being made.
    static func of(_ opaque: UnsafeMutableRawPointer?) -> CallbackContext? {
        guard let opaque = unsafe opaque else { return nil }
        return unsafe Unmanaged<CallbackContext>.fromOpaque(opaque).takeUnretainedValue()
    }
}

/// Sets the callbacks that a role needs.
///
/// A producer without delivery reports would flush and commit in steps of 10 ms.
func registerCallbacks(on configuration: OpaquePointer, role: ClientRole) {
    unsafe rd_kafka_conf_set_log_cb(configuration, logLine)
    unsafe rd_kafka_conf_set_error_cb(configuration, clientError)
    unsafe rd_kafka_conf_set_stats_cb(configuration, statistics)
    // A librdkafka without TLS has no such callback; then there is nothing to verify either.
    _ = unsafe rd_kafka_conf_set_ssl_cert_verify_cb(configuration, certificateVerdict)
    if role.isProducer { unsafe rd_kafka_conf_set_dr_msg_cb(configuration, deliveryReport) }
    if case .source = role { unsafe rd_kafka_conf_set_rebalance_cb(configuration, rebalance) }
}

private func logLine(
    _ client: OpaquePointer?,
    _ level: Int32,
    _ facility: UnsafePointer<CChar>?,
    _ message: UnsafePointer<CChar>?
) {
    guard let client = unsafe client, let facility = unsafe facility,
        let message = unsafe message,
        let context = unsafe CallbackContext.of(rd_kafka_opaque(client))
    else { return }
    context.events.logged(
        unsafe ClientLogLine(
            client: context.client,
            level: level,
            facility: String(cString: facility),
            message: String(cString: message)
        )
    )
}

/// Agrees with OpenSSL about a broker's certificate, and keeps why one is refused.
///
/// librdkafka's own message is the same for all reasons.
private func certificateVerdict(
    _ client: OpaquePointer?,
    _ name: UnsafePointer<CChar>?,
    _ node: Int32,
    _ code: UnsafeMutablePointer<Int32>?,
    _ depth: Int32,
    _ certificate: UnsafePointer<CChar>?,
    _ size: Int,
    _ reason: UnsafeMutablePointer<CChar>?,
    _ reasonSize: Int,
    _ opaque: UnsafeMutableRawPointer?
) -> Int32 {
    guard let code = unsafe code?.pointee, code != 0 else { return 1 }
    let fault = CertificateFault.description(code)
    unsafe CallbackContext.of(opaque)?.certificateFault.withLock { $0 = fault }
    guard let reason = unsafe reason else { return 0 }
    let text = Array(fault.utf8.prefix(max(reasonSize - 1, 0)))
    for (index, byte) in text.enumerated() { unsafe reason[index] = CChar(bitPattern: byte) }
    if reasonSize > 0 { unsafe reason[text.count] = 0 }
    return 0
}

private func clientError(
    _ client: OpaquePointer?,
    _ code: Int32,
    _ reason: UnsafePointer<CChar>?,
    _ opaque: UnsafeMutableRawPointer?
) {
    guard let client = unsafe client, let context = unsafe CallbackContext.of(opaque) else {
        return
    }
    let code = rd_kafka_resp_err_t(code)
    var detail = unsafe reason.map { unsafe String(cString: $0) }
    if let found = detail?.firstRange(of: "certificate verify failed"),
        let fault = context.certificateFault.withLock({ $0 })
    {
        detail = detail.map { "\($0[..<found.upperBound]): \(fault)" }
    }
    let fatal = unsafe StreamError(fatalOf: client, operation: "client")
    let error = fatal ?? StreamError(code, operation: "client", detail: detail)
    if let responder = context.responder {
        responder.clientFailed(error, code)
    } else {
        context.events.failed(error, client: context.client)
    }
}

private func statistics(
    _ client: OpaquePointer?,
    _ json: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ opaque: UnsafeMutableRawPointer?
) -> Int32 {
    guard let json = unsafe json, let context = unsafe CallbackContext.of(opaque) else { return 0 }
    let bytes = unsafe RawSpan(_unsafeStart: UnsafeRawPointer(json), byteCount: size)
    context.responder?.reported(bytes)
    context.events.statistics(bytes, client: context.client)
    // librdkafka frees the text.
    return 0
}

private func deliveryReport(
    _ client: OpaquePointer?,
    _ message: UnsafePointer<rd_kafka_message_t>?,
    _ opaque: UnsafeMutableRawPointer?
) {
    guard let message = unsafe message,
        unsafe message.pointee.err != RD_KAFKA_RESP_ERR_NO_ERROR
    else { return }
    unsafe CallbackContext.of(opaque)?.responder?.deliveryFailed(message)
}

private func rebalance(
    _ client: OpaquePointer?,
    _ code: rd_kafka_resp_err_t,
    _ partitions: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?,
    _ opaque: UnsafeMutableRawPointer?
) {
    guard let partitions = unsafe partitions else { return }
    unsafe CallbackContext.of(opaque)?.responder?.rebalanced(code, partitions)
}
