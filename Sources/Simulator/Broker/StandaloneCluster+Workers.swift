package import StreamPorts
package import WorkerRuntime

// Real workers on a standalone cluster, turned by hand by whoever made them.

extension StandaloneCluster {
    /// The topics of a worker pool, which must have been made.
    package struct PoolTopics: Sendable {
        /// Gift events.
        package var input: String
        /// Overlay commands.
        package var commands: String
        /// What could not be read.
        package var deadLetters: String
        /// The keys' states.
        package var changelog: String

        /// Names the topics.
        package init(input: String, commands: String, deadLetters: String, changelog: String) {
            self.input = input
            self.commands = commands
            self.deadLetters = deadLetters
            self.changelog = changelog
        }
    }

    /// The ports of the workers of a process, all in the group `group`.
    ///
    /// The transactional id of worker n is `<group>-0-n`; a second call is another process that
    /// was given the same ids.
    package func makePorts(topics: PoolTopics, group name: String) -> any PortFactory {
        let input = topic(topics.input)
        let group = cluster.change { $0.group(name, topic: input) }
        return SimulatedPorts(
            cluster: cluster,
            process: 0,
            life: 0,
            name: name,
            inputTopic: input,
            changelogTopic: topic(topics.changelog),
            targets: SinkTargets(
                topics: [
                    topic(topics.commands), topic(topics.deadLetters), topic(topics.changelog),
                ],
                group: group
            )
        )
    }

    /// The clocks of this cluster.
    package var clock: any WorkerClock { SimulatedClock(cluster: cluster, process: 0) }

    /// Lets time pass, milliseconds.
    package func advance(by milliseconds: Int64) {
        cluster.change { $0.advance(by: milliseconds) }
    }

    /// What a group has committed for a partition; nil: nothing.
    package func committed(group name: String, partition: Int32) -> PartitionOffset? {
        let offset = cluster.read { state in
            state.groups.first { $0.name == name }?.committed[Int(partition)]
        }
        return offset.map { committed in
            PartitionOffset(
                partition: partition,
                offset: committed.offset,
                metadata: committed.metadata
            )
        }
    }
}
