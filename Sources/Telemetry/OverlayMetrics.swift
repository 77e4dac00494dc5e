/// What a gateway counts; its loop's thread is the only writer.
package final class OverlayMetrics: MetricSource {
    private let paddingBefore = CacheLinePadding()
    /// Commands taken from the topic.
    package let commandsIn = CounterCell()
    /// Records that were not passed on, by reason.
    package let skipped = CounterRow<SkippedLabel>()
    /// Commands sent, once for each client.
    package let sent = CounterCell()
    /// Clients that were sent away, by reason.
    package let dropped = CounterRow<DroppedLabel>()
    /// Clients connected.
    package let clients = GaugeCell()
    /// Rooms that have clients.
    package let rooms = GaugeCell()
    /// Live combos of the snapshots.
    package let combos = GaugeCell()
    /// From a command's time to its clients' sockets.
    package let latency = HistogramCell(MetricCatalogue.overlayLatency)
    private let paddingAfter = CacheLinePadding()

    /// Creates counts of zero; ``MetricRegistry/register(_:)`` publishes them.
    package init() {}

    /// The metrics of these cells.
    package func metricChildren() -> [MetricChild] {
        typealias Catalogue = MetricCatalogue
        let gauge = { (family: MetricFamily, read: @escaping @Sendable () -> Int64?) in
            MetricChild(family) { read().map { .value($0) } ?? .absent }
        }
        var children = [
            MetricChild(Catalogue.overlayCommandsIn) { .count(self.commandsIn.value) },
            MetricChild(Catalogue.overlaySent) { .count(self.sent.value) },
            gauge(Catalogue.overlayClients) { self.clients.value },
            gauge(Catalogue.overlayRooms) { self.rooms.value },
            gauge(Catalogue.overlayCombos) { self.combos.value },
            MetricChild(Catalogue.overlayLatency) { .histogram(self.latency.reading) },
        ]
        children += SkippedLabel.allCases.map { label in
            MetricChild(Catalogue.overlaySkipped, [label.text]) {
                .count(self.skipped.value(label))
            }
        }
        children += DroppedLabel.allCases.map { label in
            MetricChild(Catalogue.overlayDropped, [label.text]) {
                .count(self.dropped.value(label))
            }
        }
        return children
    }
}
