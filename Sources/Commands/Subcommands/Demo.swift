internal import Glibc
internal import Synchronization
internal import Telemetry

/// `giftcombo demo`: everything in one process, to look at.
let demoCommand = Subcommand(
    name: "demo",
    summary: "watch combos being counted: broker, senders, workers and overlay in one process",
    operands: "",
    operandCount: 0...0,
    options: [
        Subcommand.Option("duration", value: "TIME", meaning: "end after this time, as 15s"),
        Subcommand.Option("rate", value: "N", meaning: "gift events a second, 1 to 2000 (20)"),
        Subcommand.Option("seed", value: "N", meaning: "other senders for another number (1)"),
        Subcommand.Option("slow", meaning: "one sender's story, step by step"),
        Subcommand.Option("lines", meaning: "commands as lines, on a terminal too"),
    ] + Subcommand.Option.configuration,
    details: """
        Shows the display lanes: a row appears with a combo's first gift, counts up, is hidden (-)
        after combo.hide.after, and goes on where it was (*) if a gift comes within
        combo.retain.for. Ctrl-C ends it. Without a terminal, commands go to standard output, a
        line each, as overlays read them. NO_COLOR is respected.

        At the end it checks what was published: the laws of the combo machine, that every gift was
        counted once, and that an offline replay of the same events gives the same commands. Exit
        code 0 means that all of it held.

        The overlay in a browser is at the address that the view shows: a list of the live rooms
        with their pages; overlay.listen, or another port where that is in use.

        The broker is the client library's pretended one: it proves nothing about exactly-once.
        The combo, time and overlay keys of the configuration hold; brokers, topics and workers are
        the demo's.
        """,
    run: demo
)

private func demo(
    _ arguments: ParsedArguments,
    _ context: CommandContext
) throws(CommandFailure) {
    let loaded = try context.configuration(from: arguments, groups: [.combo, .time, .overlay])
    guard !arguments.has("print-config") else {
        context.output.write(ConfigurationText.properties(of: loaded))
        return
    }
    let options: DemoOptions
    do {
        options = try DemoOptions(arguments, loaded.configuration)
    } catch {
        throw demoCommand.usage(error.messages[0])
    }
    // Before the client's threads start, for each inherits the mask.
    let signals = StopSignals()
    let lines = HeldLines()
    do {
        let text = try show(options, loaded, arguments, signals, lines, context)
        context.output.flush()
        context.tell(text)
    } catch {
        // What the workers logged explains a failure, and is of no interest otherwise.
        for line in lines.all { context.errors.write(line) }
        throw error
    }
}

private func show(
    _ options: DemoOptions,
    _ loaded: LoadedConfiguration,
    _ arguments: ParsedArguments,
    _ signals: StopSignals,
    _ lines: HeldLines,
    _ context: CommandContext
) throws(CommandFailure) -> String {
    let terminal = Terminal()
    let isOnScreen =
        !options.isSlow && !arguments.has("lines") && Terminal.isAvailable(context.environment)
    let view: DemoView
    if options.isSlow {
        view = .story(StoryTeller(combo: options.combo))
    } else if isOnScreen {
        let isColoured = context.environment["NO_COLOR", default: ""].isEmpty
        view = .screen(terminal, DemoScreen(isColoured: isColoured))
    } else {
        view = .lines
    }
    // At once, so that a second signal, which ends the process on the spot, finds it done.
    signals.start { _ in terminal.leave() }
    if isOnScreen { terminal.enter() }
    defer { terminal.leave() }
    let log = Logger(minimumLevel: .info, sink: { lines.add($0) })
    let pool: EmbeddedPool
    do {
        pool = try EmbeddedPool(options.combo, idleGrace: options.idleGrace, log: log)
    } catch {
        throw CommandFailure(.failure, "the embedded broker: \(error)")
    }
    let overlay = try EmbeddedOverlay(
        loaded.configuration,
        isChosen: loaded.settings.contains {
            $0.key == "overlay.listen" && $0.source != .defaultValue
        },
        pool,
        log: log
    )
    defer { overlay.stop() }
    if !isOnScreen { context.tell("the overlay: \(overlay.address)") }
    let run = DemoRun(options, pool, view, signals, context, overlay: overlay.address)
    return try run.run()
}

/// The last lines of a log that is shown only if something fails.
private final class HeldLines: Sendable {
    private let lines = Mutex<[String]>([])
    private static let capacity = 50

    func add(_ line: String) {
        lines.withLock { lines in
            if lines.count == Self.capacity { lines.removeFirst() }
            lines.append(line)
        }
    }

    var all: [String] { lines.withLock { $0 } }
}
