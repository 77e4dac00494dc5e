internal import ComboCore
internal import ComboWire
internal import StreamPorts
internal import WorkerRuntime

/// Compares what is committed with what must be.
struct Checker {
    let state: ClusterState
    let topics: SimulatedTopics
    let configuration: WorkerConfiguration
    private(set) var findings: [String] = []

    init(state: ClusterState, topics: SimulatedTopics, configuration: WorkerConfiguration) {
        self.state = state
        self.topics = topics
        self.configuration = configuration
    }

    // MARK: - Output

    /// The committed commands are the reference model's, combo by combo, and no id comes twice;
    /// each
    /// unreadable record is among the dead letters once.
    mutating func checkOutput() {
        var expected: [String: Shown] = [:]
        var unreadable: [String] = []
        for partition in state.topics[topics.input].logs.indices {
            var model = ReferenceModel(configuration.combo)
            for record in state.upstream where record.partition == partition {
                guard let gift = record.gift else {
                    if record.value != nil { unreadable.append("\(partition)-\(record.offset)") }
                    continue
                }
                model.apply(gift, offset: record.offset, at: record.timestamp)
            }
            for command in model.commands {
                expected["\(partition)-\(command.comboOffset)#\(command.sequence)"] = command
            }
        }
        compare(expected)
        compareDeadLetters(unreadable)
    }

    private mutating func compare(_ expected: [String: Shown]) {
        var seen: Set<String> = []
        var lastSequences: [String: UInt32] = [:]
        for log in state.topics[topics.commands].logs {
            lastSequences.removeAll(keepingCapacity: true)
            for record in log.committed {
                guard let value = record.value, let read = ReadCommand(value) else {
                    find("a command can't be read at \(record.offset)")
                    continue
                }
                let id = read.id
                if !seen.insert(id).inserted { find("\(id) was committed twice") }
                if let wanted = expected[id] {
                    if read.command != wanted {
                        find("\(id) is \(read.command), must be \(wanted)")
                    }
                } else {
                    find("\(id) must not be: \(read.command)")
                }
                let last = lastSequences.updateValue(read.command.sequence, forKey: read.comboID)
                if let last, last > read.command.sequence { find("\(id) comes after #\(last)") }
                if record.timestamp != read.command.at { find("\(id) has another timestamp") }
            }
        }
        for id in expected.keys.sorted() where !seen.contains(id) { find("\(id) is missing") }
    }

    private mutating func compareDeadLetters(_ unreadable: [String]) {
        var left = Set(unreadable)
        for log in state.topics[topics.deadLetters].logs {
            for record in log.committed {
                let partition = record.headers.first { $0.name == "source-partition" }?.value ?? ""
                let offset = record.headers.first { $0.name == "source-offset" }?.value ?? ""
                if left.remove("\(partition)-\(offset)") == nil {
                    find("a dead letter too many, of \(partition)-\(offset)")
                }
            }
        }
        for missing in left.sorted() { find("the dead letter of \(missing) is missing") }
    }

    // MARK: - State

    /// What each changelog partition holds is the state that the committed records give.
    mutating func checkStates() {
        for partition in state.topics[topics.changelog].logs.indices {
            let wanted = stateOf(partition)
            let kept = changelog(partition)
            for key in Set(wanted.keys).union(kept.keys).sorted(by: {
                $0.lexicographicallyPrecedes($1)
            })
            where wanted[key] != kept[key] {
                find(
                    "changelog of partition \(partition), key \(key): holds "
                        + "\(kept[key] ?? []), must hold \(wanted[key] ?? [])"
                )
            }
        }
    }

    /// Everything has ended and was forgotten: the changelogs hold tombstones only.
    mutating func checkForgotten() {
        for partition in state.topics[topics.changelog].logs.indices {
            let left = changelog(partition).count
            if left > 0 { find("changelog of partition \(partition) still holds \(left) keys") }
        }
    }

    private func changelog(_ partition: Int) -> [[UInt8]: [UInt8]] {
        var latest: [[UInt8]: [UInt8]] = [:]
        for record in state.topics[topics.changelog].logs[partition].committed {
            if let key = record.key { latest[key] = record.value }
        }
        return latest
    }

    /// The state after the committed records and at the committed clock, from an undisturbed run.
    private func stateOf(_ partition: Int) -> [[UInt8]: [UInt8]] {
        guard let committed = state.groups[topics.group].committed[partition] else { return [:] }
        var engine = PartitionEngine(
            partition: Int32(partition),
            configuration: configuration.combo,
            input: configuration.input,
            tracksChanges: true
        )
        var output = CommandBatch()
        for record in state.topics[topics.input].logs[partition].committed
        where record.offset < committed.offset {
            process(record, &engine, &output)
        }
        let digits = committed.metadata.flatMap { Int64($0.drop { !$0.isNumber }) }
        if let clock = digits { engine.advance(to: EventTime(milliseconds: clock), into: &output) }
        var batch = ChangelogBatch()
        batch.appendChanges(of: &engine)
        var states: [[UInt8]: [UInt8]] = [:]
        for index in 0..<batch.count {
            let entry = batch[index]
            let value = unsafe batch.value(of: entry)
            states[unsafe [UInt8](batch.key(of: entry))] =
                unsafe value.baseAddress == nil ? nil : [UInt8](value)
        }
        return states
    }

    private func process(
        _ record: LogRecord,
        _ engine: inout PartitionEngine,
        _ output: inout CommandBatch
    ) {
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
        output.removeAll()
    }

    private mutating func find(_ sentence: String) {
        // More than a few say nothing new.
        if findings.count < 5 { findings.append(sentence) }
    }
}

extension ClusterState {
    /// Whether all of the input is committed and nothing is under way.
    func isDrained(_ topics: SimulatedTopics) -> Bool {
        upstreamNext == upstream.count && groups[topics.group].pending.isEmpty
            && producers.allSatisfy { if case .empty = $0.phase { true } else { false } }
            && backlog(topics).isEmpty
    }

    /// Partitions whose last record is not committed.
    func backlog(_ topics: SimulatedTopics) -> [String] {
        self.topics[topics.input].logs.indices.compactMap { partition in
            let last = self.topics[topics.input].logs[partition].records.last { !$0.isMarker }
            guard let last else { return nil }
            let committed = groups[topics.group].committed[partition]?.offset ?? 0
            return committed > last.offset ? nil : "\(partition) at \(committed) of \(last.offset)"
        }
    }

    /// A hash of every log: FNV-1a over offsets, timestamps and values.
    var digest: UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        func take(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        func take(_ number: Int64) {
            for shift in stride(from: 0, to: 64, by: 8) {
                take(UInt8(truncatingIfNeeded: number >> Int64(shift)))
            }
        }
        for topic in topics {
            for log in topic.logs {
                for record in log.records {
                    take(record.offset)
                    take(record.timestamp)
                    for byte in record.value ?? [] { take(byte) }
                }
            }
        }
        take(now)
        return hash
    }
}
