package import StreamPorts

/// What librdkafka has to say besides the answers to calls.
package struct ClientLogLine: Equatable, Sendable {
    /// The client's `client.id`.
    package let client: String
    /// The level as syslog numbers it (RFC 5424): 3 error, 4 warning, 6 information, 7 debug.
    package let level: Int32
    /// What it is about, in librdkafka's own capitals: `FAIL`, `SESSTMOUT`.
    package let facility: String
    /// The sentence.
    package let message: String
}

/// Hears what librdkafka reports by itself.
///
/// Lines come on any thread, librdkafka's own among them; errors and statistics on the thread that
/// polls the client. None of the calls may block or call back into the client.
package protocol ClientEvents: Sendable {
    /// A line of librdkafka's log; on any thread.
    func logged(_ line: ClientLogLine)
    /// An error that belongs to no call and that no port reports, from `client`.
    func failed(_ error: StreamError, client: String)
    /// Statistics as librdkafka's JSON, each `statistics.interval.ms`; borrowed for the call.
    func statistics(_ json: RawSpan, client: String)
}

/// Hears nothing.
package struct SilentClientEvents: ClientEvents {
    /// Creates a listener that drops everything.
    package init() {}

    /// Drops it.
    package func logged(_ line: ClientLogLine) {}
    /// Drops it.
    package func failed(_ error: StreamError, client: String) {}
    /// Drops it.
    package func statistics(_ json: RawSpan, client: String) {}
}
