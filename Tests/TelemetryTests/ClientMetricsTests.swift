import Testing

@testable import Telemetry

struct ClientMetricsTests {
    private func text(_ metrics: ClientMetrics) -> [String] {
        let registry = MetricRegistry()
        registry.register(metrics)
        return String(decoding: registry.exposition(.classic), as: UTF8.self)
            .split(separator: "\n").filter { !$0.hasPrefix("#") }.map { String($0) }
    }

    private func reading(fetched: Int64 = 0, roundTrip: Int64 = 0, connects: Int64) -> ClientReading
    {
        var reading = ClientReading()
        reading.fetchedRecords = fetched
        reading.fetchedBytes = fetched * 100
        reading.roundTripMicroseconds = roundTrip
        reading.connects = connects
        reading.disconnects = connects - 1
        return reading
    }

    @Test func `handles are summed, and the slowest connection is told`() {
        let metrics = ClientMetrics()
        metrics.report(reading(fetched: 3, roundTrip: 1500, connects: 2), client: "a")
        metrics.report(reading(fetched: 4, roundTrip: 900, connects: 5), client: "b")
        metrics.report(reading(fetched: 1, roundTrip: 1500, connects: 2), client: "a")
        let text = text(metrics)
        #expect(text.contains("giftcombo_kafka_fetched_records 5"))
        #expect(text.contains("giftcombo_kafka_fetched_bytes 500"))
        #expect(text.contains("giftcombo_kafka_round_trip_seconds 0.0015"))
        #expect(text.contains("giftcombo_kafka_connects_total 7"))
        #expect(text.contains("giftcombo_kafka_disconnects_total 5"))
    }

    @Test func `a handle that was made anew takes nothing back`() {
        let metrics = ClientMetrics()
        metrics.report(reading(connects: 5), client: "a")
        metrics.report(reading(connects: 1), client: "a")
        metrics.report(reading(connects: 2), client: "a")
        #expect(text(metrics).contains("giftcombo_kafka_connects_total 7"))
        #expect(text(metrics).contains("giftcombo_kafka_disconnects_total 5"))
    }

    @Test func `before the first statistics there are no gauges`() {
        #expect(!text(ClientMetrics()).contains { $0.contains("fetched") })
    }
}
