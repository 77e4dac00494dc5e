/// How the program ends.
package enum ExitCode: Int32, CaseIterable, Sendable {
    case success = 0
    case failure = 1
    case usage = 2
    case instanceInUse = 65
    case topicCutOff = 66
    case stuck = 67
    case changelogTooSmall = 68

    /// What it means, in a phrase for help.
    package var meaning: String {
        switch self {
        case .success: "fine"
        case .failure: "failed"
        case .usage: "wrong usage or configuration"
        case .instanceInUse: "another live process uses the same instance.id"
        case .topicCutOff: "a position is above its partition's end: topic recreated or truncated"
        case .stuck: "the watchdog ended a process that a library call kept stuck"
        case .changelogTooSmall: "an input partition has no changelog partition"
        }
    }
}

/// Why a subcommand ends without success.
package struct CommandFailure: Error, Equatable, Sendable {
    /// How the program ends.
    package var exitCode: ExitCode
    /// What is told on standard error, a line each.
    package var messages: [String]

    /// Creates a failure with one message.
    package init(_ exitCode: ExitCode, _ message: String) {
        self.exitCode = exitCode
        messages = [message]
    }

    /// A configuration's mistakes are wrong usage.
    init(_ error: ConfigurationError) {
        exitCode = .usage
        messages = error.problems
    }
}
