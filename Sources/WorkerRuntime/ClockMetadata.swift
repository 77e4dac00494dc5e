package import ComboCore

/// The metadata string of a committed offset: the partition's clock, so that no later owner works
/// at an earlier time than commands already published.
package enum ClockMetadata {
    private static let prefix = "clock="

    static func text(_ clock: EventTime) -> String { prefix + String(clock.milliseconds) }

    /// The clock; nil for a string that somebody else wrote, or none.
    package static func clock(_ text: String?) -> EventTime? {
        guard let text, text.hasPrefix(prefix) else { return nil }
        return Int64(text.dropFirst(prefix.count)).map { EventTime(milliseconds: $0) }
    }
}
