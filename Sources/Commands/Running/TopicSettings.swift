/// The settings that `giftcombo topics` gives; what is not here is the cluster's.
enum TopicSettings {
    private static let day = 86_400_000

    /// By Kafka's names, for the topic that a configuration key names.
    static func wanted(of key: String) -> [String: String] {
        switch key {
        case "dlq.topic":
            // Two weeks to look at them, and room for the largest input record with its headers.
            [
                "cleanup.policy": "delete", "retention.ms": "\(14 * day)",
                "max.message.bytes": "2097152",
            ]
        case "changelog.topic":
            [
                "cleanup.policy": "compact", "segment.bytes": "33554432",
                "min.cleanable.dirty.ratio": "0.1", "delete.retention.ms": "\(day)",
                "max.message.bytes": "2097152",
            ]
        default:
            // How long is the platform's affair: retention goes by event time, and a short one
            // would delete the commands of an old recording as they are written.
            ["cleanup.policy": "delete"]
        }
    }
}
