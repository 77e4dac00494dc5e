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
    var progress = ProgressLine(on: context.errors)
    defer { progress.clear() }
    var totals = ReplayTotals()
    var record = RecordedRecord()
    do {
        while context.output.failure == nil, try reader.next(into: &record) {
            totals.records += 1
            if totals.records % ProgressLine.stride == 0 {
                progress.update(totals.progressText(reader.progress))
            }
        }
    } catch {
        throw CommandFailure(.failure, "\(error)")
    }
    progress.clear()
    context.tell(totals.text)
}

/// What a replay has read and written.
struct ReplayTotals: Equatable {
    /// Records read, all kinds.
    var records = 0

    /// The totals as standard error gets them.
    var text: String {
        "records \(records)"
    }

    /// How far the replay is.
    func progressText(_ part: Double?) -> String {
        "\(records) records" + (part.map { ", \(Int($0 * 100)) %" } ?? "")
    }
}
