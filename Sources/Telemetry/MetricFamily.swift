/// A metric with all its label values: what Prometheus calls a family.
package struct MetricFamily: Sendable {
    /// What kind of metric it is, as Prometheus names kinds.
    package enum Kind: String, Sendable {
        /// A count that only rises; its name ends in `_total`.
        case counter
        /// A value that goes up and down.
        case gauge
        /// Observations in buckets.
        case histogram
        /// A constant 1 whose labels say something; its name ends in `_info`.
        case info
    }

    /// What the cells hold, against the base unit of the output.
    package enum Scale: Int64, Sendable {
        case units = 1
        case milliseconds = 1_000
        case microseconds = 1_000_000
    }

    /// The name as it stands in the classic text, with `_total` or `_info`.
    package let name: String
    /// What kind of metric it is.
    package let kind: Kind
    /// The base unit that the name holds (`seconds`, `bytes`); nil: a plain number.
    package let unit: String?
    /// What it says, in one sentence.
    package let help: String
    /// Names of its labels, in order of output.
    package let labels: [String]
    /// What its cells hold, against the unit.
    package let scale: Scale
    /// A histogram's upper bounds, microseconds, rising; empty for all others.
    package let bucketMicroseconds: [Int64]

    /// Describes a family; see the properties.
    package init(
        _ name: String,
        _ kind: Kind,
        unit: String? = nil,
        labels: [String] = [],
        scale: Scale = .units,
        bucketMicroseconds: [Int64] = [],
        help: String
    ) {
        precondition(name.hasSuffix("_total") == (kind == .counter), "counters end in _total")
        precondition(name.hasSuffix("_info") == (kind == .info), "infos end in _info")
        precondition(bucketMicroseconds.isEmpty == (kind != .histogram), "buckets are histograms'")
        self.name = name
        self.kind = kind
        self.unit = unit
        self.help = help
        self.labels = labels
        self.scale = scale
        self.bucketMicroseconds = bucketMicroseconds
    }

    /// The name without its kind's suffix, as OpenMetrics names the family.
    package var stem: String {
        switch kind {
        case .counter: String(name.dropLast("_total".count))
        case .info: String(name.dropLast("_info".count))
        case .gauge, .histogram: name
        }
    }
}

/// A metric's value at one moment.
package enum MetricReading: Equatable, Sendable {
    /// No value is known: nothing is printed.
    case absent
    /// A count, in the family's scale.
    case count(UInt64)
    /// A gauge's value, in the family's scale.
    case value(Int64)
    /// A histogram's buckets.
    case histogram(HistogramReading)

    /// This reading and another of the same counter or histogram, as one.
    func added(_ other: MetricReading) -> MetricReading {
        switch (self, other) {
        case (.absent, _): return other
        case (_, .absent): return self
        case (.count(let left), .count(let right)): return .count(left &+ right)
        case (.histogram(var left), .histogram(let right)):
            left.add(right)
            return .histogram(left)
        case (.count, _), (.value, _), (.histogram, _):
            preconditionFailure("only counts and histograms of one family are added")
        }
    }
}

/// One metric of a source: its labels, rendered once, and how to read it.
package struct MetricChild: Sendable {
    let family: MetricFamily
    let labelValues: [String]
    /// `topic="gift.events",partition="3"`; empty without labels.
    let labelText: String
    let read: @Sendable () -> MetricReading

    /// Creates a child with one value for each of the family's labels.
    package init(
        _ family: MetricFamily,
        _ labelValues: [String] = [],
        read: @escaping @Sendable () -> MetricReading
    ) {
        precondition(labelValues.count == family.labels.count, "a value for each label")
        self.family = family
        self.labelValues = labelValues
        self.read = read
        labelText = zip(family.labels, labelValues)
            .map { "\($0)=\"\(escapedForExposition($1, quotes: true))\"" }
            .joined(separator: ",")
    }
}

/// Owns cells and says what they mean; a worker, a partition, the process.
package protocol MetricSource: AnyObject, Sendable {
    /// The metrics of this source; asked once, when it is registered.
    func metricChildren() -> [MetricChild]
    /// Brings values up to date that are taken only when somebody looks; before every scrape.
    func refresh()
}

extension MetricSource {
    /// Does nothing: most sources are always up to date.
    package func refresh() {}
}
