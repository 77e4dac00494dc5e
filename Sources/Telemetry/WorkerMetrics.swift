/// What one worker counts; its thread is the only writer.
package final class WorkerMetrics: MetricSource {
    private let paddingBefore = CacheLinePadding()
    /// Commands by kind.
    package let commands = CounterRow<CommandLabel>()
    /// Dead letters by reason.
    package let deadLetters = CounterRow<DeadLetterLabel>()
    /// Records without a value.
    package let tombstonesSkipped = CounterCell()
    /// Gift events counted before.
    package let duplicates = CounterCell()
    /// Records earlier than their clock.
    package let lateRecords = CounterCell()
    /// Records dated in the future.
    package let clampedRecords = CounterCell()
    /// Records that came again.
    package let offsetsDropped = CounterCell()
    /// Transactions by result.
    package let transactions = CounterRow<TransactionLabel>()
    /// Rebalance callbacks by kind.
    package let rebalances = CounterRow<RebalanceLabel>()
    /// Errors that the worker acted upon, by what it had to do.
    package let kafkaErrors = CounterRow<KafkaErrorLabel>()
    /// Time in callbacks that assign.
    package let assignDuration = HistogramCell(MetricCatalogue.rebalanceDuration)
    /// Time in callbacks that revoke.
    package let revokeDuration = HistogramCell(MetricCatalogue.rebalanceDuration)
    /// Time in callbacks that tell of a loss.
    package let loseDuration = HistogramCell(MetricCatalogue.rebalanceDuration)
    /// Producers that were fenced.
    package let fenced = CounterCell()
    /// From record time to acknowledgement.
    package let endToEndLatency = HistogramCell(MetricCatalogue.endToEndLatency)
    /// Time of a commit.
    package let commitDuration = HistogramCell(MetricCatalogue.commitDuration)
    /// Time of a batch.
    package let batchDuration = HistogramCell(MetricCatalogue.batchDuration)
    private let paddingAfter = CacheLinePadding()

    /// Creates counts of zero; ``MetricRegistry/register(_:)`` publishes them.
    package init() {}

    /// The metrics of these cells.
    package func metricChildren() -> [MetricChild] {
        typealias Catalogue = MetricCatalogue
        var children = [
            MetricChild(Catalogue.tombstonesSkipped) { .count(self.tombstonesSkipped.value) },
            MetricChild(Catalogue.duplicates) { .count(self.duplicates.value) },
            MetricChild(Catalogue.lateRecords) { .count(self.lateRecords.value) },
            MetricChild(Catalogue.clampedRecords) { .count(self.clampedRecords.value) },
            MetricChild(Catalogue.offsetsDropped) { .count(self.offsetsDropped.value) },
            MetricChild(Catalogue.fenced) { .count(self.fenced.value) },
            MetricChild(Catalogue.endToEndLatency) { .histogram(self.endToEndLatency.reading) },
            MetricChild(Catalogue.commitDuration) { .histogram(self.commitDuration.reading) },
            MetricChild(Catalogue.batchDuration) { .histogram(self.batchDuration.reading) },
        ]
        children += KafkaErrorLabel.allCases.map { label in
            MetricChild(Catalogue.kafkaErrors, [label.text]) {
                .count(self.kafkaErrors.value(label))
            }
        }
        children += RebalanceLabel.allCases.map { label in
            MetricChild(Catalogue.rebalanceDuration, [label.text]) {
                .histogram(self.durationReading(label))
            }
        }
        children += CommandLabel.allCases.map { label in
            MetricChild(Catalogue.commands, [label.text]) { .count(self.commands.value(label)) }
        }
        children += DeadLetterLabel.allCases.map { label in
            MetricChild(Catalogue.deadLetters, [label.text]) {
                .count(self.deadLetters.value(label))
            }
        }
        children += TransactionLabel.allCases.map { label in
            MetricChild(Catalogue.transactions, [label.text]) {
                .count(self.transactions.value(label))
            }
        }
        children += RebalanceLabel.allCases.map { label in
            MetricChild(Catalogue.rebalances, [label.text]) {
                .count(self.rebalances.value(label))
            }
        }
        return children
    }

    private func durationReading(_ kind: RebalanceLabel) -> HistogramReading {
        switch kind {
        case .assigned: assignDuration.reading
        case .revoked: revokeDuration.reading
        case .lost: loseDuration.reading
        }
    }
}

/// What one partition counts while a worker owns it; that worker's thread is the only writer.
///
/// Registered when the partition is assigned, retired when it is revoked or lost. A later owner in
/// the same process registers a new one, and its counts go on from the retired ones.
package final class PartitionMetrics: MetricSource {
    private let topic: String
    private let partition: Int32
    private let paddingBefore = CacheLinePadding()
    /// Records read.
    package let recordsIn = CounterCell()
    /// Records that retention took.
    package let recordsLost = CounterCell()
    /// Changelog records read.
    package let restoredRecords = CounterCell()
    /// Combos displayed or retained.
    package let liveCombos = GaugeCell()
    /// Keys remembered after their end.
    package let rememberedKeys = GaugeCell()
    /// Offsets between position and end.
    package let lagRecords = GaugeCell()
    /// The next offset to read.
    package let position = GaugeCell()
    /// Memory of the state.
    package let stateBytes = GaugeCell()
    /// Changelog offsets that a restore has still to read.
    package let restoreRemaining = GaugeCell()
    /// How far the clock is behind the wall clock, milliseconds.
    package let clockBehindMilliseconds = GaugeCell()
    /// The clock, milliseconds since the epoch.
    package let clockMilliseconds = GaugeCell()
    private let paddingAfter = CacheLinePadding()

    /// Creates counts of zero and gauges without values for a partition of `topic`.
    package init(topic: String, partition: Int32) {
        self.topic = topic
        self.partition = partition
    }

    /// The metrics of these cells.
    package func metricChildren() -> [MetricChild] {
        let labels = [topic, String(partition)]
        let counter = { (family: MetricFamily, read: @escaping @Sendable () -> UInt64) in
            MetricChild(family, labels) { .count(read()) }
        }
        let gauge = { (family: MetricFamily, read: @escaping @Sendable () -> Int64?) in
            MetricChild(family, labels) { read().map { .value($0) } ?? .absent }
        }
        return [
            counter(MetricCatalogue.recordsIn) { self.recordsIn.value },
            counter(MetricCatalogue.recordsLost) { self.recordsLost.value },
            counter(MetricCatalogue.restoredRecords) { self.restoredRecords.value },
            gauge(MetricCatalogue.liveCombos) { self.liveCombos.value },
            gauge(MetricCatalogue.rememberedKeys) { self.rememberedKeys.value },
            gauge(MetricCatalogue.lag) { self.lagRecords.value },
            gauge(MetricCatalogue.position) { self.position.value },
            gauge(MetricCatalogue.stateBytes) { self.stateBytes.value },
            gauge(MetricCatalogue.restoreRemaining) { self.restoreRemaining.value },
            gauge(MetricCatalogue.clockBehind) { self.clockBehindMilliseconds.value },
            gauge(MetricCatalogue.clock) { self.clockMilliseconds.value },
        ]
    }
}
