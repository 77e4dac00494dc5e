internal import KafkaClient
internal import StreamPorts
internal import Synchronization

/// Keeps what clients report besides the answers to calls: why no broker can be reached.
final class ReportedErrors: ClientEvents {
    private let errors = Mutex<[StreamError]>([])

    func logged(_ line: ClientLogLine) {}

    func failed(_ error: StreamError, client: String) {
        // That all brokers are down follows from what was reported of each.
        guard error.code != "_ALL_BROKERS_DOWN" else { return }
        errors.withLock { $0.append(error) }
    }

    func statistics(_ json: RawSpan, client: String) {}

    /// The error that says most: a refused login or handshake is no matter of waiting, a broken
    /// connection may be.
    var worst: StreamError? {
        errors.withLock { errors in errors.first(where: Self.isLasting) ?? errors.last }
    }

    /// Whether an error will not pass by itself.
    static func isLasting(_ error: StreamError) -> Bool {
        ["_AUTHENTICATION", "SASL_AUTHENTICATION_FAILED", "_SSL"].contains(error.code)
            || error.detail.contains("SSL routines")
    }
}
