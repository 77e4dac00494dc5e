package import StreamPorts

/// A simulated cluster without workers, for tests that hold every implementation of the ports
/// to one contract.
///
/// Its time passes while calls wait.
package final class StandaloneCluster: Sendable {
    /// A record as a value.
    package struct StoredRecord: Sendable {
        /// Partition of its topic.
        package var partition: Int32
        /// Offset in its partition.
        package var offset: Int64
        /// Epoch milliseconds.
        package var timestamp: Int64
        /// The key; nil: none.
        package var key: [UInt8]?
        /// The value; nil: a tombstone.
        package var value: [UInt8]?
        /// The headers, in order.
        package var headers: [RecordHeader]

        /// Creates a record; the offset counts only in what was read.
        package init(
            partition: Int32,
            offset: Int64 = 0,
            timestamp: Int64,
            key: [UInt8]?,
            value: [UInt8]?,
            headers: [RecordHeader] = []
        ) {
            self.partition = partition
            self.offset = offset
            self.timestamp = timestamp
            self.key = key
            self.value = value
            self.headers = headers
        }
    }

    let cluster: SimulatedCluster
    private let identity = ClientIdentity(process: 0, life: 0, worker: 0)

    /// Creates a cluster without topics.
    package init() {
        var state = ClusterState(seed: 1, settings: ClusterSettings(pollsTakeTime: true))
        state.processes = [ProcessState(isAlive: true)]
        cluster = SimulatedCluster(state)
    }

    /// Makes a topic.
    package func makeTopic(_ name: String, partitions: Int) {
        cluster.change { _ = $0.makeTopic(name, partitions: partitions) }
    }

    func topic(_ name: String) -> Int {
        guard let index = cluster.read({ $0.topics.firstIndex { $0.name == name } }) else {
            preconditionFailure("a topic that was not made")
        }
        return index
    }

    /// A member of a group.
    package func makeSource(topic name: String, group: String) -> any RecordSource {
        let topic = topic(name)
        let group = cluster.change { $0.group(group, topic: topic) }
        return SimulatedSource(cluster, identity, topic: topic, group: group)
    }

    /// A producer that writes all of its topics to `output`.
    package func makeSink(
        id: String,
        input: String,
        group: String,
        output: String
    ) -> any TransactionalSink {
        let (input, output) = (topic(input), topic(output))
        let group = cluster.change { $0.group(group, topic: input) }
        let targets = SinkTargets(topics: [output, output, output], group: group)
        return SimulatedSink(cluster, identity, id: id, targets: targets)
    }

    /// Reads `topic` as a changelog.
    package func makeChangelogReader(topic name: String) -> any ChangelogReader {
        SimulatedChangelogReader(cluster, identity, topic: topic(name))
    }

    /// Writes records without a transaction.
    package func write(_ records: [StoredRecord], to name: String) {
        let topic = topic(name)
        cluster.change { state in
            for record in records {
                state.topics[topic].logs[Int(record.partition)].append(
                    LogRecord(
                        timestamp: record.timestamp,
                        key: record.key,
                        value: record.value,
                        headers: record.headers
                    )
                )
            }
        }
    }

    /// Everything in a topic, by partition and offset, once the markers of ended transactions are
    /// there.
    package func read(_ name: String, readCommitted: Bool) -> [StoredRecord] {
        let topic = topic(name)
        cluster.change { $0.advance(by: 50) }
        return cluster.read { state in
            state.topics[topic].logs.enumerated().flatMap { partition, log in
                log.records.filter {
                    log.isDelivered($0, readCommitted: readCommitted)
                        && (!readCommitted || $0.offset < log.lastStable)
                }
                .map { record in
                    StoredRecord(
                        partition: Int32(partition),
                        offset: record.offset,
                        timestamp: record.timestamp,
                        key: record.key,
                        value: record.value,
                        headers: record.headers
                    )
                }
            }
        }
    }

    /// Cuts every client off.
    package func interrupt() {
        cluster.change { $0.brokersDownUntil = .max }
    }

    /// Lets the brokers answer again.
    package func restore() {
        cluster.change { $0.brokersDownUntil = 0 }
    }

    /// Compacts a topic as far as what is committed goes.
    package func compact(_ name: String) {
        let topic = topic(name)
        cluster.change { state in
            for partition in state.topics[topic].logs.indices {
                state.topics[topic].logs[partition].compact(below: .max)
            }
        }
    }
}
