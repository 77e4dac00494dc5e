internal import ComboCore
internal import ComboWire
internal import KafkaClient
internal import StreamPorts
internal import WorkerRuntime

/// Compares what a group has published with what the same input gives without Kafka.
///
/// The replay goes as far as the group has committed, and its clock to the committed clock, so that
/// what is live compares as far as it has come.
struct Verification {
    /// What came of it.
    struct Report {
        var combos = 0
        var matched = 0
        var deadLetters = 0
        var omittedCombos = 0
        var omittedRecords: [InputSurvey.OmittedRecord] = []
        /// A sentence or two lines each.
        var differences: [String] = []
        /// Differences that there are, told or not.
        var differenceCount = 0
        /// Partitions that were worked on meanwhile.
        var aheadPartitions: [Int32] = []
    }

    /// A dead letter's place and reason.
    private struct DeadLetter: Hashable {
        var partition: Int32
        var offset: Int64
        var error: String
    }

    private static let toldDifferences = 10

    private let configuration: Configuration
    private let context: CommandContext
    private let since: Int64?

    init(_ configuration: Configuration, since: Int64?, _ context: CommandContext) {
        self.configuration = configuration
        self.since = since
        self.context = context
    }

    /// Whether the commands follow from the input alone.
    var isExact: Bool {
        configuration.idleGrace == nil && configuration.combo.timeSource != .arrival
    }

    func run() throws(CommandFailure) -> Report {
        let topics = configuration.topics
        let input = try TopicScan(configuration, topic: topics.input)
        defer { input.close() }
        if since == nil, let cut = input.extents.first(where: { $0.low > 0 }) {
            throw CommandFailure(
                .failure,
                "\(topics.input) partition \(cut.partition) begins at offset \(cut.low): "
                    + "retention has deleted what came before, so only newer combos can be "
                    + "compared; say from when on with --since"
            )
        }
        let committed = try committedOffsets(configuration, input)
        let survey = InputSurvey(
            configuration,
            input.extents,
            clocks: committed.compactMapValues { ClockMetadata.clock($0.metadata) },
            since: since
        )
        let ends = committed.mapValues { $0.offset ?? 0 }
        try input.run(context, "looked at", upTo: ends) { record in
            survey.observe(record.input, partition: record.view.partition)
        }
        let output = try TopicScan(configuration, topic: topics.output)
        defer { output.close() }
        var comparison = OutputComparison { survey.compares($0, user: $1) }
        var laws = CommandLaws()
        try output.run(context, "read") { record in
            let view = record.view
            unsafe comparison.publish(
                partition: view.partition,
                key: view.key,
                timestamp: view.timestampMilliseconds,
                value: view.value
            )
            if !isExact { unsafe observe(view.value, survey, &laws) }
        }
        let ahead = try movedPartitions(input, committed)
        var report = Report()
        report.aheadPartitions = ahead.sorted()
        report.omittedRecords = survey.omitted
        if isExact {
            let letters = try replay(input, committed, &comparison)
            comparison.finish { ahead.contains($0) }
            try showPublished(output, &comparison)
            try compareDeadLetters(letters, survey, ahead, &report)
        } else {
            laws.finish()
            report.differences = laws.breaches
            report.differenceCount = laws.breaches.count
        }
        report.combos = comparison.comboCount
        report.omittedCombos = comparison.omittedCount
        report.matched = isExact ? comparison.matched : laws.commands
        report.differenceCount += comparison.differences.count
        report.differences += comparison.differences.prefix(Self.toldDifferences).map(\.text)
        if comparison.unreadable > 0 {
            report.differenceCount += comparison.unreadable
            report.differences.append(
                "\(comparison.unreadable) records of \(topics.output) are no overlay commands"
            )
        }
        return report
    }

    private func observe(
        _ value: UnsafeRawBufferPointer,
        _ survey: InputSurvey,
        _ laws: inout CommandLaws
    ) {
        guard let reference = unsafe CommandReference(value),
            survey.compares(reference.combo, user: reference.user),
            let command = unsafe ParsedCommand(value)
        else { return }
        laws.observe(command)
    }

