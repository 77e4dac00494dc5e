/// What a handle's statistics say of its queues, its connections and their round trips.
///
/// The layout of the JSON is librdkafka's STATISTICS.md: `msg_cnt`; `brokers` by name, each with
/// `connects`, `disconnects`, `req_timeouts` and `rtt`; `topics` by name, each with `partitions`,
/// each with `fetchq_cnt` and `fetchq_size`.
package struct ClientStatistics: Equatable, Sendable {
    /// Records produced and not acknowledged.
    package private(set) var unacknowledgedRecords: Int64 = 0
    /// Records fetched and not taken.
    package private(set) var fetchedRecords: Int64 = 0
    /// Their size, bytes.
    package private(set) var fetchedBytes: Int64 = 0
    /// The longest 99th percentile of a broker's round trips, microseconds.
    package private(set) var roundTripMicroseconds: Int64 = 0
    /// Attempts to connect since the handle was made.
    package private(set) var connects: Int64 = 0
    /// Connections that ended since then.
    package private(set) var disconnects: Int64 = 0
    /// Requests that no broker answered in time since then.
    package private(set) var requestTimeouts: Int64 = 0

    /// Reads statistics; nil if they aren't of the known form.
    package init?(_ json: RawSpan) {
        var scanner = JSONScanner(json)
        let wellFormed = scanner.members { name, scanner in
            switch name {
            case "msg_cnt": scanner.integer(into: &unacknowledgedRecords)
            case "brokers": scanner.members { _, scanner in readBroker(&scanner) }
            case "topics": scanner.members { _, scanner in readTopic(&scanner) }
            default: scanner.skipValue()
            }
        }
        guard wellFormed else { return nil }
    }

    private mutating func readBroker(_ scanner: inout JSONScanner) -> Bool {
        scanner.members { name, scanner in
            switch name {
            case "connects": add(&scanner, to: \.connects)
            case "disconnects": add(&scanner, to: \.disconnects)
            case "req_timeouts": add(&scanner, to: \.requestTimeouts)
            case "rtt": scanner.members { name, scanner in readRoundTrip(name, &scanner) }
            default: scanner.skipValue()
            }
        }
    }

    private mutating func readRoundTrip(_ name: String, _ scanner: inout JSONScanner) -> Bool {
        guard name == "p99" else { return scanner.skipValue() }
        var value: Int64 = 0
        guard scanner.integer(into: &value) else { return false }
        roundTripMicroseconds = max(roundTripMicroseconds, value)
        return true
    }

    private mutating func readTopic(_ scanner: inout JSONScanner) -> Bool {
        scanner.members { name, scanner in
            guard name == "partitions" else { return scanner.skipValue() }
            return scanner.members { _, scanner in
                scanner.members { name, scanner in
                    switch name {
                    case "fetchq_cnt": add(&scanner, to: \.fetchedRecords)
                    case "fetchq_size": add(&scanner, to: \.fetchedBytes)
                    default: scanner.skipValue()
                    }
                }
            }
        }
    }

    private mutating func add(
        _ scanner: inout JSONScanner,
        to sum: WritableKeyPath<ClientStatistics, Int64>
    ) -> Bool {
        var value: Int64 = 0
        guard scanner.integer(into: &value) else { return false }
        self[keyPath: sum] += value
        return true
    }
}
