internal import ComboCore
internal import ComboWire
internal import Telemetry

/// A partition that the group has given to this worker.
///
///     assigned ──▶ restoring ──▶ live
///        ▲  │          │           │
///        │  └──────────┴───────────┼──▶ refused
///        └────── abort, new sink ──┘
///
/// - `assigned`: nothing is known of it. Leaves when its committed offset and the changelog's high
///   watermark are known; to `live` at once where the changelog is empty.
/// - `restoring`: its changelog is read, in slices. Leaves when it was read up to that watermark.
/// - `live`: its records are processed. Leaves when a transaction is aborted, for its state then
/// holds
///   what was rolled back.
/// - `refused`: it can't be processed until a person does something; the reason is in `/readyz`.
///
/// Revoked or lost, it leaves the worker from any of them.
struct OwnedPartition {
    enum Phase {
        case assigned
        case restoring(RestoringPartition)
        case live(PartitionProcessor)
        case refused(String)
    }

    let number: Int32
    var phase = Phase.assigned
    let metrics: PartitionMetrics
    /// What its processor said last.
    var reading: PartitionProcessor.Reading?
    /// What of the processor's counts the metrics have.
    var counted = EngineCounts()
    var countedDropped: Int64 = 0
    /// Whether the open transaction must hold its offset.
    var isDirty = false
    /// Whether every record of its log has been processed, as far as the broker has said.
    var isAtEnd = false
    /// The log's end when it went live, for a run that stops there.
    var endAtStart: Int64?
    /// Since when it has waited to be live: it was assigned then, or an abort took its state.
    var waitsSince: MonotonicTime

    init(number: Int32, metrics: PartitionMetrics, waitsSince: MonotonicTime) {
        self.number = number
        self.metrics = metrics
        self.waitsSince = waitsSince
    }

    var processor: PartitionProcessor? {
        if case .live(let processor) = phase { return processor }
        return nil
    }

    /// The next offset to process; nil: not known yet.
    var nextOffset: Int64? { reading?.nextOffset }

    /// Whether a run that stops at the end has nothing left to do here.
    var hasReachedEnd: Bool {
        guard let endAtStart, let nextOffset else { return false }
        return isAtEnd || nextOffset >= endAtStart
    }
}

/// What is known of a partition while its changelog is read.
final class RestoringPartition {
    let number: Int32
    /// The committed offset; nil: nothing was committed.
    let committed: Int64?
    /// The clock that was committed with it.
    let clock: EventTime?
    /// The changelog's high watermark, asked after the committed offset.
    let target: Int64
    var image = ChangelogImage()
    var recordsRead: Int64 = 0
    /// How far the changelog was read.
    var position: Int64 = 0

    init(number: Int32, committed: Int64?, clock: EventTime?, target: Int64) {
        self.number = number
        self.committed = committed
        self.clock = clock
        self.target = target
    }
}
