internal import Synchronization

/// What one of librdkafka's handles said of itself last.
package struct ClientReading: Equatable, Sendable {
    /// Records fetched and not taken.
    package var fetchedRecords: Int64 = 0
    /// Their size.
    package var fetchedBytes: Int64 = 0
    /// Records produced and not acknowledged.
    package var unacknowledgedRecords: Int64 = 0
    /// 99th percentile of the round trip, of the slowest connection, microseconds; 0: not known.
    package var roundTripMicroseconds: Int64 = 0
    /// Attempts to connect since the handle was made.
    package var connects: Int64 = 0
    /// Connections that ended since then.
    package var disconnects: Int64 = 0
    /// Requests without an answer since then.
    package var requestTimeouts: Int64 = 0

    /// Creates a reading of zeros.
    package init() {}
}

/// The metrics of all of the process's librdkafka handles, each known by its `client.id`.
///
/// Reported once a second and handle, so a lock does no harm.
package final class ClientMetrics: MetricSource {
    private struct State {
        /// In no order; summed only.
        var readings: [String: ClientReading] = [:]
        /// What handles had counted that are gone, their `client.id` being another's now.
        var connects: Int64 = 0
        var disconnects: Int64 = 0
        var requestTimeouts: Int64 = 0
    }

    private let state = Mutex(State())

    /// Creates the source; ``MetricRegistry/register(_:)`` publishes it.
    package init() {}

    /// Takes a handle's newest statistics.
    package func report(_ reading: ClientReading, client: String) {
        state.withLock { state in
            if let last = state.readings[client], reading.connects < last.connects {
                // Counted from zero again: the handle was made anew.
                state.connects += last.connects
                state.disconnects += last.disconnects
                state.requestTimeouts += last.requestTimeouts
            }
            state.readings[client] = reading
        }
    }

    /// The metrics of these handles.
    package func metricChildren() -> [MetricChild] {
        typealias Catalogue = MetricCatalogue
        let gauge = { (family: MetricFamily, value: @escaping @Sendable (ClientReading) -> Int64) in
            MetricChild(family) { self.sum(value).map { .value($0) } ?? .absent }
        }
        return [
            gauge(Catalogue.fetchedRecords, \.fetchedRecords),
            gauge(Catalogue.fetchedBytes, \.fetchedBytes),
            gauge(Catalogue.unacknowledgedRecords, \.unacknowledgedRecords),
            MetricChild(Catalogue.roundTrip) {
                let longest = self.state.withLock { state in
                    state.readings.values.map(\.roundTripMicroseconds).max()
                }
                return longest.map { .value($0) } ?? .absent
            },
            MetricChild(Catalogue.connects) {
                .count(UInt64(clamping: self.total(\.connects, \.connects)))
            },
            MetricChild(Catalogue.disconnects) {
                .count(UInt64(clamping: self.total(\.disconnects, \.disconnects)))
            },
            MetricChild(Catalogue.requestTimeouts) {
                .count(UInt64(clamping: self.total(\.requestTimeouts, \.requestTimeouts)))
            },
        ]
    }

    private func sum(_ value: @Sendable (ClientReading) -> Int64) -> Int64? {
        state.withLock { state in
            state.readings.isEmpty ? nil : state.readings.values.reduce(0) { $0 + value($1) }
        }
    }

    private func total(
        _ value: @Sendable (ClientReading) -> Int64,
        _ gone: @Sendable (borrowing State) -> Int64
    ) -> Int64 {
        state.withLock { state in
            state.readings.values.reduce(gone(state)) { $0 + value($1) }
        }
    }
}
