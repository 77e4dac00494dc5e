internal import ComboCore
internal import KafkaClient

/// One of the topics, as far as the brokers tell.
struct TopicDescription {
    /// The configuration key that names it.
    var key: String
    var name: String
    /// Empty: it isn't there, or may not be seen.
    var partitions: [PartitionDescription] = []
    /// By Kafka's names; nil: they may not be seen.
    var settings: [String: String]?

    /// A setting that is a number.
    func number(_ setting: String) -> Double? {
        settings?[setting].flatMap { Double($0) }
    }
}

/// What is wrong with a topic, from what the brokers say of it.
struct TopicRules {
    let configuration: Configuration

    /// What makes a topic unfit.
    func misfits(of topic: TopicDescription, input: TopicDescription) -> [Finding] {
        var findings: [Finding] = []
        let leaderless = topic.partitions.count { $0.leader == nil }
        if leaderless > 0 {
            let problem = "\(topic.name): \(leaderless) partitions have no leader"
            findings.append(Finding(.failed, topic.key, "\(problem); see to the brokers"))
        }
        let least = Int(topic.number("min.insync.replicas") ?? 1)
        let thin = topic.partitions.count { $0.leader != nil && $0.inSyncReplicas < least }
        if thin > 0, topic.key != "input.topic" {
            let problem = "\(topic.name): \(thin) partitions take no records, as fewer than "
            let detail = "\(problem)\(least) copies are in sync; see to the brokers"
            findings.append(Finding(.failed, topic.key, detail))
        }
        guard topic.key == "changelog.topic" else { return findings }
        if !input.partitions.isEmpty, topic.partitions.count != input.partitions.count {
            let problem = TopicSurvey.mismatch(
                topic.name,
                topic.partitions.count,
                input.name,
                input.partitions.count
            )
            findings.append(Finding(.failed, topic.key, problem))
        }
        if let policy = topic.settings?["cleanup.policy"], policy != "compact" {
            let problem = TopicSurvey.unfitPolicy(topic.name, policy)
            findings.append(Finding(.failed, topic.key, problem))
        }
        return findings
    }

    /// What a topic works with, but not well.
    func weaknesses(of topic: TopicDescription) -> [Finding] {
        var weaknesses: [String] = []
        let copies = topic.partitions.map(\.replicas).min() ?? 0
        if copies < 2 {
            weaknesses.append("has one copy, and is gone with its broker: replication 3")
        } else if let least = topic.number("min.insync.replicas"), least < 2 {
            weaknesses.append("takes records that one broker has: min.insync.replicas=2")
        }
        let lagging = topic.partitions.count { $0.inSyncReplicas < $0.replicas }
        if lagging > 0 {
            weaknesses.append("has \(lagging) partitions with copies that lag: see to the brokers")
        }
        switch topic.key {
        case "input.topic":
            if topic.settings?["message.timestamp.type"] == "LogAppendTime",
                configuration.combo.timeSource == .record
            {
                weaknesses.append(
                    "dates gifts by their arrival at the broker, not by their sending: "
                        + "message.timestamp.type=CreateTime"
                )
            }
        case "output.topic":
            if topic.settings?["cleanup.policy"]?.contains("compact") == true {
                weaknesses.append("loses all but a room's last command: cleanup.policy=delete")
            }
        default:
            weaknesses += deviations(of: topic)
        }
        return weaknesses.map { Finding(.warning, topic.key, "\(topic.name) \($0)") }
    }

    /// Where the dead letters or the changelog are set worse than `giftcombo topics` does it.
    private func deviations(of topic: TopicDescription) -> [String] {
        let wanted = TopicSettings.wanted(of: topic.key)
        let rules: [(setting: String, isWorse: (Double, Double) -> Bool, effect: String)] = [
            ("segment.bytes", { $0 > $1 }, "is compacted late, and slow to restore"),
            ("min.cleanable.dirty.ratio", { $0 > $1 }, "is compacted late, and slow to restore"),
            ("delete.retention.ms", { $0 < $1 }, "forgets ends that a slow restore must see"),
            ("max.message.bytes", { $0 < $1 }, "has no room for the largest records"),
        ]
        return rules.compactMap { rule in
            guard let limit = wanted[rule.setting], let bound = Double(limit),
                let value = topic.number(rule.setting), rule.isWorse(value, bound)
            else { return nil }
            let shown = topic.settings?[rule.setting] ?? ""
            return "\(rule.effect): \(rule.setting)=\(shown), better \(limit)"
        }
    }
}
