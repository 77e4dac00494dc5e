internal import KafkaClient
internal import StreamPorts

/// Whether the four topics are there, fit each other, and are set as `giftcombo topics` does it.
struct TopicCheck {
    private static let timeout: Int32 = 5000

    let configuration: Configuration
    let remedy: Remedy
    let admin: KafkaAdmin

    /// Asks for all topics; a finding or more of each.
    func topics(_ findings: inout [Finding]) -> [TopicDescription] {
        let names = configuration.topics
        let rules = TopicRules(configuration: configuration)
        var topics: [TopicDescription] = []
        for (key, name) in [
            ("input.topic", names.input), ("output.topic", names.output),
            ("dlq.topic", names.deadLetters), ("changelog.topic", names.changelog),
        ] {
            var topic = TopicDescription(key: key, name: name)
            var complaints = describe(&topic)
            if !topic.partitions.isEmpty {
                if complaints.isEmpty {
                    complaints = rules.misfits(of: topic, input: topics.first ?? topic)
                }
                complaints += rules.weaknesses(of: topic)
            }
            topics.append(topic)
            let copies = topic.partitions.map(\.replicas).min() ?? 0
            let size = "\(name) has \(topic.partitions.count) partitions of \(copies) copies"
            findings += complaints.isEmpty ? [Finding(.ok, key, size)] : complaints
        }
        return topics
    }

    /// Fills in what the brokers say, and complains of what they don't.
    private func describe(_ topic: inout TopicDescription) -> [Finding] {
        do throws(StreamError) {
            guard
                let found = try admin.partitions(
                    of: topic.name,
                    timeoutMilliseconds: Self.timeout
                )
            else {
                let detail = "there is no topic \(topic.name); giftcombo topics makes it"
                return [Finding(.failed, topic.key, detail)]
            }
            topic.partitions = found
        } catch {
            return [failure(.failed, topic.key, error)]
        }
        do throws(StreamError) {
            topic.settings = try admin.settings(of: topic.name, timeoutMilliseconds: Self.timeout)
            return []
        } catch {
            // A process that runs asks for the changelog's.
            let verdict = topic.key == "changelog.topic" ? Finding.Verdict.failed : .warning
            let detail = "\(topic.name): its settings can't be seen: "
            guard error.code == "TOPIC_AUTHORIZATION_FAILED" else {
                return [Finding(verdict, topic.key, detail + error.detail)]
            }
            return [Finding(verdict, topic.key, detail + "grant DescribeConfigs on it")]
        }
    }

    private func failure(
        _ verdict: Finding.Verdict,
        _ key: String,
        _ error: StreamError
    ) -> Finding {
        Finding(verdict, key, remedy(error).map { "\(error.detail); \($0)" } ?? error.detail)
    }
}
