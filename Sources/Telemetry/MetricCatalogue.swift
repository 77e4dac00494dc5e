/// Every metric that a process publishes; documentation and tests read it from here.
///
/// Labels are bounded: topic and partition, and the values of the enumerations in this file. Never
/// a user, a room or anything else that input decides. Partition metrics are there for the
/// partitions that the process owns; everything else is summed over the process's workers.
package enum MetricCatalogue {
    private static let partitionLabels = ["topic", "partition"]

    // MARK: Records in

    /// Counts records read.
    package static let recordsIn = MetricFamily(
        "giftcombo_records_in_total",
        .counter,
        labels: partitionLabels,
        help: "Records read from the input topic, whatever became of them."
    )
    /// Counts records that are gone for good.
    package static let recordsLost = MetricFamily(
        "giftcombo_records_lost_total",
        .counter,
        labels: partitionLabels,
        help: "Records that retention deleted before they were read."
    )
    /// Counts dead letters.
    package static let deadLetters = MetricFamily(
        "giftcombo_dead_letters_total",
        .counter,
        labels: ["reason"],
        help: "Records that could not be used and went to the dead-letter topic."
    )
    /// Counts tombstones.
    package static let tombstonesSkipped = MetricFamily(
        "giftcombo_tombstones_skipped_total",
        .counter,
        help: "Records without a value, which are skipped."
    )
    /// Counts duplicates.
    package static let duplicates = MetricFamily(
        "giftcombo_duplicates_total",
        .counter,
        help: "Gift events whose event id had been counted already."
    )
    /// Counts late records.
    package static let lateRecords = MetricFamily(
        "giftcombo_late_records_total",
        .counter,
        help: "Records earlier than their partition's clock, applied at the clock."
    )
    /// Counts records whose time was not believed.
    package static let clampedRecords = MetricFamily(
        "giftcombo_clamped_records_total",
        .counter,
        help: "Records dated too far in the future, whose time became their arrival."
    )
    /// Counts records that came again.
    package static let offsetsDropped = MetricFamily(
        "giftcombo_offsets_dropped_total",
        .counter,
        help: "Records delivered again below the next expected offset, and dropped."
    )

    // MARK: Commands out

    /// Counts overlay commands.
    package static let commands = MetricFamily(
        "giftcombo_commands_total",
        .counter,
        labels: ["kind"],
        help: "Overlay commands written, those of transactions aborted later among them."
    )
    /// Tells how old commands are when they are out.
    package static let endToEndLatency = MetricFamily(
        "giftcombo_end_to_end_latency_seconds",
        .histogram,
        unit: "seconds",
        bucketMicroseconds: [
            5_000, 10_000, 25_000, 50_000, 75_000, 100_000, 150_000, 200_000, 300_000, 500_000,
            1_000_000, 2_500_000, 5_000_000, 10_000_000, 30_000_000, 60_000_000,
        ],
        help: "From a record's time to the acknowledgement of its command's transaction."
    )

    // MARK: Transactions and membership

    /// Counts transactions.
    package static let transactions = MetricFamily(
        "giftcombo_transactions_total",
        .counter,
        labels: ["result"],
        help: "Transactions ended."
    )
    /// Tells how long commits take.
    package static let commitDuration = MetricFamily(
        "giftcombo_commit_duration_seconds",
        .histogram,
        unit: "seconds",
        bucketMicroseconds: [
            1_000, 2_500, 5_000, 7_500, 10_000, 20_000, 30_000, 50_000, 75_000, 100_000, 200_000,
            500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000,
        ],
        help: "Time to commit a transaction: flush, offsets and the commit itself."
    )
    /// Tells how long the worker's loop is busy with a batch.
    package static let batchDuration = MetricFamily(
        "giftcombo_batch_duration_seconds",
        .histogram,
        unit: "seconds",
        bucketMicroseconds: [
            50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000,
            500_000, 1_000_000, 5_000_000,
        ],
        help: "Time to process one batch of records, timers included."
    )
    /// Counts rebalances.
    package static let rebalances = MetricFamily(
        "giftcombo_rebalances_total",
        .counter,
        labels: ["kind"],
        help: "Rebalance callbacks of the consumer group."
    )
    /// Counts fencings.
    package static let fenced = MetricFamily(
        "giftcombo_fenced_total",
        .counter,
        help: "Times a worker's producer was fenced and had to be replaced."
    )

    /// Tells how long the group's callbacks hold a worker up.
    package static let rebalanceDuration = MetricFamily(
        "giftcombo_rebalance_duration_seconds",
        .histogram,
        unit: "seconds",
        labels: ["kind"],
        bucketMicroseconds: [
            500, 1_000, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
            2_500_000, 5_000_000, 10_000_000, 30_000_000,
        ],
        help: "Time in a rebalance callback: the last commit of what is revoked, above all."
    )

    // MARK: Partitions

    /// Tells how many combos are displayed or retained.
    package static let liveCombos = MetricFamily(
        "giftcombo_live_combos",
        .gauge,
        labels: partitionLabels,
        help: "Combos that have begun and not ended; each has one timer armed."
    )
    /// Tells how many ended keys are remembered.
    package static let rememberedKeys = MetricFamily(
        "giftcombo_remembered_keys",
        .gauge,
        labels: partitionLabels,
        help: "Combo keys remembered after their combo's end, against late duplicates."
    )
    /// Tells how far behind the log's end a partition is.
    package static let lag = MetricFamily(
        "giftcombo_partition_lag_records",
        .gauge,
        labels: partitionLabels,
        help: "Offsets between the position and the end of the input partition."
    )
    /// Tells where in the log a partition is.
    package static let position = MetricFamily(
        "giftcombo_partition_position",
        .gauge,
        labels: partitionLabels,
        help: "The next offset to read from the input partition."
    )
    /// Tells the partition's clock.
    package static let clock = MetricFamily(
        "giftcombo_partition_clock_seconds",
        .gauge,
        unit: "seconds",
        labels: partitionLabels,
        scale: .milliseconds,
        help: "The partition's event-time clock, seconds since the epoch."
    )
    /// Counts changelog records read to rebuild state.
    package static let restoredRecords = MetricFamily(
        "giftcombo_restored_records_total",
        .counter,
        labels: partitionLabels,
        help: "Changelog records read to restore a partition's state."
    )

    /// Tells how long a restore will still take.
    package static let restoreRemaining = MetricFamily(
        "giftcombo_restore_remaining_records",
        .gauge,
        labels: partitionLabels,
        help: "Changelog offsets that a restore has still to read; 0 when it is done."
    )
    /// Tells how far the clock is behind.
    package static let clockBehind = MetricFamily(
        "giftcombo_partition_clock_behind_seconds",
        .gauge,
        unit: "seconds",
        labels: partitionLabels,
        scale: .milliseconds,
        help: "How far the partition's clock is behind the wall clock."
    )
    /// Tells how much memory the state takes.
    package static let stateBytes = MetricFamily(
        "giftcombo_state_bytes",
        .gauge,
        unit: "bytes",
        labels: partitionLabels,
        help: "Memory that a partition's combos and remembered keys hold, free room included."
    )

    // MARK: Process

    /// Tells processor time.
    package static let processCPU = MetricFamily(
        "giftcombo_process_cpu_seconds_total",
        .counter,
        unit: "seconds",
        scale: .microseconds,
        help: "Processor time used by the process, user and system."
    )
    /// Tells memory.
    package static let processResidentMemory = MetricFamily(
        "giftcombo_process_resident_memory_bytes",
        .gauge,
        unit: "bytes",
        help: "Resident memory of the process."
    )
    /// Tells descriptors.
    package static let processOpenDescriptors = MetricFamily(
        "giftcombo_process_open_fds",
        .gauge,
        help: "File descriptors that the process has open."
    )
    /// Tells threads.
    package static let processThreads = MetricFamily(
        "giftcombo_process_threads",
        .gauge,
        help: "Threads of the process."
    )
    /// Tells when the process started.
    package static let processStartTime = MetricFamily(
        "giftcombo_process_start_time_seconds",
        .gauge,
        unit: "seconds",
        scale: .milliseconds,
        help: "When the process started, seconds since the epoch."
    )
    /// Tells what is running.
    package static let build = MetricFamily(
        "giftcombo_build_info",
        .info,
        labels: ["version", "swift", "librdkafka"],
        help: "Version of the program, of the Swift compiler and of the librdkafka in use."
    )

    /// All of them, in the order in which documentation lists them.
    package static let all: [MetricFamily] =
        [
            recordsIn, recordsLost, deadLetters, tombstonesSkipped, duplicates, lateRecords,
            clampedRecords, offsetsDropped,
            commands, endToEndLatency,
            transactions, commitDuration, batchDuration, rebalances, rebalanceDuration, fenced,
            liveCombos, rememberedKeys, stateBytes, lag, position, clock, clockBehind,
            restoredRecords, restoreRemaining,
            processCPU, processResidentMemory, processOpenDescriptors, processThreads,
            processStartTime, build,
        ] + clients + overlay
}

