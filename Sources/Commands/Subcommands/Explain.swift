internal import ComboCore
internal import ComboWire
internal import KafkaClient
internal import StreamPorts
internal import WorkerRuntime

/// `giftcombo explain`: what a user's gifts did, and why.
let explainCommand = Subcommand(
    name: "explain",
    summary: "tell what a user's gifts did: each gift, timer and command, and why",
    operands: "[FILE…|-]",
    operandCount: 0...Int.max,
    options: Subcommand.Option.configuration + [
        Subcommand.Option("user", value: "ID", meaning: "the user_id whose gifts it is about"),
        Subcommand.Option("room", value: "ID", meaning: "only combos in this room"),
        Subcommand.Option("gift", value: "ID", meaning: "only combos of this gift"),
        Subcommand.Option(
            "since",
            value: "TIME",
            meaning: "only what came later; epoch milliseconds, or 2026-01-31T20:00:00Z"
        ),
    ],
    details: """
        Reads the input and the overlay topic, counts the input once more, and tells for each combo
        key of the user what happened, a line for each gift with its time and offset, for each timer
        and for each command; duplicates, running totals that added nothing, late gifts, and records
        that went to the dead letters with their reason. A command that was not published, or not
        as it must be, is marked. The configuration must be the group's.

        It answers why a count restarted: the last combo was over, by how long; or the gifts lie in
        two partitions, in two rooms, or are of two gifts.

        Where the wall clock ended a combo before a gift came that is dated earlier, what was
        published decides. With files, as replay reads them, nothing was published, and the clock
        runs to the end of time.
        """,
    run: explain
)

private func explain(
    _ arguments: ParsedArguments,
    _ context: CommandContext
) throws(CommandFailure) {
    guard let user = arguments.value(of: "user"), !user.isEmpty else {
        throw explainCommand.usage("--user ID is needed")
    }
    var choice = StoryText.Choice()
    choice.room = arguments.value(of: "room")
    choice.gift = arguments.value(of: "gift")
    if let text = arguments.value(of: "since") {
        choice.since = try explainCommand.time(text, of: "since")
    }
    let story: StoryText
    if arguments.operands.isEmpty {
        let loaded = try context.configuration(from: arguments)
        guard !arguments.has("print-config") else {
            context.output.write(ConfigurationText.properties(of: loaded))
            return
        }
        story = try storyOfTopics(loaded.configuration, user, choice, context)
    } else {
        story = try storyOfFiles(arguments, user, choice, context)
    }
    let name = story.story.userName
    context.output.write("user \(user)" + (name.isEmpty ? "" : " (\(printable(name)))") + "\n")
    for line in story.lines { context.output.write(line + "\n") }
}

private func storyOfFiles(
    _ arguments: ParsedArguments,
    _ user: String,
    _ choice: StoryText.Choice,
    _ context: CommandContext
) throws(CommandFailure) -> StoryText {
    do {
        let reader = try RecordingReader(paths: arguments.operands)
        let loaded = try context.configuration(
            from: arguments,
            groups: [.combo, .time, .input],
            document: reader.document.map { ($0.path, $0.config) }
        )
        let story = UserStory(loaded.configuration, user: user, published: PublishedCommands())
        var record = RecordedRecord()
        var partitions: Set<Int32> = []
        while try reader.next(into: &record) {
            partitions.insert(record.partition)
            unsafe record.withBytes { key, value in
                let input = unsafe InputRecord(
                    offset: record.offset,
                    timestamp: record.timestamp,
                    key: key,
                    value: value
                )
                let arrival = record.arrivedAt.map { WallTime(milliseconds: $0) }
                story.process(partition: record.partition, input, arrivedAt: arrival)
            }
        }
        for partition in partitions.sorted() { story.finish(partition: partition, at: nil) }
        return StoryText(story: story, published: nil, choice: choice, committed: [:])
    } catch let failure as CommandFailure {
        throw failure
    } catch {
        throw CommandFailure(.failure, "\(error)")
    }
}

private func storyOfTopics(
    _ configuration: Configuration,
    _ user: String,
    _ choice: StoryText.Choice,
    _ context: CommandContext
) throws(CommandFailure) -> StoryText {
    let input = try TopicScan(configuration, topic: configuration.topics.input)
    defer { input.close() }
    let committed = try committedOffsets(configuration, input)
    let output = try TopicScan(configuration, topic: configuration.topics.output)
    defer { output.close() }
    var published = PublishedCommands()
    try output.run(context, "read") { record in
        if let command = unsafe ParsedCommand(record.view.value), command.userID == user {
            published.add(command)
        }
    }
    let story = UserStory(configuration, user: user, published: published)
    try input.run(context, "counted") { record in
        story.process(partition: record.view.partition, record.input)
    }
    for partition in story.partitions {
        // Not beyond what the group has done: what is live is told as live.
        let clock = ClockMetadata.clock(committed[partition]?.metadata)
        story.finish(partition: partition, at: clock ?? EventTime(milliseconds: 0))
    }
    return StoryText(
        story: story,
        published: published,
        choice: choice,
        committed: committed.mapValues { $0.offset ?? 0 }
    )
}
