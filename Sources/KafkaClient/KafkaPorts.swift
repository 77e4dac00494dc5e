package import StreamPorts

/// Makes the ports of each worker of a process.
package struct KafkaPorts: PortFactory {
    private let settings: KafkaSettings
    private let inputTopic: String
    private let outputTopics: OutputTopics
    private let group: String
    private let instance: String
    private let isStaticMember: Bool
    private let prefetchBytes: Int
    private let events: any ClientEvents

    /// Describes a process.
    ///
    /// - Parameters:
    ///   - settings: The user's.
    ///   - inputTopic: What the workers read.
    ///   - outputTopics: What they write.
    ///   - group: The consumer group.
    ///   - instance: The process's stable name, unique in the group.
    ///   - isStaticMember: Whether its members keep their partitions over a restart within the
    ///     session time-out (KIP-345), but don't give them up on leaving either.
    ///   - workers: How many workers share the budget.
    ///   - prefetchBytes: How much input the process fetches ahead.
    ///   - events: Hears of what belongs to no call.
    package init(
        settings: KafkaSettings,
        inputTopic: String,
        outputTopics: OutputTopics,
        group: String,
        instance: String,
        isStaticMember: Bool = false,
        workers: Int,
        prefetchBytes: Int,
        events: any ClientEvents
    ) {
        precondition(workers > 0, "a process has at least one worker")
        self.settings = settings
        self.inputTopic = inputTopic
        self.outputTopics = outputTopics
        self.group = group
        self.instance = instance
        self.isStaticMember = isStaticMember
        self.prefetchBytes = prefetchBytes / workers
        self.events = events
    }

    /// What a worker's producer is fenced by; also the stem of its clients' names.
    package func transactionalID(worker: Int) -> String {
        "\(group)-\(instance)-\(worker)"
    }

    /// A member of the group, with its share of the process's prefetch budget.
    package func makeSource(worker: Int) throws(StreamError) -> any RecordSource {
        try KafkaSource(
            settings,
            topic: inputTopic,
            group: group,
            groupInstance: isStaticMember ? transactionalID(worker: worker) : nil,
            clientID: transactionalID(worker: worker),
            prefetchBytes: prefetchBytes,
            events: events
        )
    }

    /// A producer with the worker's transactional id.
    package func makeSink(worker: Int) throws(StreamError) -> any TransactionalSink {
        try KafkaSink(
            settings,
            transactionalID: transactionalID(worker: worker),
            inputTopic: inputTopic,
            topics: outputTopics,
            clientID: "\(transactionalID(worker: worker))-sink",
            events: events
        )
    }

    /// A reader of the changelog topic.
    package func makeChangelogReader(worker: Int) throws(StreamError) -> any ChangelogReader {
        try KafkaChangelogReader(
            settings,
            topic: outputTopics.changelog,
            group: group,
            clientID: "\(transactionalID(worker: worker))-restore",
            events: events
        )
    }
}
