internal import ComboCore
internal import ComboWire
internal import StreamPorts

/// One partition: its combos, its clock, its place in the input. Lives on its worker's thread.
///
/// It is made when the partition is restored, and dropped when the partition goes or when a
/// transaction is aborted; it never outlives what it has seen being rolled back. All methods are
/// synchronous, so nothing happens between reading and writing its state.
actor PartitionProcessor {
    /// What the loop wants to know after each call.
    struct Reading: Sendable {
        var nextOffset: Int64
        var clock: EventTime
        var counts: EngineCounts
        /// Records below the position, which were delivered again.
        var dropped: Int64
        var liveCount: Int
        var rememberedCount: Int
        var byteCount: Int
        /// No timer is due before this time.
        var nextTimer: EventTime
    }

    nonisolated let executor: WorkerExecutor
    private var core: Core

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe executor.asUnownedSerialExecutor()
    }

    /// Creates an empty partition that goes on at `nextOffset`.
    init(
        partition: Int32,
        nextOffset: Int64,
        configuration: WorkerConfiguration,
        executor: WorkerExecutor
    ) {
        self.executor = executor
        core = Core(
            engine: PartitionEngine(
                partition: partition,
                configuration: configuration.combo,
                input: configuration.input,
                tracksChanges: true
            ),
            nextOffset: nextOffset
        )
    }

    /// Puts the state of a changelog back, and the clock that was committed with the position.
    ///
    /// Where no clock was committed, it is the newest time in the state. Answers how far the state
    /// reaches.
    func restore(
        _ confined: Confined<RestoringPartition>
    ) -> Result<ChangelogImage.Extent, ChangelogError> {
        let restoring = confined.value
        do throws(ChangelogError) {
            let extent = try restoring.image.restore(into: &core.engine)
            core.engine.restoreClock(restoring.clock ?? extent.newestTime)
            return .success(extent)
        } catch {
            return .failure(error)
        }
    }

    /// Processes a run of this partition's records.
    func process(
        _ context: Confined<TurnContext>,
        _ run: Range<Int>,
        arrivedAt: WallTime
    ) -> Reading {
        let context = context.value
        core.process(
            context.records,
            run,
            arrivedAt,
            into: &context.commands,
            &context.refusals
        )
        return reading
    }

    /// Lets the wall clock move the partition's.
    func advance(_ context: Confined<TurnContext>, to time: EventTime) -> Reading {
        core.engine.advance(to: time, into: &context.value.commands)
        return reading
    }

    /// Moves the position past records that hold nothing for a reader (transaction markers).
    func skip(to offset: Int64) -> Reading {
        core.nextOffset = max(core.nextOffset, offset)
        return reading
    }

    /// Appends the keys that changed since the last commit.
    func takeChanges(_ context: Confined<TurnContext>) {
        context.value.changelog.appendChanges(of: &core.engine)
    }

    /// The partition as it stands.
    var reading: Reading {
        Reading(
            nextOffset: core.nextOffset,
            clock: core.engine.clock,
            counts: core.engine.counts,
            dropped: core.dropped,
            liveCount: core.engine.liveCount,
            rememberedCount: core.engine.rememberedCount,
            byteCount: core.engine.byteCount,
            nextTimer: core.engine.nextTimer
        )
    }

    /// The state as one value, so that a batch takes one exclusive access, not one a record.
    private struct Core: ~Copyable {
        var engine: PartitionEngine
        var nextOffset: Int64
        var dropped: Int64 = 0

        init(engine: consuming PartitionEngine, nextOffset: Int64) {
            self.engine = engine
            self.nextOffset = nextOffset
        }

        mutating func process(
            _ records: RecordBatch,
            _ run: Range<Int>,
            _ arrivedAt: WallTime,
            into commands: inout CommandBatch,
            _ refusals: inout [RefusedRecord]
        ) {
            for index in run {
                let record = records[index]
                guard record.offset >= nextOffset else {
                    dropped += 1
                    continue
                }
                nextOffset = record.offset + 1
                let input = unsafe InputRecord(
                    offset: record.offset,
                    timestamp: record.timestampMilliseconds,
                    key: record.key,
                    value: record.value
                )
                if let refusal = engine.process(input, arrivedAt: arrivedAt, into: &commands) {
                    refusals.append(RefusedRecord(index: index, refusal: refusal))
                }
            }
        }
    }
}
