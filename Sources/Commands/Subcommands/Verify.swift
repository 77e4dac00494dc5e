/// `giftcombo verify`: what a group has published against what its input gives.
let verifyCommand = Subcommand(
    name: "verify",
    summary: "compare what was published with an offline replay of the same input",
    operands: "",
    operandCount: 0...0,
    options: Subcommand.Option.configuration + [
        Subcommand.Option(
            "since",
            value: "TIME",
            meaning: "compare newer combos only; epoch milliseconds, or 2026-01-31T20:00:00Z"
        )
    ],
    details: """
        Reads the input up to the offsets that the group has committed, counts it without Kafka, and
        compares every command and dead letter with what lies in the topics, combo by combo. Prints
        the first differences with both records, and ends with 1 if there is any.

        With time.idle.grace=off the commands follow from the input alone, and must be equal. With
        the idle clock on, the wall clock has had a say in when combos ended, so the laws that hold
        of every combo are checked: numbers 1, 2, 3 without a gap or a repeat, counts that follow
        from each other and never fall, as many show as hide. The configuration must be the group's.

        Stop the group for a complete comparison: of partitions that it works on meanwhile, what is
        newer than the replay is not looked at. Records without a usable time counted when they
        arrived, which nobody has kept: they are listed, and their senders' combos left out.
        Where retention has cut the topics, --since says from when on to compare.
        """,
    run: { arguments, context throws(CommandFailure) in
        let loaded = try context.configuration(from: arguments)
        guard !arguments.has("print-config") else {
            context.output.write(ConfigurationText.properties(of: loaded))
            return
        }
        var since: Int64?
        if let text = arguments.value(of: "since") {
            since = try verifyCommand.time(text, of: "since")
        }
        let verification = Verification(loaded.configuration, since: since, context)
        try report(verification.run(), isExact: verification.isExact, context)
    }
)

private func report(
    _ report: Verification.Report,
    isExact: Bool,
    _ context: CommandContext
) throws(CommandFailure) {
    let output = context.output
    let shownRecords = 5
    for record in report.omittedRecords.prefix(shownRecords) {
        output.write("left out: record \(record.partition)-\(record.offset): \(record.reason)\n")
    }
    if report.omittedRecords.count > shownRecords {
        output.write("left out: \(report.omittedRecords.count) records in all\n")
    }
    if report.omittedCombos > 0 {
        output.write("left out: \(report.omittedCombos) combos\n")
    }
    if !report.aheadPartitions.isEmpty {
        let list = report.aheadPartitions.map { String($0) }.joined(separator: ", ")
        output.write("worked on meanwhile: partitions \(list)\n")
    }
    for difference in report.differences { output.write("\(difference)\n") }
    let how = isExact ? "equal to the replay" : "keep the laws (time.idle.grace is on)"
    output.write(
        "\(report.combos) combos; \(report.matched) commands \(how)"
            + (isExact ? "; \(report.deadLetters) dead letters" : "") + "\n"
    )
    output.flush()
    guard report.differenceCount > 0 else { return }
    throw CommandFailure(.failure, "\(report.differenceCount) differences")
}

extension Subcommand {
    /// A moment that an option gives, epoch milliseconds.
    func time(_ text: String, of option: String) throws(CommandFailure) -> Int64 {
        if let time = parseTime(text) { return time }
        throw usage(
            "--\(option) \(text): epoch milliseconds or a time as 2026-01-31T20:00:00Z needed"
        )
    }
}

/// Epoch milliseconds, from digits or an RFC 3339 time in UTC; nil: neither.
func parseTime(_ text: String) -> Int64? {
    if let milliseconds = Int64(text) { return milliseconds >= 0 ? milliseconds : nil }
    guard text.hasSuffix("Z") else { return nil }
    let parts = text.dropLast().split(separator: "T", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    let date = parts[0].split(separator: "-", omittingEmptySubsequences: false).map { Int64($0) }
    let clock = parts[1].split(separator: ":", omittingEmptySubsequences: false).map { Int64($0) }
    guard date.count == 3, clock.count == 3, let year = date[0], let month = date[1],
        let day = date[2], let hour = clock[0], let minute = clock[1], let second = clock[2],
        (1970...9999).contains(year), (1...12).contains(month), (1...31).contains(day),
        (0...23).contains(hour), (0...59).contains(minute), (0...59).contains(second)
    else { return nil }
    // Days since 0000-03-01, with the year from March on: its leap day is the last of its year.
    let (fromMarch, yearFromMarch) = ((month + 9) % 12, month > 2 ? year : year - 1)
    let days =
        365 * yearFromMarch + yearFromMarch / 4 - yearFromMarch / 100 + yearFromMarch / 400
        + (153 * fromMarch + 2) / 5 + day - 1 - 719_468
    return ((days * 24 + hour) * 60 + minute) * 60_000 + second * 1000
}
