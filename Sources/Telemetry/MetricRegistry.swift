internal import Synchronization

/// All metrics of the process: knows every source, and sums over them when asked.
///
/// The lock is taken when a source comes or goes and when the list is copied for a scrape, never
/// when a value is recorded. Cells are read outside of it, so a slow scrape holds up no rebalance.
package final class MetricRegistry: Sendable {
    private struct Reader: Sendable {
        let source: ObjectIdentifier
        let read: @Sendable () -> MetricReading
    }

    private struct Series: Sendable {
        let labelValues: [String]
        let labelText: String
        /// What retired sources had counted, so that sums never go back.
        var base = MetricReading.absent
        var readers: [Reader] = []

        func reading(_ kind: MetricFamily.Kind) -> MetricReading {
            switch kind {
            case .counter, .histogram:
                readers.reduce(base) { $0.added($1.read()) }
            case .gauge, .info:
                // Of two owners of a partition (one has lost it and does not know yet) the newer.
                readers.last?.read() ?? .absent
            }
        }
    }

    private struct Family: Sendable {
        let family: MetricFamily
        /// In order of label values.
        var series: [Series] = []
    }

    private struct State: Sendable {
        /// In order of names.
        var families: [Family] = []
        var sources: [any MetricSource] = []
    }

    private let state = Mutex(State())

    /// Creates a registry without sources.
    package init() {}

    /// Adds a source; its metrics are in every scrape from now on.
    package func register(_ source: some MetricSource) {
        let children = source.metricChildren()
        state.withLock { state in
            precondition(!state.sources.contains { $0 === source }, "registered twice")
            state.sources.append(source)
            for child in children {
                Self.add(child, of: source, to: &state.families)
            }
        }
    }

    /// Takes a source away, by its writer after the last write.
    ///
    /// What it counted stays in the sums; its gauges disappear. A source that is not registered
    /// changes nothing.
    package func retire(_ source: some MetricSource) {
        let identity = ObjectIdentifier(source)
        state.withLock { state in
            state.sources.removeAll { $0 === source }
            for family in state.families.indices {
                Self.retire(identity, from: &state.families[family])
            }
        }
    }

    /// The values of all metrics now, in order of names and label values.
    package func samples() -> [FamilySamples] {
        let (families, sources) = state.withLock { ($0.families, $0.sources) }
        for source in sources {
            source.refresh()
        }
        return families.compactMap { entry in
            let samples = entry.series.compactMap { series -> MetricSample? in
                let reading = series.reading(entry.family.kind)
                return reading == .absent ? nil : MetricSample(series.labelText, reading)
            }
            return samples.isEmpty ? nil : FamilySamples(family: entry.family, samples: samples)
        }
    }

    /// The metrics as text for Prometheus.
    package func exposition(_ format: ExpositionFormat) -> [UInt8] {
        renderExposition(samples(), format)
    }

    private static func add(
        _ child: MetricChild,
        of source: some MetricSource,
        to families: inout [Family]
    ) {
        let reader = Reader(source: ObjectIdentifier(source), read: child.read)
        let position = families.firstIndex { $0.family.name >= child.family.name }
        let index = position ?? families.endIndex
        if position == nil || families[index].family.name != child.family.name {
            families.insert(Family(family: child.family), at: index)
        }
        precondition(families[index].family.kind == child.family.kind, "one family, one kind")
        let place = families[index].series.firstIndex {
            $0.labelValues == child.labelValues
                || labelsPrecede(child.labelValues, $0.labelValues)
        }
        let row = place ?? families[index].series.endIndex
        if place == nil || families[index].series[row].labelValues != child.labelValues {
            let series = Series(labelValues: child.labelValues, labelText: child.labelText)
            families[index].series.insert(series, at: row)
        }
        families[index].series[row].readers.append(reader)
    }

    private static func retire(_ source: ObjectIdentifier, from entry: inout Family) {
        let folds = entry.family.kind == .counter || entry.family.kind == .histogram
        for row in entry.series.indices {
            for reader in entry.series[row].readers where reader.source == source && folds {
                entry.series[row].base = entry.series[row].base.added(reader.read())
            }
            entry.series[row].readers.removeAll { $0.source == source }
        }
        if !folds {
            entry.series.removeAll { $0.readers.isEmpty }
        }
    }
}

/// The values of one family at one moment.
package struct FamilySamples: Sendable {
    /// What they are values of.
    package let family: MetricFamily
    /// In order of label values; never empty.
    package let samples: [MetricSample]
}

/// One value with its labels, which are rendered already.
package struct MetricSample: Equatable, Sendable {
    /// `topic="gift.events",partition="3"`; empty without labels.
    package let labelText: String
    /// The value; not absent.
    package let reading: MetricReading

    /// Creates a sample.
    package init(_ labelText: String, _ reading: MetricReading) {
        self.labelText = labelText
        self.reading = reading
    }
}

/// Whether label values come before others: partition 9 before partition 10, else by bytes.
func labelsPrecede(_ left: [String], _ right: [String]) -> Bool {
    for (one, other) in zip(left, right) where one != other {
        if let first = UInt64(one), let second = UInt64(other), first != second {
            return first < second
        }
        return one.utf8.lexicographicallyPrecedes(other.utf8)
    }
    return left.count < right.count
}
