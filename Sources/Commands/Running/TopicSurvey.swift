internal import KafkaClient
internal import StreamPorts

/// The program's topics as they are in the cluster, against what they should be.
struct TopicSurvey {
    /// The code of the error for partition counts that differ.
    static let mismatchCode = "PARTITION_COUNT"
    /// How long one question may take, milliseconds.
    private static let timeout: Int32 = 5000

    /// One of the four topics.
    struct Topic {
        /// The configuration key that names it.
        var key: String
        var name: String
        /// Partitions that it has; nil: there is no such topic.
        var partitions: Int?
        /// What is wrong with it.
        var problems: [String] = []
    }

    /// Partitions of the input topic; 0: there is no such topic.
    let inputPartitions: Int
    let topics: [Topic]

    /// Asks the cluster.
    ///
    /// - Throws: `retriable` while no broker answers.
    init(_ configuration: Configuration, _ admin: KafkaAdmin) throws(StreamError) {
        let names = configuration.topics
        var topics: [Topic] = []
        for (key, name) in [
            ("input.topic", names.input), ("output.topic", names.output),
            ("dlq.topic", names.deadLetters), ("changelog.topic", names.changelog),
        ] {
            let partitions = try admin.partitions(of: name, timeoutMilliseconds: Self.timeout)
            topics.append(Topic(key: key, name: name, partitions: partitions?.count))
        }
        inputPartitions = topics[0].partitions ?? 0
        for index in topics.indices where topics[index].partitions == nil {
            topics[index].problems.append(
                "\(topics[index].key): there is no topic \(topics[index].name); "
                    + "giftcombo topics makes it"
            )
        }
        if let changelog = topics[3].partitions {
            if inputPartitions > 0, changelog != inputPartitions {
                topics[3].problems.append(
                    "changelog.topic: "
                        + Self.mismatch(names.changelog, changelog, names.input, inputPartitions)
                )
            }
            let policy =
                try admin.settings(of: names.changelog, timeoutMilliseconds: Self.timeout)[
                    "cleanup.policy"
                ]
            if let policy, policy != "compact" {
                topics[3].problems.append(
                    "changelog.topic: " + Self.unfitPolicy(names.changelog, policy)
                )
            }
        }
        self.topics = topics
    }

    /// What keeps the program from starting; nil: nothing.
    var firstProblem: StreamError? {
        guard let topic = topics.first(where: { !$0.problems.isEmpty }) else { return nil }
        let isMismatch = topic.problems[0].contains("partitions, ")
        return StreamError(
            .refused,
            operation: "topics",
            code: isMismatch ? Self.mismatchCode : "TOPIC",
            detail: topic.problems[0]
        )
    }

    /// Why a changelog that is not compacted won't do.
    static func unfitPolicy(_ changelog: String, _ policy: String) -> String {
        "\(changelog) has cleanup.policy=\(policy), which deletes the state of live combos; "
            + "set it to compact"
    }

    /// Why a changelog with another number of partitions than the input won't do.
    static func mismatch(
        _ changelog: String,
        _ count: Int,
        _ input: String,
        _ inputCount: Int
    ) -> String {
        let remedy =
            count < inputCount
            ? "giftcombo topics adds the missing ones"
            : "a changelog never has more than its input: name another changelog.topic"
        return "\(changelog) has \(count) partitions, \(input) has \(inputCount); \(remedy)"
    }
}
