internal import Glibc

/// The version of the program.
package let programVersion = "0.1.0"

/// Every subcommand, in the order of help.
package let subcommands: [Subcommand] = [
    runCommand, overlayCommand, checkCommand, topicsCommand, replayCommand, verifyCommand,
    explainCommand, stateCommand, generateCommand, demoCommand, simulateCommand, benchCommand,
]

/// Runs the program: parses the arguments behind its name, and does what they say.
///
/// - Returns: the exit code.
package func runCommandLine(_ arguments: [String]) -> Int32 {
    // A reader of our output that goes away is told by write(), not by a signal that kills.
    signal(SIGPIPE, SIG_IGN)
    return run(arguments.dropFirst(), CommandContext.ofProcess()).rawValue
}

/// Runs the program in a context; what it has to say is written when it returns.
package func run(_ arguments: some Collection<String>, _ context: CommandContext) -> ExitCode {
    do {
        try dispatch(arguments, context)
    } catch {
        context.output.flush()
        for message in error.messages {
            context.tell(message)
        }
        return error.exitCode
    }
    context.output.flush()
    if case .system(let detail) = context.output.failure {
        context.tell("standard output: \(detail)")
        return .failure
    }
    return .success
}

private func dispatch(
    _ arguments: some Collection<String>,
    _ context: CommandContext
) throws(CommandFailure) {
    guard let first = arguments.first else {
        throw CommandFailure(.usage, "a subcommand is missing; `giftcombo --help` lists them")
    }
    switch first {
    case "--help", "-h": context.output.write(programHelp())
    case "--version": context.output.write("giftcombo \(programVersion)\n")
    case "help": try help(arguments.dropFirst(), context)
    default:
        let command = try subcommand(named: first)
        guard let parsed = try command.parse(arguments.dropFirst()) else {
            context.output.write(command.helpText)
            return
        }
        try command.run(parsed, context)
    }
}

private func help(
    _ arguments: some Collection<String>,
    _ context: CommandContext
) throws(CommandFailure) {
    let topics = Array(arguments)
    switch topics.first {
    case nil, "help", "--help", "-h": context.output.write(programHelp())
    case "config" where topics.count == 1: context.output.write(ConfigurationText.helpText())
    case "config" where topics == ["config", "--markdown"]:
        context.output.write(ConfigurationText.markdownTable())
    case "config":
        throw CommandFailure(.usage, "help config: unexpected argument \"\(topics[1])\"")
    case .some(let name): context.output.write(try subcommand(named: name).helpText)
    }
}

private func subcommand(named name: String) throws(CommandFailure) -> Subcommand {
    if let command = subcommands.first(where: { $0.name == name }) {
        return command
    }
    let names = subcommands.map(\.name) + ["help", "--help", "--version"]
    throw CommandFailure(
        .usage,
        "no subcommand \(name)\(nearestHint(to: name, among: names)); "
            + "`giftcombo --help` lists them"
    )
}

private func programHelp() -> String {
    let commands =
        subcommands.map { ($0.name, $0.summary) }
        + [
            ("help NAME", "help for a subcommand, as NAME --help"),
            ("help config", "every key of the configuration; --markdown for the README's table"),
        ]
    let exitCodes = ExitCode.allCases.map { (String($0.rawValue), $0.meaning) }
    return """
        usage: giftcombo SUBCOMMAND [options]
               giftcombo --help | --version

        Counts gift combos from Kafka and tells overlays what to show, exactly once.

        subcommands:
        \(alignedRows(commands))
        exit codes:
        \(alignedRows(exitCodes))
        """
}
