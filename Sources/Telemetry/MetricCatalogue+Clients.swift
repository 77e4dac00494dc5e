/// What librdkafka's handles say of themselves, each second, summed over the process.
///
/// Source: librdkafka's STATISTICS.md.
extension MetricCatalogue {
    /// Tells how much is fetched and not taken yet.
    package static let fetchedRecords = MetricFamily(
        "giftcombo_kafka_fetched_records",
        .gauge,
        help: "Records that are fetched ahead and not taken by a worker yet."
    )
    /// Tells how much memory these take.
    package static let fetchedBytes = MetricFamily(
        "giftcombo_kafka_fetched_bytes",
        .gauge,
        unit: "bytes",
        help: "Size of the records that are fetched ahead; input.prefetch.bytes bounds it."
    )
    /// Tells how much is produced and not acknowledged yet.
    package static let unacknowledgedRecords = MetricFamily(
        "giftcombo_kafka_unacknowledged_records",
        .gauge,
        help: "Records that are produced and not acknowledged by their broker yet."
    )
    /// Tells how far away the brokers are.
    package static let roundTrip = MetricFamily(
        "giftcombo_kafka_round_trip_seconds",
        .gauge,
        unit: "seconds",
        scale: .microseconds,
        help: "Round trip of requests, the 99th percentile of the slowest broker connection."
    )
    /// Counts connections.
    package static let connects = MetricFamily(
        "giftcombo_kafka_connects_total",
        .counter,
        help: "Attempts to connect to a broker."
    )
    /// Counts connections that broke.
    package static let disconnects = MetricFamily(
        "giftcombo_kafka_disconnects_total",
        .counter,
        help: "Connections to brokers that were lost or closed."
    )
    /// Counts requests without an answer.
    package static let requestTimeouts = MetricFamily(
        "giftcombo_kafka_request_timeouts_total",
        .counter,
        help: "Requests that no broker has answered in time."
    )
    /// Counts errors by what must be done about them.
    package static let kafkaErrors = MetricFamily(
        "giftcombo_kafka_errors_total",
        .counter,
        labels: ["reason"],
        help: "Errors of Kafka that a worker had to act upon, by what it had to do."
    )

    static let clients = [
        fetchedRecords, fetchedBytes, unacknowledgedRecords, roundTrip, connects, disconnects,
        requestTimeouts, kafkaErrors,
    ]
}

/// The `reason` of ``MetricCatalogue/kafkaErrors``: what must be done.
public enum KafkaErrorLabel: UInt8, LabelValue {
    case retriable
    case abortable
    case fenced
    case fatal
    case refused

    /// The value as it stands in the output.
    public var text: String { "\(self)" }
}
