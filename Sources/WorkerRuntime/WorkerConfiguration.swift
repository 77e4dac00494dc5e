package import ComboCore
package import ComboWire

/// What a worker needs to know: the settings of DESIGN's table that concern it.
package struct WorkerConfiguration: Sendable {
    /// Where a partition starts of which nothing was committed (`input.start`).
    package enum Start: Sendable {
        case earliest
        case latest
    }

    /// Consumer group (`group.id`).
    package var groupID = "giftcombo"
    /// This process among those of the group (`instance.id`).
    package var instanceID = "local"
    /// Topic of the gift events (`input.topic`).
    package var inputTopic = "gift.events"
    /// Topic of the overlay commands (`output.topic`).
    package var outputTopic = "overlay.commands"
    /// Topic of what could not be read (`dlq.topic`).
    package var deadLetterTopic = "gift.events.dlq"
    /// Topic of the keys' states (`changelog.topic`).
    package var changelogTopic = "giftcombo-combos"
    /// How combos are counted.
    package var combo = ComboConfiguration()
    /// How records are read.
    package var input = InputRules()
    /// Where a partition starts of which nothing was committed.
    package var start = Start.earliest
    /// How far behind the wall clock an idle partition's clock follows (`time.idle.grace`),
    /// milliseconds; nil: it follows records only.
    package var idleGrace: Int64? = 200
    /// When and how much is committed.
    package var commit = CommitPolicy()
    /// The producer's `transaction.timeout.ms`.
    package var transactionTimeout: Int32 = 10_000
    /// Whether the worker is done when it has processed what was there when it began.
    package var stopsAtEnd = false

    /// Creates the default configuration.
    package init() {}
}

/// When a transaction is committed (`commit.interval`, `commit.min.interval`, `commit.max.events`).
package struct CommitPolicy: Equatable, Sendable {
    /// How long a busy worker fills a transaction, milliseconds.
    package var interval: Int64 = 100
    /// How long a worker that has caught up does, milliseconds: the bound on transactions a second.
    package var minInterval: Int64 = 20
    /// Events after which a busy worker commits at once.
    package var maxEvents = 100_000

    /// Creates the default policy.
    package init() {}

    /// Milliseconds until a transaction that holds `events` and opened `openFor` ago may be
    /// committed; 0 or less: now.
    ///
    /// - Parameters:
    ///   - openFor: Milliseconds since its first record.
    ///   - sinceCommit: Milliseconds since the last commit.
    ///   - events: Input records in it.
    ///   - isCaughtUp: Whether nothing more is waiting in the log.
    /// - Returns: The time left, in milliseconds.
    func timeLeft(
        openFor: Int64,
        sinceCommit: Int64,
        events: Int,
        isCaughtUp: Bool
    ) -> Int64 {
        if events >= maxEvents { return 0 }
        // A quiet worker's first gift waits for nothing.
        if isCaughtUp { return minInterval - sinceCommit }
        return interval - openFor
    }
}
