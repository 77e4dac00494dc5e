internal import ComboCore

/// Where a value was given.
package enum ConfigurationSource: Equatable, Sendable, CustomStringConvertible {
    case defaultValue
    case file(path: String, line: Int)
    case environment(variable: String)
    /// The `config` of a conformance document.
    case document(path: String)
    case option

    package var description: String {
        switch self {
        case .defaultValue: "default"
        case .file(let path, let line): "\(path):\(line)"
        case .environment(let variable): "environment variable \(variable)"
        case .document(let path): "config in \(path)"
        case .option: "--set"
        }
    }
}

/// Everything that is wrong with a configuration, each mistake a line for people.
package struct ConfigurationError: Error, Equatable, Sendable {
    /// Each names the key, where the value was given, the value and what is allowed.
    package var problems: [String]
}

/// What the configuration is made of, in the order in which later ones win.
package struct ConfigurationSources: Sendable {
    /// The path of a `.properties` file.
    package var file: String?
    /// All environment variables; those that are none of ours are left alone.
    package var environment: [String: String] = [:]
    /// What a conformance document sets, and its path.
    package var document: (path: String, values: [(key: String, value: String)])?
    /// The values of `--set`: `key=value`.
    package var options: [String] = []
    /// The groups that `--set` may give; nil: all.
    package var optionGroups: [ConfigurationKey.Group]?
    /// Whether `kafka.bootstrap.servers` has to be given.
    package var needsBrokers = false
    /// What defaults need to know.
    package var machine: Machine

    /// Creates sources that give nothing but defaults.
    package init(machine: Machine) {
        self.machine = machine
    }
}

/// A configuration and where each of its values came from.
package struct LoadedConfiguration: Sendable {
    /// One value that is in force.
    package struct Setting: Equatable, Sendable {
        /// The key's name.
        package var key: String
        /// As given, without white space around it; nil: decided later.
        package var value: String?
        /// Where it was given.
        package var source: ConfigurationSource
    }

    /// The values, checked and typed.
    package let configuration: Configuration
    /// Every key of the table in its order, then the client library's settings by name.
    package let settings: [Setting]

    /// Reads all sources and checks what they say; all mistakes are told at once.
    package init(_ sources: ConfigurationSources) throws(ConfigurationError) {
        var loader = ConfigurationLoader(sources: sources)
        loader.load()
        guard loader.problems.isEmpty else { throw ConfigurationError(problems: loader.problems) }
        configuration = loader.configuration
        settings = loader.settings()
    }
}

/// Applies one source after another to a configuration.
private struct ConfigurationLoader {
    let sources: ConfigurationSources
    var configuration = Configuration()
    var problems: [String] = []
    private var given: [String: (value: String, source: ConfigurationSource)] = [:]

    init(sources: ConfigurationSources) {
        self.sources = sources
    }

    mutating func load() {
        for key in ConfigurationTable.keys {
            guard case .text(let text) = key.defaultValue else { continue }
            let isAllowed = key.assign(&configuration, text)
            precondition(isAllowed, "the default of \(key.name) is not allowed")
        }
        loadFile()
        loadEnvironment()
        if let document = sources.document {
            for (key, value) in document.values {
                set(key, to: value, source: .document(path: document.path))
            }
        }
        loadOptions()
        deriveDefaults()
        // A relation between two values says nothing as long as one of them is a mistake.
        if problems.isEmpty {
            problems = configuration.contradictions()
        }
        if sources.needsBrokers, (configuration.kafka["bootstrap.servers"] ?? "").isEmpty {
            let name = ConfigurationTable.bootstrapServers
            let variable = EnvironmentNames.variable(of: name)
            problems.append(
                "\(name) is required: set it in the file of -c, as \(variable), or by "
                    + "--set \(name)=HOST:PORT"
            )
        }
    }

    /// What is in force, in the table's order.
    func settings() -> [LoadedConfiguration.Setting] {
        let names = ConfigurationTable.keys.map(\.name) + kafkaNames()
        return names.map { name in
            if let (value, source) = given[name] {
                return LoadedConfiguration.Setting(key: name, value: value, source: source)
            }
            let key = ConfigurationTable.key(named: name)
            let value = key.flatMap { defaultText(of: $0) }
            return LoadedConfiguration.Setting(key: name, value: value, source: .defaultValue)
        }
    }

    private func kafkaNames() -> [String] {
        given.keys.filter { $0.hasPrefix(ConfigurationTable.kafkaPrefix) }.sorted()
    }

    private func defaultText(of key: ConfigurationKey) -> String? {
        switch key.defaultValue {
        case .text(let text): text
        case .derived(_, let value): value(configuration, sources.machine)
        case .none: nil
        }
    }

    private mutating func loadFile() {
        guard let path = sources.file else { return }
        let bytes: [UInt8]
        do {
            bytes = try readSmallFile(path)
        } catch {
            problems.append("\(path): \(error.detail)")
            return
        }
        let (entries, mistakes) = PropertiesFile.parse(bytes)
        for mistake in mistakes {
            problems.append("\(path):\(mistake.line): \(mistake.detail)")
        }
        var lines: [String: Int] = [:]
        for entry in entries {
            let source = ConfigurationSource.file(path: path, line: entry.line)
            let key = ConfigurationTable.secretReadFromFile(by: entry.key) ?? entry.key
            if let first = lines[key] {
                problems.append("\(entry.key) (\(source)): given in line \(first) already")
                continue
            }
            lines[key] = entry.line
            set(entry.key, to: entry.value, source: source)
        }
    }

