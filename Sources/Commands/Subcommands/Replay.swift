internal import ComboCore
internal import ComboWire
internal import StreamPorts

/// `giftcombo replay`: recorded gift events in, overlay commands out, without Kafka.
let replayCommand = Subcommand(
    name: "replay",
    summary: "print the commands that recorded gift events give, without Kafka",
    operands: "[FILE…|-]",
    operandCount: 0...Int.max,
    options: Subcommand.Option.configuration + [
        Subcommand.Option(
            "dead-letters",
            value: "FILE",
            meaning: "write what could not be read there, a line each"
        ),
        Subcommand.Option(
            "topic",
            value: "NAME",
            meaning: "replay this topic, up to where it ends now, instead of files"
        ),
    ],
    details: """
        A file holds a record a line,
          {"partition":0,"offset":0,"timestamp":1760000000000,"key":"7","value":{"user_id":"7"}}
        with arrived_at where it is known; value is an object, a string (raw text) or null, or
        value_base64 holds the bytes. Offsets of a partition must rise. Or the file is a conformance
        document, whose config holds as --set would. Files packed with gzip are unpacked; - is
        standard input. After the last record the clock runs to the end of time. With --topic the
        records come from the brokers of kafka.bootstrap.servers.

        Commands go to standard output, a line each, the totals to standard error. --set takes the
        combo, time and input keys.
        """,
    run: replay
)

private func replay(
    _ arguments: ParsedArguments,
    _ context: CommandContext
) throws(CommandFailure) {
    let topic = arguments.value(of: "topic")
    guard (topic == nil) != arguments.operands.isEmpty else {
        throw replayCommand.usage("a FILE or --topic is needed, and not both")
    }
    let reader: RecordingReader?
    do {
        reader = topic == nil ? try RecordingReader(paths: arguments.operands) : nil
    } catch {
        throw CommandFailure(.failure, "\(error)")
    }
    let loaded = try context.configuration(
        from: arguments,
        groups: topic == nil ? [.combo, .time, .input] : nil,
        document: reader?.document.map { ($0.path, $0.config) }
    )
    guard !arguments.has("print-config") else {
        context.output.write(ConfigurationText.properties(of: loaded))
        return
    }
    var deadLetters: DeadLetterFile?
    if let path = arguments.value(of: "dead-letters") {
        deadLetters = try DeadLetterFile(path: path)
    }
    let replay = Replay(
        configuration: loaded.configuration,
        commands: context.output,
        deadLetters: deadLetters
    )
    if let reader {
        try replayFiles(reader, replay, context)
    } else if let topic {
        try replayTopic(topic, loaded.configuration, replay, context)
    }
    replay.finish()
    try deadLetters?.close()
    if replay.isReadOn {
        context.output.flush()
        context.tell(replay.totals)
    }
}

private func replayFiles(
    _ reader: RecordingReader,
    _ replay: Replay,
    _ context: CommandContext
) throws(CommandFailure) {
    var progress = ProgressLine(on: context.errors)
    defer { progress.clear() }
    var record = RecordedRecord()
    var count = 0
    do {
        while replay.isReadOn, try reader.next(into: &record) {
            replay.process(record)
            count += 1
            if count % ProgressLine.stride == 0 {
                progress.update("\(count) records" + percent(reader.progress))
            }
        }
    } catch {
        replay.flush()
        throw CommandFailure(.failure, "\(error)")
    }
}

private func replayTopic(
    _ topic: String,
    _ configuration: Configuration,
    _ replay: Replay,
    _ context: CommandContext
) throws(CommandFailure) {
    let scan = try TopicScan(configuration, topic: topic)
    defer { scan.close() }
    try scan.run(context, "replayed") { record in
        replay.process(record.input, partition: record.view.partition, arrivedAt: nil)
    }
}

private func percent(_ part: Double?) -> String {
    part.map { ", \(Int($0 * 100)) %" } ?? ""
}

/// Prints what records give, as they come.
private final class Replay {
    private let input: ReplayedInput
    private let commands: Output
    private let deadLetters: DeadLetterFile?

    /// Commands that are collected before they are written.
    private static let batchSize = 256

    init(configuration: Configuration, commands: Output, deadLetters: DeadLetterFile?) {
        input = ReplayedInput(configuration)
        self.commands = commands
        self.deadLetters = deadLetters
    }

    /// Whether there still is someone who reads what is written.
    var isReadOn: Bool { commands.failure == nil }

    func process(_ record: RecordedRecord) {
        unsafe record.withBytes { key, value in
            let input = unsafe InputRecord(
                offset: record.offset,
                timestamp: record.timestamp,
                key: key,
                value: value
            )
            let arrival = record.arrivedAt.map { WallTime(milliseconds: $0) }
            process(input, partition: record.partition, arrivedAt: arrival)
        }
    }

    func process(_ record: InputRecord, partition: Int32, arrivedAt: WallTime?) {
        let refusal = input.process(partition: partition, record, arrivedAt: arrivedAt)
        if let refusal {
            deadLetters?.write(refusal, partition: partition, offset: record.offset)
        }
        if input.commands.count >= Replay.batchSize { flush() }
    }

    /// Runs every partition's clock to the end of time.
    func finish() {
        for number in input.numbers where isReadOn {
            input.finish(partition: number)
            flush()
        }
    }

    /// Writes the commands that were collected.
    func flush() {
        input.takeCommands { batch, entry in
            unsafe commands.append(batch.value(of: entry))
            commands.append(CollectionOfOne(UInt8(ascii: "\n")))
        }
    }

    /// What was read and written, as standard error gets it.
    var totals: String {
        var sum = ReplayTotals()
        for number in input.numbers { sum.add(input.counts(of: number)) }
        return sum.text
    }
}

/// What all partitions have counted.
struct ReplayTotals: Equatable {
    private var numbers: [Int64] = Array(repeating: 0, count: ReplayTotals.names.count)

    private static let names = [
        "records", "show", "update", "hide", "end", "dead letters", "tombstones", "duplicates",
        "nothing added", "end markers", "late", "clamped",
    ]

    mutating func add(_ counts: EngineCounts) {
        let more = [
            counts.records, counts.commands.show, counts.commands.update, counts.commands.hide,
            counts.commands.end, counts.deadLetters, counts.tombstones, counts.duplicates,
            counts.nothingAdded, counts.markers, counts.late, counts.clamped,
        ]
        for (index, number) in more.enumerated() {
            numbers[index] += number
        }
    }

    /// One line: `records 3, show 1, …`.
    var text: String {
        zip(ReplayTotals.names, numbers).map { "\($0) \($1)" }.joined(separator: ", ")
    }
}

/// What could not be read, a line of JSON each.
private final class DeadLetterFile {
    private let path: String
    private let output: Output

    init(path: String) throws(CommandFailure) {
        self.path = path
        do {
            output = try Output(path: path)
        } catch {
            throw CommandFailure(.failure, "\(path): \(error.detail)")
        }
    }

    func write(_ refusal: Refusal, partition: Int32, offset: Int64) {
        // The detail is a sentence of ours, which never holds anything of the record.
        output.write(
            "{\"partition\":\(partition),\"offset\":\(offset),"
                + "\"error\":\"\(refusal.reason.rawValue)\",\"detail\":\"\(refusal.detail)\"}\n"
        )
    }

    func close() throws(CommandFailure) {
        output.flush()
        if case .system(let detail) = output.failure {
            throw CommandFailure(.failure, "\(path): \(detail)")
        }
    }
}
