internal import ComboCore
internal import ComboWire
internal import StreamPorts

/// `giftcombo state`: what a changelog partition holds, for people.
let stateCommand = Subcommand(
    name: "state",
    summary: "print the combos and remembered keys that a changelog partition holds",
    operands: "",
    operandCount: 0...0,
    options: Subcommand.Option.configuration + [
        Subcommand.Option("partition", value: "N", meaning: "the input partition"),
        Subcommand.Option(
            "key",
            value: "TEXT",
            meaning: "only the key of this hash, or combos with this user, room or gift"
        ),
    ],
    details: """
        A line of JSON for each key, in the order of their latest gifts. A live combo has its
        fields, count, value, number of commands and when it hides; of a key that is only remembered
        there is its hash, when its combo ended, and how many event ids and running totals are
        kept. A key is known by its hash, for that is what the changelog holds.
        """,
    run: { arguments, context throws(CommandFailure) in
        let loaded = try context.configuration(from: arguments)
        guard !arguments.has("print-config") else {
            context.output.write(ConfigurationText.properties(of: loaded))
            return
        }
        guard let text = arguments.value(of: "partition"), let partition = Int32(text) else {
            throw stateCommand.usage("--partition N is needed, the number of an input partition")
        }
        try printState(loaded.configuration, partition, arguments.value(of: "key"), context)
    }
)

private func printState(
    _ configuration: Configuration,
    _ partition: Int32,
    _ wanted: String?,
    _ context: CommandContext
) throws(CommandFailure) {
    let topic = configuration.topics.changelog
    let scan = try TopicScan(configuration, topic: topic)
    defer { scan.close() }
    guard scan.extents.contains(where: { $0.partition == partition }) else {
        throw CommandFailure(
            .failure,
            "\(topic) has the partitions 0 to \(scan.extents.count - 1), not \(partition)"
        )
    }
    let image = StateImage()
    // An end before every start leaves the other partitions out.
    let others = scan.extents.filter { $0.partition != partition }.map { ($0.partition, Int64(-1)) }
    try scan.run(context, "read", upTo: Dictionary(uniqueKeysWithValues: others)) { record in
        image.add(record, topic)
    }
    if let problem = image.problem { throw CommandFailure(.failure, problem) }
    do {
        try image.image.forEachState { state in
            let line = StateLine(state)
            guard wanted.map(line.matches) ?? true else { return }
            context.output.write(line.text)
        }
    } catch {
        throw CommandFailure(.failure, "\(topic) partition \(partition): \(error)")
    }
}

/// The image of a changelog partition, filled by a closure.
private final class StateImage {
    var image = ChangelogImage()
    private(set) var problem: String?

    func add(_ record: TopicScan.Record, _ topic: String) {
        guard problem == nil else { return }
        do {
            try unsafe image.add(key: record.view.key, value: record.view.value)
        } catch {
            problem =
                "\(topic) partition \(record.view.partition) offset \(record.view.offset): \(error)"
        }
    }
}

/// A key's state as a line of JSON.
private struct StateLine {
    let text: String
    private let names: [String]

    init(_ state: KeyState) {
        let hash = hexadecimal(state.key.high) + hexadecimal(state.key.low)
        var names = [hash]
        var fields = ["\"key\":\"\(hash)\""]
        if let combo = state.combo {
            fields.append("\"state\":\"\(combo.isDisplayed ? "displayed" : "retained")\"")
            for (name, text) in [
                ("room_id", combo.fields.roomID), ("user_id", combo.fields.userID),
                ("user_name", combo.fields.userName), ("recipient_id", combo.fields.recipientID),
                ("gift_id", combo.fields.giftID), ("gift_name", combo.fields.giftName),
            ] where !text.isEmpty {
                // In JSON text form already.
                let form = unsafe String(decoding: text.bytes, as: UTF8.self)
                fields.append("\"\(name)\":\"\(form)\"")
                names.append(form)
            }
            fields.append("\"count\":\(combo.count),\"value\":\(combo.value)")
            fields.append("\"commands\":\(combo.sequence)")
            fields.append("\"first_offset\":\(combo.firstOffset)")
            fields.append("\"last_offset\":\(state.lastOffset)")
            fields.append("\"hide_at\":\(combo.hideAt.milliseconds)")
        } else {
            fields.append("\"state\":\"remembered\",\"last_offset\":\(state.lastOffset)")
            fields.append("\"ended_at\":\(state.endAt.milliseconds)")
        }
        fields.append("\"event_ids\":\(unsafe state.memory.ids.count)")
        fields.append("\"streaks\":\(unsafe state.memory.streaks.count)")
        text = "{" + fields.joined(separator: ",") + "}\n"
        self.names = names
    }

    func matches(_ wanted: String) -> Bool { names.contains(wanted) }
}

private func hexadecimal(_ word: UInt64) -> String {
    let digits = String(word, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
}
