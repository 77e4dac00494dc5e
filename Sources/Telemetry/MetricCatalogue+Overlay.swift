/// What the overlay gateway publishes.
extension MetricCatalogue {
    /// Counts commands read.
    package static let overlayCommandsIn = MetricFamily(
        "giftcombo_overlay_commands_in_total",
        .counter,
        help: "Overlay commands that the gateway read and took."
    )
    /// Counts records that are not passed on.
    package static let overlaySkipped = MetricFamily(
        "giftcombo_overlay_records_skipped_total",
        .counter,
        labels: ["reason"],
        help: "Records of the overlay topic that the gateway did not pass on."
    )
    /// Counts what goes to clients.
    package static let overlaySent = MetricFamily(
        "giftcombo_overlay_commands_sent_total",
        .counter,
        help: "Commands sent to overlays, once for each that is connected."
    )
    /// Tells how many overlays look on.
    package static let overlayClients = MetricFamily(
        "giftcombo_overlay_clients",
        .gauge,
        help: "Overlays connected."
    )
    /// Counts those that were sent away.
    package static let overlayDropped = MetricFamily(
        "giftcombo_overlay_clients_dropped_total",
        .counter,
        labels: ["reason"],
        help: "Overlays that were disconnected because they were too slow, or one too many."
    )
    /// Tells how many rooms are watched.
    package static let overlayRooms = MetricFamily(
        "giftcombo_overlay_rooms",
        .gauge,
        help: "Rooms whose latest commands are kept because an overlay watches them, or just did."
    )
    /// Tells how large the snapshots are.
    package static let overlayCombos = MetricFamily(
        "giftcombo_overlay_live_combos",
        .gauge,
        help: "Live combos of all rooms in the gateway's snapshot."
    )
    /// Tells how old commands are when they are sent.
    package static let overlayLatency = MetricFamily(
        "giftcombo_overlay_latency_seconds",
        .histogram,
        unit: "seconds",
        bucketMicroseconds: [
            5_000, 10_000, 25_000, 50_000, 75_000, 100_000, 150_000, 200_000, 300_000, 500_000,
            1_000_000, 2_500_000, 5_000_000, 10_000_000,
        ],
        help: "From the time of a show or update to its being sent to the room's overlays."
    )

    static let overlay = [
        overlayCommandsIn, overlaySkipped, overlaySent, overlayClients, overlayDropped,
        overlayRooms, overlayCombos, overlayLatency,
    ]
}

/// The `reason` of ``MetricCatalogue/overlaySkipped``.
public enum SkippedLabel: UInt8, LabelValue {
    case emptyValue
    case tooLarge
    case notCommand
    case duplicate

    /// The value as it stands in the output.
    public var text: String {
        switch self {
        case .emptyValue: "empty-value"
        case .tooLarge: "too-large"
        case .notCommand: "not-a-command"
        case .duplicate: "duplicate"
        }
    }
}

/// The `reason` of ``MetricCatalogue/overlayDropped``.
public enum DroppedLabel: UInt8, LabelValue {
    case slow
    case full

    /// The value as it stands in the output.
    public var text: String { "\(self)" }
}
