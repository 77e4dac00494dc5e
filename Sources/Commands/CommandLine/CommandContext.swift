internal import Glibc

/// What a subcommand has of the world around it.
package struct CommandContext {
    /// Standard output.
    package let output: Output
    /// Standard error.
    package let errors: Output
    /// The environment variables.
    package let environment: [String: String]
    /// What defaults need to know of the machine.
    package let machine: Machine

    /// Creates a context.
    package init(
        output: Output,
        errors: Output,
        environment: [String: String],
        machine: Machine
    ) {
        self.output = output
        self.errors = errors
        self.environment = environment
        self.machine = machine
    }

    /// The process's own context.
    static func ofProcess() -> CommandContext {
        CommandContext(
            output: Output(standard: STDOUT_FILENO),
            errors: Output(standard: STDERR_FILENO),
            environment: processEnvironment(),
            machine: Machine(hostName: hostName())
        )
    }

    /// Tells a line on standard error, at once.
    package func tell(_ message: String) {
        errors.write("giftcombo: \(message)\n")
        errors.flush()
    }

    /// The configuration of a subcommand that takes ``Subcommand/Option/configuration``.
    ///
    /// - Parameters:
    ///   - arguments: The subcommand's options as given.
    ///   - groups: What `--set` may give; nil: everything.
    ///   - document: What a conformance document sets.
    /// - Returns: the values with their sources.
    /// - Throws: all mistakes at once, as wrong usage.
    func configuration(
        from arguments: ParsedArguments,
        groups: [ConfigurationKey.Group]? = nil,
        document: (path: String, values: [(key: String, value: String)])? = nil
    ) throws(CommandFailure) -> LoadedConfiguration {
        var sources = ConfigurationSources(machine: machine)
        sources.file = arguments.value(of: "config")
        sources.environment = environment
        sources.document = document
        sources.options = arguments.values(of: "set")
        sources.optionGroups = groups
        do {
            return try LoadedConfiguration(sources)
        } catch {
            throw CommandFailure(error)
        }
    }
}

/// The environment variables as the process was started with.
///
/// From `/proc`, as the C variable `environ` is shared mutable state.
private func processEnvironment() -> [String: String] {
    guard let bytes = try? readSmallFile("/proc/self/environ") else { return [:] }
    var environment: [String: String] = [:]
    for entry in bytes.split(separator: 0) {
        let text = String(decoding: entry, as: UTF8.self)
        guard let equals = text.firstIndex(of: "=") else { continue }
        environment[String(text[..<equals])] = String(text[text.index(after: equals)...])
    }
    return environment
}

private func hostName() -> String {
    var name = [CChar](repeating: 0, count: 256)
    guard unsafe gethostname(&name, name.count - 1) == 0 else { return "localhost" }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
