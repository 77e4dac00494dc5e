internal import StreamPorts

/// Makes the ports of one life of a simulated process.
struct SimulatedPorts: PortFactory {
    let cluster: SimulatedCluster
    let process: Int
    let life: Int
    /// Prefix of the transactional ids.
    let name: String
    let inputTopic: Int
    let changelogTopic: Int
    let targets: SinkTargets

    private func identity(_ worker: Int) -> ClientIdentity {
        ClientIdentity(process: process, life: life, worker: worker)
    }

    func makeSource(worker: Int) throws(StreamError) -> any RecordSource {
        try cluster.call(.makeSource, identity(worker)) { (state) throws(StreamError) in }
        return SimulatedSource(cluster, identity(worker), topic: inputTopic, group: targets.group)
    }

    func makeSink(worker: Int) throws(StreamError) -> any TransactionalSink {
        try cluster.call(.makeSink, identity(worker)) { (state) throws(StreamError) in }
        let id = "\(name)-\(process)-\(worker)"
        return SimulatedSink(cluster, identity(worker), id: id, targets: targets)
    }

    func makeChangelogReader(worker: Int) throws(StreamError) -> any ChangelogReader {
        try cluster.call(.makeChangelogReader, identity(worker)) { (state) throws(StreamError) in }
        return SimulatedChangelogReader(cluster, identity(worker), topic: changelogTopic)
    }
}
