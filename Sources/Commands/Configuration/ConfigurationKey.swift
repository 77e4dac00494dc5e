/// One key of the configuration: everything that parsing, help, errors and the README need of it.
package struct ConfigurationKey: Sendable {
    /// What a key is about; its name's first word mostly says the same.
    package enum Group: Sendable {
        case kafka
        case member
        case topics
        case commit
        case combo
        case time
        case input
        case overlay
        case admin
        case log
    }

    /// What holds where a key is not given.
    package enum Default: Sendable {
        /// This text.
        case text(String)
        /// What follows from other keys and the machine; nil: decided later, as `meaning` says.
        case derived(
            meaning: String,
            value: @Sendable (Configuration, Machine) -> String?
        )
        /// Nothing: commands that need the key refuse to start.
        case none
    }

    /// The name, as `combo.hide.after`.
    package let name: String
    /// What it is about.
    package let group: Group
    /// What is allowed, in words.
    package let allowed: String
    /// What holds where it is not given.
    package let defaultValue: Default
    /// What it means, in a phrase for tables.
    package let meaning: String
    /// Whether its value is shown to no one.
    package let isSecret: Bool

    /// Stores a value; false: the text is not allowed.
    let assign: @Sendable (inout Configuration, String) -> Bool

    init<Value>(
        _ name: String,
        _ group: Group,
        _ type: ValueType<Value>,
        default defaultValue: Default,
        _ meaning: String,
        isSecret: Bool = false,
        store: @escaping @Sendable (inout Configuration, Value) -> Void
    ) {
        self.name = name
        self.group = group
        self.allowed = type.allowed
        self.defaultValue = defaultValue
        self.meaning = meaning
        self.isSecret = isSecret
        let read = type.read
        self.assign = { configuration, text in
            guard let value = read(text) else { return false }
            store(&configuration, value)
            return true
        }
    }

    /// The environment variable that gives the key: `GIFTCOMBO_COMBO_HIDE_AFTER`.
    package var environmentVariable: String {
        EnvironmentNames.variable(of: name)
    }
}

/// What defaults need to know of the machine.
package struct Machine: Sendable {
    /// The host's name; a container's is its pod's.
    package var hostName: String

    /// Creates a description of the machine.
    package init(hostName: String) {
        self.hostName = hostName
    }
}

/// The map between keys and environment variables, which loses nothing.
///
/// A dot is an underscore; an underscore (some of the client library's names hold one) is two.
package enum EnvironmentNames {
    /// What every variable of ours starts with.
    package static let prefix = "GIFTCOMBO_"

    /// The variable of a key.
    package static func variable(of key: String) -> String {
        var name = prefix
        for character in key {
            switch character {
            case ".": name.append("_")
            case "_": name.append("__")
            default: name.append(contentsOf: character.uppercased())
            }
        }
        return name
    }

    /// The key of a variable; nil: the variable is none of ours.
    ///
    /// Kubernetes puts the address of every service of the namespace into the environment, so a
    /// service that is called `giftcombo` or `giftcombo-overlay` makes variables that look like
    /// ours; no key of ours ends as they do.
    package static func key(of variable: String) -> String? {
        guard variable.hasPrefix(prefix), variable != brokerFolder, !isServiceLink(variable)
        else { return nil }
        var key = ""
        var wasUnderscore = false
        for character in variable.dropFirst(prefix.count) {
            if character == "_" {
                if wasUnderscore {
                    key.append("_")
                }
                wasUnderscore.toggle()
                continue
            }
            if wasUnderscore {
                key.append(".")
                wasUnderscore = false
            }
            key.append(contentsOf: character.lowercased())
        }
        return key
    }

    /// Names the folder of the broker that the project's own scripts start; no key.
    private static let brokerFolder = prefix + "KAFKA"

    private static func isServiceLink(_ variable: String) -> Bool {
        let words = variable.split(separator: "_")
        if words.last == "PORT" || words.suffix(2) == ["SERVICE", "HOST"] {
            return true
        }
        // …_SERVICE_PORT_HTTP, …_PORT_9464_TCP, …_PORT_9464_TCP_ADDR
        return words.indices.dropLast().contains { index in
            words[index] == "PORT"
                && (words[index - 1] == "SERVICE" || words[index + 1].allSatisfy(\.isNumber))
        }
    }
}
