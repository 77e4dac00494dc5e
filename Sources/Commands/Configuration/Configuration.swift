package import AdminServer
package import ComboCore

/// Everything that can be configured, checked and typed; ``ConfigurationTable`` says what it means.
///
/// Times are milliseconds, sizes bytes.
package struct Configuration: Equatable, Sendable {
    /// How combos are counted: the `combo.…` and `time.…` keys that the machine needs.
    package var combo = ComboConfiguration()
    /// How far behind the wall clock an idle partition's clock follows; nil: it never does.
    package var idleGrace: Int64?
    /// What is read, and from where.
    package var input = InputSettings()
    /// Which topics are read and written.
    package var topics = TopicNames()
    /// When a worker commits.
    package var commit = CommitSettings()
    /// The consumer group.
    package var groupID = ""
    /// This process among the group's; stable over its restarts.
    package var instanceID = ""
    /// Whether its members keep their partitions over a restart (Kafka's `group.instance.id`).
    package var isStaticMember = false
    /// Threads of the pool; nil: one per core, at most as many as the input has partitions.
    package var workers: Int?
    /// Where metrics and health are served; nil: nowhere.
    package var admin: ListenAddress?
    /// The overlay's gateway.
    package var overlay = OverlaySettings()
    /// How life is told.
    package var log = LogSettings()
    /// Settings of the client library, without their prefix `kafka.`; secrets in clear.
    package var kafka: [String: String] = [:]

    /// What is read from the input topic, and from where.
    package struct InputSettings: Equatable, Sendable {
        /// Where a partition without a committed offset starts.
        package enum Start: Sendable {
            case earliest
            case latest
        }

        /// Largest record value that is not refused.
        package var maxBytes: Int64 = 0
        /// Whether the record key must be the `user_id`.
        package var checksKey = true
        /// Where a partition without a committed offset starts.
        package var start = Start.earliest
        /// What the process may hold of records that were fetched ahead.
        package var prefetchBytes: Int64 = 0
    }

    /// The four topics.
    package struct TopicNames: Equatable, Sendable {
        /// Gift events.
        package var input = ""
        /// Overlay commands.
        package var output = ""
        /// Records that could not be read.
        package var deadLetters = ""
        /// State of the combos.
        package var changelog = ""
    }

    /// When a worker commits.
    package struct CommitSettings: Equatable, Sendable {
        /// The longest time between commits of a busy worker.
        package var interval: Int64 = 0
        /// The time between commits of a worker that has caught up.
        package var minInterval: Int64 = 0
        /// The most events of one transaction.
        package var maxEvents: Int64 = 0
    }

    /// How overlays are served.
    package struct OverlaySettings: Equatable, Sendable {
        /// Where; nil: the table's default was not read.
        package var listen: ListenAddress?
        /// Signs links; nil: nothing does.
        package var key: String?
        /// Overlays connected at a time.
        package var maxClients = 0
    }

    /// How life is told on standard error.
    package struct LogSettings: Equatable, Sendable {
        /// How a line looks.
        package enum Format: Sendable {
            case text
            case json
        }

        /// The least severity that is told.
        package enum Level: Sendable {
            case debug
            case info
            case warning
            case error
        }

        /// How a line looks.
        package var format = Format.text
        /// The least severity that is told.
        package var level = Level.info
    }
}
