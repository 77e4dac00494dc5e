public import Synchronization

// Cells are what the record path writes. A cell has one writer, its worker's thread, and any number
// of readers. So an addition needs no lock-prefixed read-modify-write: a relaxed load, an addition
// and a relaxed store, which x86-64 does in one `add` to memory. A reader may see a value that is a
// few instructions old, never a torn one.
//
// Cells lie inline in the object of their writer (``WorkerMetrics``, ``PartitionMetrics``), between
// two pieces of ``CacheLinePadding``: no line that one thread writes is written by another.
//
// What stands here and in HistogramCell.swift is public, though no product exports it: the compiler
// (6.3) takes the bodies of public @inlinable functions into other modules, those of package ones
// it calls. Measured in a release build, in instructions without the caller's own: `increment` and
// `set` 1, `add` 3, a row's `add` 4; as calls, 10 and more each.

/// A count that its one writer raises and any thread may read.
public struct CounterCell: ~Copyable, Sendable {
    @usableFromInline let count = Atomic<UInt64>(0)

    /// Creates a count of zero.
    package init() {}

    /// Raises the count by one; called by the writer only.
    @inlinable
    public func increment() {
        count.store(count.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    }

    /// Raises the count by `amount`, which is not negative; called by the writer only.
    @inlinable
    public func add(_ amount: Int) {
        precondition(amount >= 0, "a counter never goes back")
        count.store(
            count.load(ordering: .relaxed) &+ UInt64(truncatingIfNeeded: amount),
            ordering: .relaxed
        )
    }

    /// The count as this thread sees it now.
    package var value: UInt64 { count.load(ordering: .relaxed) }
}

/// A value that its one writer sets and any thread may read; without a value at first.
public struct GaugeCell: ~Copyable, Sendable {
    @usableFromInline let stored = Atomic<Int64>(GaugeCell.absent)

    /// Stands for "no value"; no position, count or time of ours is ever Int64.min.
    private static let absent = Int64.min

    /// Creates a gauge without a value: it is not in the output until it is set.
    package init() {}

    /// Sets the value, in the unit of the family's scale.
    @inlinable
    public func set(_ value: Int64) {
        stored.store(value, ordering: .relaxed)
    }

    /// Takes the value away, where it is no longer known.
    package func clear() {
        stored.store(GaugeCell.absent, ordering: .relaxed)
    }

    /// The value as this thread sees it now; nil: none.
    package var value: Int64? {
        let value = stored.load(ordering: .relaxed)
        return value == GaugeCell.absent ? nil : value
    }
}

/// The values of one label, in the order in which a ``CounterRow`` holds their counts.
public protocol LabelValue: CaseIterable, RawRepresentable, Sendable where RawValue == UInt8 {
    /// The value as it stands in the output.
    var text: String { get }
}

/// One count for each value of a label.
public struct CounterRow<Label: LabelValue>: ~Copyable, Sendable {
    @usableFromInline let cells: InlineArray<8, CounterCell>

    /// Creates a row of zeros; a label has at most eight values.
    package init() {
        precondition(Label.allCases.count <= 8, "a row has room for eight values")
        cells = InlineArray { _ in CounterCell() }
    }

    /// Raises the count of `label` by `amount`; called by the writer only.
    @inlinable
    public func add(_ amount: Int, _ label: Label) {
        cells[Int(label.rawValue)].add(amount)
    }

    /// Raises the count of the label whose raw value is `index`, below eight.
    ///
    /// For callers whose own enumeration has the same cases in the same order.
    @inlinable
    public func add(_ amount: Int, at index: UInt8) {
        cells[Int(index)].add(amount)
    }

    /// The count of `label` as this thread sees it now.
    package func value(_ label: Label) -> UInt64 {
        cells[Int(label.rawValue)].value
    }
}

/// Keeps the cells between two of these on cache lines of their own.
///
/// 128 bytes, because x86-64 fetches lines of 64 bytes in pairs. It also keeps them away from the
/// object's reference count, which a scrape changes.
struct CacheLinePadding {
    private let bytes = InlineArray<16, UInt64>(repeating: 0)
}
