package import ComboCore

/// What is read of a record besides its JSON: the `input.…` settings.
package struct InputRules: Equatable, Sendable {
    /// Longest value that is read (`input.max.bytes`).
    package var maximumBytes = 1_000_000
    /// Whether a record's key must be its `user_id` (`input.key.check`).
    package var checksKey = true

    /// Creates the default rules.
    package init() {}
}

/// One record of a partition, its bytes borrowed.
@safe
package struct InputRecord: BitwiseCopyable {
    /// Offset in its partition.
    package var offset: Int64
    /// Kafka's timestamp, epoch milliseconds.
    package var timestamp: Int64
    /// A nil base address is a null key.
    package var key: UnsafeRawBufferPointer
    /// A nil base address is a tombstone.
    package var value: UnsafeRawBufferPointer

    /// Borrows a record.
    package init(
        offset: Int64,
        timestamp: Int64,
        key: UnsafeRawBufferPointer,
        value: UnsafeRawBufferPointer
    ) {
        self.offset = offset
        self.timestamp = timestamp
        unsafe self.key = key
        unsafe self.value = value
    }
}

/// What a partition has counted since it began.
package struct EngineCounts: Equatable, Sendable {
    /// Records, unreadable ones and tombstones among them.
    package var records: Int64 = 0
    /// Commands by kind, in the order of ``CommandKind``.
    package var commands = CommandCounts()
    /// Gift events whose event id had been counted.
    package var duplicates: Int64 = 0
    /// Running totals that added nothing.
    package var nothingAdded: Int64 = 0
    /// End markers alone.
    package var markers: Int64 = 0
    /// Records earlier than the partition's clock.
    package var late: Int64 = 0
    /// Records that claimed to come from too far in the future.
    package var clamped: Int64 = 0
    /// Records without a value.
    package var tombstones: Int64 = 0
    /// Records that could not be used.
    package var deadLetters: Int64 = 0

    /// Creates counts of zero.
    package init() {}

    /// Adds another partition's counts.
    package mutating func add(_ other: EngineCounts) {
        records += other.records
        commands.show += other.commands.show
        commands.update += other.commands.update
        commands.hide += other.commands.hide
        commands.end += other.commands.end
        duplicates += other.duplicates
        nothingAdded += other.nothingAdded
        markers += other.markers
        late += other.late
        clamped += other.clamped
        tombstones += other.tombstones
        deadLetters += other.deadLetters
    }
}

/// Four numbers, one for each kind of command.
package struct CommandCounts: Equatable, Sendable {
    /// Combos that appeared or resumed.
    package var show: Int64 = 0
    /// Changes of a displayed number.
    package var update: Int64 = 0
    /// Combos that were hidden.
    package var hide: Int64 = 0
    /// Combos that ended.
    package var end: Int64 = 0

    /// The sum.
    package var total: Int64 { show + update + hide + end }
}

/// One partition from records to commands: bytes in, bytes out.
///
/// It joins decoder, state and encoder, and is the whole of the product's arithmetic: `replay`, the
/// worker, the simulator and the benchmark all run it. It has no clock of its own.
package struct PartitionEngine: ~Copyable {
    /// The partition's number, which is part of every combo's id.
    package let partition: Int32
    /// What was counted so far.
    package private(set) var counts = EngineCounts()

    private var state: PartitionState
    private var decoder: GiftEventDecoder
    private var event = GiftEvent()
    private var command = OverlayCommand()

    /// Creates an empty partition.
    ///
    /// - Parameters:
    ///   - partition: Its number.
    ///   - configuration: How combos are counted.
    ///   - input: How records are read.
    ///   - tracksChanges: Whether ``nextChange(into:)`` will be asked for changed keys.
    package init(
        partition: Int32,
        configuration: ComboConfiguration,
        input: InputRules = InputRules(),
        tracksChanges: Bool = false
    ) {
        self.partition = partition
        state = PartitionState(configuration: configuration, tracksChanges: tracksChanges)
        decoder = GiftEventDecoder(maximumBytes: input.maximumBytes, checksKey: input.checksKey)
    }

    /// How combos are counted.
    package var configuration: ComboConfiguration { state.configuration }
    /// The partition's clock.
    package var clock: EventTime { state.clock }
    /// Combos that are displayed or retained.
    package var liveCount: Int { state.liveCount }
    /// Ended keys that are remembered.
    package var rememberedCount: Int { state.rememberedCount }
    /// No timer is due before this time.
    package var nextTimer: EventTime { state.nextTimer }
    /// Bytes that the state holds.
    package var byteCount: Int { state.byteCount }

    /// Reads a record, and appends the commands that follow from it and from the time it says.
    ///
    /// - Parameters:
    ///   - record: The record; offsets rise.
    ///   - arrivedAt: When it was received; nil: unknown.
    ///   - output: Gets the commands.
    /// - Returns: Why the record can't be used; nil: it could.
    package mutating func process(
        _ record: InputRecord,
        arrivedAt: WallTime?,
        into output: inout CommandBatch
    ) -> Refusal? {
        counts.records += 1
        if unsafe record.value.baseAddress == nil {
            counts.tombstones += 1
            return nil
        }
        do throws(Refusal) {
            try unsafe decoder.decode(value: record.value, key: record.key, into: &event)
        } catch {
            counts.deadLetters += 1
            return error
        }
        let (time, isClamped) = state.time(
            sentAt: event.sentAt,
            timestamp: record.timestamp,
            arrivedAt: arrivedAt
        )
        if isClamped { counts.clamped += 1 }
        if time.milliseconds < state.clock.milliseconds { counts.late += 1 }
        // At the clock, where most records are, no timer is due.
        if time.milliseconds > state.clock.milliseconds { advance(to: time, into: &output) }
        switch unsafe state.apply(&event, offset: record.offset, into: &command) {
        case .command: append(to: &output)
        case .held: break
        case .duplicate: counts.duplicates += 1
        case .nothingAdded: counts.nothingAdded += 1
        case .marker: counts.markers += 1
        }
        return nil
    }

    /// Advances the clock to `time`, and appends the commands of the timers that fire.
    package mutating func advance(to time: EventTime, into output: inout CommandBatch) {
        while state.advance(to: time, into: &command) { append(to: &output) }
    }

    /// Runs the clock to the end of time: every combo hides and ends.
    package mutating func finish(into output: inout CommandBatch) {
        while state.finish(into: &command) { append(to: &output) }
    }

    // MARK: - Changelog

    /// Takes the next changed key; see ``PartitionState/nextChange(into:)``.
    package mutating func nextChange(into change: inout KeyChange) -> Bool {
        state.nextChange(into: &change)
    }

    /// Puts a key's state back; see ``PartitionState/restore(_:)``.
    package mutating func restore(_ key: KeyState) {
        state.restore(key)
    }

    /// Sets the clock of a partition that has processed nothing yet.
    package mutating func restoreClock(_ time: EventTime) {
        state.restoreClock(time)
    }

    private mutating func append(to output: inout CommandBatch) {
        switch command.kind {
        case .show: counts.commands.show += 1
        case .update: counts.commands.update += 1
        case .hide: counts.commands.hide += 1
        case .end: counts.commands.end += 1
        }
        output.append(&command, partition: partition)
    }
}