    private mutating func loadEnvironment() {
        for variable in sources.environment.keys.sorted() {
            guard let key = EnvironmentNames.key(of: variable),
                let value = sources.environment[variable]
            else { continue }
            set(key, to: value, source: .environment(variable: variable))
        }
    }

    private mutating func loadOptions() {
        for option in sources.options {
            guard let equals = option.firstIndex(of: "=") else {
                // Only its first word: what follows may be a secret.
                let word = option.prefix { $0 != " " }
                problems.append("--set \(word): not KEY=VALUE")
                continue
            }
            let name = String(trimmed(option[..<equals]))
            if let groups = sources.optionGroups, let key = ConfigurationTable.key(named: name),
                !groups.contains(key.group)
            {
                let allowed = groups.map { "\($0).…" }.joined(separator: ", ")
                problems.append("\(name) (--set): has no effect here; allowed: \(allowed)")
                continue
            }
            set(name, to: String(option[option.index(after: equals)...]), source: .option)
        }
    }

    private mutating func set(_ name: String, to text: String, source: ConfigurationSource) {
        let value = String(trimmed(text[...]))
        if let secret = ConfigurationTable.secretReadFromFile(by: name) {
            setSecret(secret, fromFile: value, source: source)
            return
        }
        if name.hasPrefix(ConfigurationTable.kafkaPrefix) {
            let setting = String(name.dropFirst(ConfigurationTable.kafkaPrefix.count))
            guard !setting.isEmpty else {
                problems.append("\(name) (\(source)): names no setting")
                return
            }
            configuration.kafka[setting] = value
            given[name] = (value, source)
            return
        }
        guard let key = ConfigurationTable.key(named: name) else {
            problems.append("\(name) (\(source)): no such key\(hint(for: name, source: source))")
            return
        }
        guard key.assign(&configuration, value) else {
            let shown = key.isSecret ? hiddenSecret : value
            problems.append(
                "\(name) (\(source)) = \"\(shown)\": not allowed; allowed: \(key.allowed)"
            )
            return
        }
        given[name] = (value, source)
    }

    /// Takes a secret from a file, whose last line end is not part of it.
    private mutating func setSecret(
        _ name: String,
        fromFile path: String,
        source: ConfigurationSource
    ) {
        let suffixed = name + ConfigurationTable.fileSuffix
        do {
            var bytes = try readSmallFile(path)
            if bytes.last == 0x0A {
                bytes.removeLast()
                if bytes.last == 0x0D {
                    bytes.removeLast()
                }
            }
            guard let text = String(validating: bytes, as: UTF8.self), !text.contains("\0") else {
                problems.append("\(suffixed) (\(source)) = \"\(path)\": the file is no UTF-8 text")
                return
            }
            guard !text.isEmpty else {
                problems.append("\(suffixed) (\(source)) = \"\(path)\": the file is empty")
                return
            }
            // A key or a certificate has many lines, a password only by mistake.
            guard !name.contains("password") || !text.contains(where: \.isNewline) else {
                problems.append(
                    "\(suffixed) (\(source)) = \"\(path)\": the file has more than one line"
                )
                return
            }
            set(name, to: text, source: source)
        } catch {
            problems.append("\(suffixed) (\(source)) = \"\(path)\": \(error.detail)")
        }
    }

    private func hint(for name: String, source: ConfigurationSource) -> String {
        let names = ConfigurationTable.keys.map(\.name) + [ConfigurationTable.bootstrapServers]
        guard let nearest = nearestName(to: name, among: names) else {
            return "; `giftcombo help config` lists them"
        }
        if case .environment = source {
            return "; nearest: \(EnvironmentNames.variable(of: nearest))"
        }
        return "; nearest: \(nearest)"
    }

    private mutating func deriveDefaults() {
        for key in ConfigurationTable.keys where given[key.name] == nil {
            guard case .derived(let meaning, let value) = key.defaultValue,
                let text = value(configuration, sources.machine)
            else { continue }
            if !key.assign(&configuration, text) {
                problems.append(
                    "\(key.name) (default, \(meaning)) = \"\(text)\": not allowed; set it; "
                        + "allowed: \(key.allowed)"
                )
            }
        }
    }
}

/// What stands in the place of a secret.
let hiddenSecret = "****"

extension Configuration {
    /// What each value allows but not all of them together, a line for people each.
    fileprivate func contradictions() -> [String] {
        var problems: [String] = []
        if commit.minInterval > commit.interval {
            problems.append(
                "commit.min.interval (\(commit.minInterval)ms) is longer than commit.interval "
                    + "(\(commit.interval)ms)"
            )
        }
        let timeout = kafka["transaction.timeout.ms"].flatMap { Int64($0) } ?? 10_000
        if commit.interval > timeout / 2 {
            problems.append(
                "commit.interval (\(commit.interval)ms) is longer than half of "
                    + "kafka.transaction.timeout.ms (\(timeout)): the broker would abort "
                    + "transactions that are still being filled"
            )
        }
        let names = [
            ("input.topic", topics.input), ("output.topic", topics.output),
            ("dlq.topic", topics.deadLetters), ("changelog.topic", topics.changelog),
        ]
        for (index, (key, topic)) in names.enumerated() {
            for (other, otherTopic) in names[..<index] where topic == otherTopic {
                problems.append("\(key) and \(other) are the same topic, \(topic)")
            }
        }
        return problems
    }
}