    /// Replays the input; the dead letters that it gives.
    private func replay(
        _ input: TopicScan,
        _ committed: [Int32: PartitionOffset],
        _ comparison: inout OutputComparison
    ) throws(CommandFailure) -> Set<DeadLetter> {
        let replayed = ReplayedInput(configuration)
        var letters: Set<DeadLetter> = []
        var expected = comparison
        func take() {
            replayed.takeCommands { batch, entry in
                unsafe expected.expect(
                    key: batch.key(of: entry),
                    timestamp: entry.at.milliseconds,
                    value: batch.value(of: entry)
                )
            }
        }
        comparison = OutputComparison { _, _ in false }
        try input.run(context, "replayed", upTo: committed.mapValues { $0.offset ?? 0 }) { record in
            let (partition, offset) = (record.view.partition, record.view.offset)
            if let refusal = replayed.process(partition: partition, record.input) {
                letters.insert(
                    DeadLetter(
                        partition: partition,
                        offset: offset,
                        error: refusal.reason.rawValue
                    )
                )
            }
            take()
        }
        for number in replayed.numbers {
            guard let clock = ClockMetadata.clock(committed[number]?.metadata) else { continue }
            replayed.advance(partition: number, to: clock)
            take()
        }
        comparison = expected
        return letters
    }

    /// Looks up what was published where it is needed to tell what differs, and whether it does.
    private func showPublished(
        _ output: TopicScan,
        _ comparison: inout OutputComparison
    ) throws(CommandFailure) {
        let wanted = comparison.wantedRecords
        guard !wanted.isEmpty else { return }
        var shown = comparison
        try output.run(context, "read again") { record in
            unsafe shown.show(
                key: record.view.key,
                timestamp: record.view.timestampMilliseconds,
                value: record.view.value,
                at: wanted
            )
        }
        shown.dropEqual()
        comparison = shown
    }

    private func compareDeadLetters(
        _ expected: Set<DeadLetter>,
        _ survey: InputSurvey,
        _ ahead: Set<Int32>,
        _ report: inout Report
    ) throws(CommandFailure) {
        let scan = try TopicScan(configuration, topic: configuration.topics.deadLetters)
        defer { scan.close() }
        var published: [DeadLetter: Int] = [:]
        try scan.run(context, "read") { record in
            var letter = DeadLetter(partition: -1, offset: -1, error: "")
            for header in record.headers() {
                let value = header.value
                switch header.name {
                case "error": letter.error = value
                case "source-partition": letter.partition = Int32(value) ?? -1
                case "source-offset": letter.offset = Int64(value) ?? -1
                default: break
                }
            }
            published[letter, default: 0] += 1
        }
        let isCompared = { (letter: DeadLetter) in
            letter.offset >= survey.firstCompared[letter.partition] ?? 0
        }
        report.deadLetters = expected.count(where: isCompared)
        for letter in expected where isCompared(letter) && published[letter] == nil {
            report.tell(
                "dead letter \(letter.partition)-\(letter.offset) (\(letter.error)) is "
                    + "not published"
            )
        }
        for (letter, count) in published where isCompared(letter) {
            if count > 1 {
                report.tell("dead letter \(letter.partition)-\(letter.offset) is published twice")
            }
            if !expected.contains(letter), !ahead.contains(letter.partition) {
                report.tell(
                    "dead letter \(letter.partition)-\(letter.offset) (\(letter.error)) is "
                        + "published, and not in the replay"
                )
            }
        }
    }

    // MARK: - The group

    /// The partitions whose offset or clock has moved since.
    private func movedPartitions(
        _ input: TopicScan,
        _ before: [Int32: PartitionOffset]
    ) throws(CommandFailure) -> Set<Int32> {
        let now = try committedOffsets(configuration, input)
        return Set(now.values.filter { $0 != before[$0.partition] }.map(\.partition))
    }
}

/// What the group has committed of an input topic's partitions, with the clocks as metadata.
///
/// - Throws: The brokers refused, or can't be reached.
func committedOffsets(
    _ configuration: Configuration,
    _ input: TopicScan
) throws(CommandFailure) -> [Int32: PartitionOffset] {
    let settings = try KafkaSettings(checked: configuration)
    do {
        let admin = try KafkaAdmin(
            settings,
            clientID: "\(configuration.groupID)-reader",
            events: SilentClientEvents()
        )
        defer { admin.close(timeoutMilliseconds: 1000) }
        let offsets = try admin.committedOffsets(
            of: configuration.groupID,
            topic: input.topic,
            partitions: input.extents.map(\.partition),
            timeoutMilliseconds: 30_000
        )
        return Dictionary(uniqueKeysWithValues: offsets.map { ($0.partition, $0) })
    } catch {
        throw CommandFailure(kafka: error, settings)
    }
}

extension Verification.Report {
    fileprivate mutating func tell(_ difference: String) {
        differenceCount += 1
        if differences.count < 10 { differences.append(difference) }
    }
}

extension OutputComparison.Difference {
    /// What differs, with both records.
    fileprivate var text: String {
        var text = "combo \(combo): command \(sequence) \(fault.rawValue)"
        if let published { text += "\n  published \(published.text)" }
        if let expected { text += "\n  replayed  \(expected.text)" }
        return text
    }
}
