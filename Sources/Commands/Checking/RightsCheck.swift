internal import KafkaClient
internal import StreamPorts
internal import WorkerRuntime

/// Whether the user may do what `run` does, as far as that can be tried without doing it.
struct RightsCheck {
    private static let timeout: Int32 = 5000
    /// How long a record or an end may take to come, milliseconds.
    private static let patience: Int64 = 10_000
    /// The largest record that is sent to see it refused, bytes; the client takes no larger ones.
    private static let largestProbe = 16_000_000
    /// What a topic whose settings can't be seen takes at most, bytes: twice what
    /// `giftcombo topics` gives.
    private static let usualLimit = 4_194_304

    let configuration: Configuration
    let settings: KafkaSettings
    let remedy: Remedy

    /// What the probe's transactions are called, beside the workers' ids that end in numbers.
    static func transactionalID(_ configuration: Configuration) -> String {
        "\(configuration.groupID)-\(configuration.instanceID)-check"
    }

    /// Tries everything on those topics that are there.
    func check(
        _ topics: [TopicDescription],
        _ makeProbe: () throws(StreamError) -> RightsProbe
    ) -> [Finding] {
        var findings: [Finding] = []
        let visible = topics.filter { !$0.partitions.isEmpty }
        for topic in visible where ["input.topic", "changelog.topic"].contains(topic.key) {
            let attempt = { () throws(StreamError) in try read(topic.name, reader(of: topic)) }
            findings.append(finding(topic.name, "be read", "Read", topic: topic.name, attempt))
        }
        let id = Self.transactionalID(configuration)
        let begin = { () throws(StreamError) in try probing(makeProbe) { _ in } }
        findings.append(finding(id, "begin transactions", "Write", begin))
        guard findings.last?.verdict == .ok else { return findings }
        for topic in visible where topic.key != "input.topic" {
            findings.append(write(topic, makeProbe))
        }
        if let input = visible.first, input.key == "input.topic" {
            let group = configuration.groupID
            let commit = { () throws(StreamError) in
                try probing(makeProbe) { (probe) throws(StreamError) in
                    try probe.commitOffset(of: input.name, group: group)
                }
            }
            findings.append(finding(group, "commit offsets", "Read", topic: input.name, commit))
        }
        return findings
    }

    /// Tries one thing with a producer of its own.
    private func probing(
        _ makeProbe: () throws(StreamError) -> RightsProbe,
        _ attempt: (RightsProbe) throws(StreamError) -> Void
    ) throws(StreamError) {
        let probe = try makeProbe()
        defer { probe.close(timeoutMilliseconds: 1000) }
        try probe.beginTransactions()
        try attempt(probe)
    }

    private func write(
        _ topic: TopicDescription,
        _ makeProbe: () throws(StreamError) -> RightsProbe
    ) -> Finding {
        let limit = topic.number("max.message.bytes").map { Int($0) } ?? Self.usualLimit
        guard limit < Self.largestProbe else {
            let reason = "it takes records of any size (max.message.bytes)"
            let detail = "whether \(topic.name) may be written is not tried, as \(reason)"
            return Finding(.warning, "rights", detail)
        }
        return finding(topic.name, "be written", "Write", topic: topic.name) {
            () throws(StreamError) in
            try probing(makeProbe) { (probe) throws(StreamError) in
                try probe.write(to: topic.name, refusedBytes: limit + 1)
            }
        }
    }

    private func reader(of topic: TopicDescription) throws(StreamError) -> TopicReader {
        try TopicReader(
            settings,
            topic: topic.name,
            readCommitted: topic.key == "input.topic",
            group: configuration.groupID,
            clientID: "\(configuration.groupID)-check",
            events: SilentClientEvents()
        )
    }

    /// Reads at the end of a partition until a record comes, or the end.
    private func read(_ topic: String, _ reader: TopicReader) throws(StreamError) {
        defer { reader.close(timeoutMilliseconds: 1000) }
        let end = try reader.watermarks(partition: 0, timeoutMilliseconds: Self.timeout).high
        try reader.assign([PartitionOffset(partition: 0, offset: end)])
        let clock = SystemClock()
        let start = clock.monotonic
        while clock.monotonic.since(start) < Self.patience {
            try reader.poll(limit: 1, timeoutMilliseconds: 100)
            if !reader.batch.isEmpty { return }
            for event in reader.events {
                switch event {
                case .endOfPartition, .outOfRange: return
                case .trouble(let error) where error.disposition == .refused: throw error
                case .trouble, .brokersDown, .brokersUp: break
                }
            }
        }
        throw StreamError(
            .retriable,
            operation: "fetch",
            code: "_TIMED_OUT",
            detail: "topic \(topic): no answer within \(Self.patience / 1000) s"
        )
    }

    /// What an attempt has shown; `operation` on `topic` is what is missing where the brokers speak
    /// of the topic's rights.
    private func finding(
        _ name: String,
        _ action: String,
        _ operation: String,
        topic: String = "",
        _ attempt: () throws(StreamError) -> Void
    ) -> Finding {
        do throws(StreamError) {
            try attempt()
            return Finding(.ok, "rights", "\(name) may \(action)")
        } catch {
            guard error.isMissingRight else {
                let advice = remedy(error).map { "; \($0)" } ?? ""
                let detail = "whether \(name) may \(action) can't be seen: \(error.detail)"
                return Finding(.failed, "rights", detail + advice)
            }
            let right =
                switch error.code {
                case "GROUP_AUTHORIZATION_FAILED": "Read on the group \(configuration.groupID)"
                case "TRANSACTIONAL_ID_AUTHORIZATION_FAILED":
                    "Write on the transactional ids that begin with "
                        + "\(configuration.groupID)-\(configuration.instanceID)-"
                default: "\(operation) on the topic \(topic)"
                }
            let detail = "\(name) may not \(action) (\(error.code)); grant \(right)"
            return Finding(.failed, "rights", detail)
        }
    }
}
