/// One subcommand: everything that parsing, help and running need of it.
package struct Subcommand: Sendable {
    /// An option with or without a value.
    package struct Option: Sendable {
        /// The name without its dashes: `dead-letters`.
        package let name: String
        /// A letter that stands for the name: `c` for `-c`.
        package let letter: Character?
        /// What the value is, as help shows it: `FILE`; nil: the option has none.
        package let placeholder: String?
        /// What it means, in a phrase for help.
        package let meaning: String
        /// Whether it may be given more than once.
        package let repeats: Bool

        init(
            _ name: String,
            letter: Character? = nil,
            value placeholder: String? = nil,
            repeats: Bool = false,
            meaning: String
        ) {
            self.name = name
            self.letter = letter
            self.placeholder = placeholder
            self.meaning = meaning
            self.repeats = repeats
        }

        /// As in a message: `--dead-letters FILE`.
        var spelling: String {
            let long = "--\(name)" + (placeholder.map { " \($0)" } ?? "")
            return letter.map { "-\($0), \(long)" } ?? long
        }

        static let help = Option("help", letter: "h", meaning: "show this help")
        /// What every subcommand that has a configuration takes.
        static let configuration = [
            Option("config", letter: "c", value: "FILE", meaning: "a .properties file"),
            Option("set", value: "KEY=VALUE", repeats: true, meaning: "set one key"),
            Option("print-config", meaning: "print every key with its value and source, and end"),
        ]
    }

    /// What it is called on the command line.
    package let name: String
    /// What it does, in a phrase for the list of subcommands.
    package let summary: String
    /// How its operands are written in help: `FILE…|-`.
    package let operands: String
    /// How many operands there may be.
    package let operandCount: ClosedRange<Int>
    /// The options besides `--help`.
    package let options: [Option]
    /// Paragraphs for its help.
    package let details: String
    /// Does the work; returning is success.
    let run: @Sendable (ParsedArguments, CommandContext) throws(CommandFailure) -> Void
}

/// A subcommand's options and operands as given.
package struct ParsedArguments: Equatable, Sendable {
    fileprivate var given: [String: [String]] = [:]
    /// What is no option, in order.
    package fileprivate(set) var operands: [String] = []

    /// Whether the option was given.
    package func has(_ option: String) -> Bool {
        given[option] != nil
    }

    /// The option's only value; nil: not given.
    package func value(of option: String) -> String? {
        given[option]?.last
    }

    /// All values of an option that repeats, in order.
    package func values(of option: String) -> [String] {
        given[option] ?? []
    }
}

extension Subcommand {
    /// Reads arguments by the table of options; `--help` anywhere wins over every mistake.
    ///
    /// - Returns: nil if help is asked for.
    func parse(_ arguments: some Sequence<String>) throws(CommandFailure) -> ParsedArguments? {
        let rest = Array(arguments)
        let end = rest.firstIndex(of: "--") ?? rest.count
        if rest[..<end].contains(where: { $0 == "--help" || $0 == "-h" }) { return nil }
        var parsed = ParsedArguments()
        var index = 0
        while index < end {
            let argument = rest[index]
            index += 1
            guard argument.hasPrefix("-"), argument != "-" else {
                parsed.operands.append(argument)
                continue
            }
            let (option, attached) = try option(of: argument)
            var value = attached
            if option.placeholder != nil, value == nil {
                guard index < end else {
                    throw usage("\(option.spelling): the value is missing")
                }
                value = rest[index]
                index += 1
            } else if option.placeholder == nil, value != nil {
                throw usage("--\(option.name) takes no value")
            }
            guard option.repeats || !parsed.has(option.name) else {
                throw usage("\(option.spelling) is given twice")
            }
            parsed.given[option.name, default: []].append(value ?? "")
        }
        parsed.operands.append(contentsOf: rest[min(end + 1, rest.count)...])
        if parsed.operands.count < operandCount.lowerBound {
            throw usage("\(operands) is missing")
        }
        if parsed.operands.count > operandCount.upperBound {
            throw usage("unexpected argument \"\(parsed.operands[operandCount.upperBound])\"")
        }
        return parsed
    }

    /// The option that an argument names, and the value behind its `=`.
    private func option(
        of argument: String
    )
        throws(CommandFailure) -> (option: Option, attached: String?)
    {
        guard argument.hasPrefix("--") else {
            let letter = argument.dropFirst().first
            guard let option = options.first(where: { $0.letter == letter }) else {
                throw usage("no option \(argument)")
            }
            let attached = argument.dropFirst(2)
            return (option, attached.isEmpty ? nil : String(attached))
        }
        let equals = argument.firstIndex(of: "=")
        let name = argument[..<(equals ?? argument.endIndex)].dropFirst(2)
        guard let option = options.first(where: { $0.name == name }) else {
            let names = (options + [.help]).map { "--\($0.name)" }
            throw usage("no option --\(name)\(nearestHint(to: "--\(name)", among: names))")
        }
        return (option, equals.map { String(argument[argument.index(after: $0)...]) })
    }

    /// Wrong usage of this subcommand, with the way to its help.
    func usage(_ message: String) -> CommandFailure {
        var failure = CommandFailure(.usage, "\(name): \(message)")
        failure.messages.append("`giftcombo \(name) --help` lists its options")
        return failure
    }

    /// What `--help` prints.
    package var helpText: String {
        let syntax = operands.isEmpty ? "" : " \(operands)"
        var text = "usage: giftcombo \(name) [options]\(syntax)\n\n\(summary)\n"
        if !details.isEmpty {
            text += "\n\(details)\n"
        }
        return text + "\noptions:\n"
            + alignedRows((options + [.help]).map { ($0.spelling, $0.meaning) })
    }
}

/// Two columns, the first as wide as its widest entry.
func alignedRows(_ rows: [(String, String)]) -> String {
    let width = rows.map(\.0.count).max() ?? 0
    return rows.map { left, right in
        "  \(left)\(String(repeating: " ", count: width - left.count))  \(right)\n"
    }
    .joined()
}
