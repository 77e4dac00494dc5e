public import Synchronization

/// How many observations fell into each bucket, written by one thread and read by any.
///
/// Every value is found among the bounds by five comparisons, so that catching up with a day-old
/// topic costs no more than being current. The buckets are counted one by one and summed up when
/// read: an observation writes two words, its bucket and the sum.
public struct HistogramCell: ~Copyable, Sendable {
    /// Upper bounds in microseconds, inclusive, rising; unused ones are Int64.max.
    @usableFromInline let bounds: InlineArray<16, Int64>
    /// Observations in each bucket; the one after the last bound is for those above all bounds.
    @usableFromInline let counts: InlineArray<17, CounterCell>
    /// The sum of all observations in microseconds, as the bits of a Double: exact up to 2^53, and
    /// it can't wrap around when a day-old topic is caught up with.
    @usableFromInline let sumBits = Atomic<UInt64>(0)
    private let boundCount: Int

    /// Creates an empty histogram with the buckets of `family`.
    package init(_ family: MetricFamily) {
        let buckets = family.bucketMicroseconds
        precondition(!buckets.isEmpty && buckets.count <= 16, "1 to 16 bounds")
        bounds = InlineArray { $0 < buckets.count ? buckets[$0] : .max }
        counts = InlineArray { _ in CounterCell() }
        boundCount = buckets.count
    }

    /// Counts `times` observations of the same value; negative ones count as 0.
    @inlinable
    public func observe(microseconds: Int64, times: Int = 1) {
        let value = Swift.max(microseconds, 0)
        // How many of the sixteen bounds lie below the value: by halves among the first fifteen,
        // then the last one.
        var bucket = value > bounds[7] ? 8 : 0
        bucket += value > bounds[bucket + 3] ? 4 : 0
        bucket += value > bounds[bucket + 1] ? 2 : 0
        bucket += value > bounds[bucket] ? 1 : 0
        bucket += value > bounds[bucket] ? 1 : 0
        counts[bucket].add(times)
        let sum = Double(bitPattern: sumBits.load(ordering: .relaxed))
        sumBits.store((sum + Double(value) * Double(times)).bitPattern, ordering: .relaxed)
    }

    /// Counts `times` observations given in milliseconds, as event times are.
    @inlinable
    public func observe(milliseconds: Int64, times: Int = 1) {
        let (value, overflow) = milliseconds.multipliedReportingOverflow(by: 1_000)
        observe(microseconds: overflow ? (milliseconds < 0 ? 0 : .max) : value, times: times)
    }

    /// What was counted, as this thread sees it now.
    package var reading: HistogramReading {
        HistogramReading(
            buckets: (0...boundCount).map { counts[$0].value },
            sumMicroseconds: Double(bitPattern: sumBits.load(ordering: .relaxed))
        )
    }
}

/// A histogram at one moment.
package struct HistogramReading: Equatable, Sendable {
    /// Observations in each bucket, not cumulated; the last is for those above all bounds.
    package var buckets: [UInt64]
    /// Sum of all observations, microseconds.
    package var sumMicroseconds: Double

    /// How many observations there are.
    package var count: UInt64 { buckets.reduce(0, &+) }

    /// Adds another histogram with the same bounds.
    mutating func add(_ other: HistogramReading) {
        precondition(buckets.count == other.buckets.count, "histograms of one family")
        for index in buckets.indices {
            buckets[index] &+= other.buckets[index]
        }
        sumMicroseconds += other.sumMicroseconds
    }
}