// These labels are public for the reason that Cells.swift gives: a row is indexed by them.

/// The `kind` of ``MetricCatalogue/commands``; same order as the engine's command kinds.
public enum CommandLabel: UInt8, LabelValue {
    case show
    case update
    case hide
    case end

    /// The value as it stands in the output.
    public var text: String { "\(self)" }
}

/// The `reason` of ``MetricCatalogue/deadLetters``, in the order in which reasons are tried.
public enum DeadLetterLabel: UInt8, LabelValue {
    case emptyValue
    case tooLarge
    case notUTF8
    case notJSON
    case wrongType
    case missingUserID
    case outOfRange
    case keyMismatch

    /// The value as it stands in the output.
    public var text: String {
        switch self {
        case .emptyValue: "empty-value"
        case .tooLarge: "too-large"
        case .notUTF8: "not-utf8"
        case .notJSON: "not-json"
        case .wrongType: "wrong-type"
        case .missingUserID: "missing-user-id"
        case .outOfRange: "out-of-range"
        case .keyMismatch: "key-mismatch"
        }
    }
}

/// The `result` of ``MetricCatalogue/transactions``.
public enum TransactionLabel: UInt8, LabelValue {
    case committed
    case aborted

    /// The value as it stands in the output.
    public var text: String { "\(self)" }
}

/// The `kind` of ``MetricCatalogue/rebalances``.
public enum RebalanceLabel: UInt8, LabelValue {
    case assigned
    case revoked
    case lost

    /// The value as it stands in the output.
    public var text: String { "\(self)" }
}
