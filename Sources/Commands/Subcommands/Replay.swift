internal import ComboWire

/// `giftcombo replay`: recorded gift events in, overlay commands out, without Kafka.
let replayCommand = Subcommand(
    name: "replay",
    summary: "print the commands that recorded gift events give, without Kafka",
    operands: "FILE…|-",
    operandCount: 1...Int.max,
    options: Subcommand.Option.configuration + [
        Subcommand.Option(
            "dead-letters",
            value: "FILE",
            meaning: "write what could not be read there, a line each"
        )
    ],
    details: """
        A file holds a record a line,
          {"partition":0,"offset":0,"timestamp":1760000000000,"key":"7","value":{"user_id":"7"}}
        with arrived_at where it is known; value is an object, a string (raw text) or null, or
        value_base64 holds the bytes. Offsets of a partition must rise. Or the file is a conformance
        document, whose config holds as --set would. Files packed with gzip are unpacked; - is
        standard input. After the last record the clock runs to the end of time.

        Commands go to standard output, a line each, the totals to standard error. --set takes the
        combo, time and input keys.
        """,
    run: replay
)

private func replay(
    _ arguments: ParsedArguments,
    _ context: CommandContext
) throws(CommandFailure) {
    let reader: RecordingReader
    do {
        reader = try RecordingReader(paths: arguments.operands)
    } catch {
        throw CommandFailure(.failure, "\(error)")
    }
    let loaded = try context.configuration(
        from: arguments,
        groups: [.combo, .time, .input],
        document: reader.document.map { ($0.path, $0.config) }
    )
    guard !arguments.has("print-config") else {
        context.output.write(ConfigurationText.properties(of: loaded))
        return
    }
    let configuration = loaded.configuration
    let replayer = Replayer(configuration.combo, InputRules(configuration.input))
    var deadLetters: Output?
    if let path = arguments.value(of: "dead-letters") {
        do {
            deadLetters = try Output(path: path)
        } catch {
            throw CommandFailure(.failure, "\(error)")
        }
    }
    try replayAll(reader, through: replayer, deadLetters, context)
    replayer.finish(to: context.output)
    deadLetters?.flush()
    if case .system(let detail) = deadLetters?.failure {
        throw CommandFailure(.failure, "--dead-letters: \(detail)")
    }
    context.tell(ReplayTotals(replayer.counts).text)
}

/// Replays every record, with progress where a person looks on.
private func replayAll(
    _ reader: RecordingReader,
    through replayer: Replayer,
    _ deadLetters: Output?,
    _ context: CommandContext
) throws(CommandFailure) {
    var progress = ProgressLine(on: context.errors)
    defer { progress.clear() }
    var records = 0
    var record = RecordedRecord()
    do {
        while context.output.failure == nil, try reader.next(into: &record) {
            if let refusal = replayer.process(record, to: context.output) {
                deadLetters?.write(deadLetter(record, refusal))
            }
            records += 1
            if records % ProgressLine.stride == 0 {
                let part = reader.progress.map { ", \(Int($0 * 100)) %" } ?? ""
                progress.update("\(records) records\(part)")
            }
        }
    } catch {
        throw CommandFailure(.failure, "\(error)")
    }
}

/// A line of the dead-letter file; nothing in it needs an escape.
private func deadLetter(_ record: RecordedRecord, _ refusal: Refusal) -> String {
    "{\"partition\":\(record.partition),\"offset\":\(record.offset),"
        + "\"error\":\"\(refusal.reason.rawValue)\",\"detail\":\"\(refusal.detail)\"}\n"
}

/// What a replay has read and written.
struct ReplayTotals: Equatable {
    private var sum = EngineCounts()

    init(_ partitions: [EngineCounts]) {
        for counts in partitions { sum.add(counts) }
    }

    /// The totals as standard error gets them.
    var text: String {
        let commands = sum.commands
        return "\(sum.records) records: \(commands.total) commands (\(commands.show) show, "
            + "\(commands.update) update, \(commands.hide) hide, \(commands.end) end), "
            + "\(sum.duplicates) duplicates, \(sum.nothingAdded) totals that added nothing, "
            + "\(sum.markers) end markers, \(sum.late) late, \(sum.clamped) clamped, "
            + "\(sum.tombstones) tombstones, \(sum.deadLetters) dead letters"
    }
}
