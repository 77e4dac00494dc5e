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
    /// each unreadable record is among the dead letters once.
    mutating func checkOutput() {
        var models = state.topics[topics.input].logs.map { _ in
            ReferenceModel(configuration.combo)
        }
        var unreadable: [String] = []
        for record in state.upstream {
            if let gift = record.gift {
                models[record.partition].apply(gift, offset: record.offset, at: record.timestamp)
            } else if record.value != nil {
                unreadable.append("\(record.partition)-\(record.offset)")
            }
        }
        var expected: [CommandID: Expected] = [:]
        for (partition, model) in models.enumerated() {
            for command in model.commands {
                let id = CommandID(
                    partition: partition,
                    comboOffset: command.comboOffset,
                    sequence: command.sequence
                )
                expected[id] = Expected(command: command)
            }
        }
        compare(expected)
        compareDeadLetters(unreadable)
    }

    /// A command of the reference model, and whether the output holds it.
    private struct Expected {
        var command: Shown
        var isCommitted = false
    }

    private mutating func compare(_ all: consuming [CommandID: Expected]) {
        var expected = all
        for log in state.topics[topics.commands].logs {
            // A combo's commands have one key and lie in one partition, in order.
            var latest: [CommandID: UInt32] = [:]
            for record in log.committed {
                guard let value = record.value, let read = ReadCommand(value) else {
                    find("a command can't be read at \(record.offset)")
                    continue
                }
                let id = read.id
                if let place = expected.index(forKey: id) {
                    let wanted = expected.values[place]
                    if wanted.isCommitted { find("\(id) was committed twice") }
                    if read.command != wanted.command {
                        find("\(id) is \(read.command), must be \(wanted.command)")
                    }
                    expected.values[place].isCommitted = true
                } else {
                    find("\(id) must not be: \(read.command)")
                }
                var combo = id
                combo.sequence = 0
                let last = latest.updateValue(id.sequence, forKey: combo)
                if let last, last > id.sequence { find("\(id) comes after #\(last)") }
                if record.timestamp != read.command.at { find("\(id) has another timestamp") }
                if !state.writes.covers(id.partition, record.transaction) {
                    find("\(id) was committed without an offset of partition \(id.partition)")
                }
            }
        }
        let missing = expected.filter { !$0.value.isCommitted }.keys
        for id in missing.sorted() { find("\(id) is missing") }
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
                if !state.writes.covers(Int(partition) ?? -1, record.transaction) {
                    find("the dead letter of \(partition)-\(offset) came without an offset")
                }
            }
        }
        for missing in left.sorted() { find("the dead letter of \(missing) is missing") }
    }

    // MARK: - What is left

    /// Everything has ended and was forgotten: the changelogs hold tombstones only.
    mutating func checkForgotten() {
        for (partition, log) in state.topics[topics.changelog].logs.enumerated() {
            let left = log.latestByKey.count
            if left > 0 { find("changelog of partition \(partition) still holds \(left) keys") }
        }
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
