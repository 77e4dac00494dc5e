internal import ComboWire
internal import ComboCore
internal import StreamPorts
internal import WorkerRuntime

/// What a partition's state must be at its committed offset: that of one engine which nothing ever
/// disturbs.
///
/// Follows the committed offsets and clocks one by one, as the owners committed them, so that
/// what a new owner restores can be compared with what the last one had.
final class StateWitness {
    let partition: Int
    private var engine: PartitionEngine
    private var output = CommandBatch()
    private var changes = ChangelogBatch()
    private var states: [[UInt8]: [UInt8]] = [:]
    private var nextOffset: Int64 = 0
    /// How many of the partition's committed offsets were followed.
    private var followed = 0

    init(partition: Int, _ configuration: WorkerConfiguration) {
        self.partition = partition
        engine = PartitionEngine(
            partition: Int32(partition),
            configuration: configuration.combo,
            input: configuration.input,
            tracksChanges: true
        )
    }

    /// Whether nothing is under way in the partition, so that a comparison says something.
    func canCompare(_ state: borrowing ClusterState, _ topics: SimulatedTopics) -> Bool {
        let log = state.topics[topics.changelog].logs[partition]
        return log.lastStable == log.end
            && !state.groups[topics.group].pending.contains {
                $0.offset.partition == Int32(partition)
            }
    }

    /// What is wrong with the committed changelog; nil: it holds the state, key by key.
    func compare(_ state: borrowing ClusterState, _ topics: SimulatedTopics) -> String? {
        follow(
            state.topics[topics.input].logs[partition],
            state.groups[topics.group].history[partition]
        )
        let kept = state.topics[topics.changelog].logs[partition].latestByKey
        guard kept != states else { return nil }
        let key = Set(states.keys).union(kept.keys)
            .filter { states[$0] != kept[$0] }
            .min { $0.lexicographicallyPrecedes($1) }
        guard let key else { return nil }
        return "changelog of partition \(partition), key \(key): holds \(kept[key] ?? []), "
            + "must hold \(states[key] ?? [])"
    }

    private func follow(_ log: PartitionLog, _ history: [CommittedOffset]) {
        while followed < history.count {
            let committed = history[followed]
            followed += 1
            var index = log.index(from: nextOffset)
            while index < log.records.count, log.records[index].offset < committed.offset {
                if log.isDelivered(log.records[index], readCommitted: true) {
                    process(log.records[index])
                }
                index += 1
            }
            nextOffset = max(nextOffset, committed.offset)
            if let clock = ClockMetadata.clock(committed.metadata) {
                engine.advance(to: clock, into: &output)
            }
            output.removeAll()
        }
        takeChanges()
    }

    private func takeChanges() {
        changes.removeAll()
        changes.appendChanges(of: &engine)
        for index in 0..<changes.count {
            let entry = changes[index]
            let value = unsafe changes.value(of: entry)
            states[unsafe [UInt8](changes.key(of: entry))] =
                unsafe value.baseAddress == nil ? nil : [UInt8](value)
        }
    }

    private func process(_ record: LogRecord) {
        let nothing = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
        unsafe (record.key ?? []).withUnsafeBytes { key in
            unsafe (record.value ?? []).withUnsafeBytes { value in
                // An empty array may have no address, but an empty value is no tombstone.
                let empty = unsafe UnsafeRawBufferPointer(start: key.baseAddress, count: 0)
                let held = unsafe value.baseAddress == nil ? empty : value
                let input = unsafe InputRecord(
                    offset: record.offset,
                    timestamp: record.timestamp,
                    key: record.key == nil ? nothing : key,
                    value: record.value == nil ? nothing : held
                )
                _ = engine.process(input, arrivedAt: nil, into: &output)
            }
        }
    }
}
