import Simulator
import StreamPorts
import Testing

/// The simulated cluster as a fixture of the contract.
final class SimulatedFixture: PortFixture {
    let cluster = StandaloneCluster()

    func makeTopic(partitions: Int) throws -> String {
        let topic = Names.unique()
        cluster.makeTopic(topic, partitions: partitions)
        return topic
    }

    func makeSource(topic: String, group: String, member: String) throws -> any RecordSource {
        cluster.makeSource(topic: topic, group: group)
    }

    func makeSink(id: String, input: String, output: String) throws -> any TransactionalSink {
        cluster.makeSink(id: id, input: input, group: input, output: output)
    }

    func makeChangelogReader(topic: String) throws -> any ChangelogReader {
        cluster.makeChangelogReader(topic: topic)
    }

    func write(_ records: [Record], to topic: String) throws {
        let stored = records.map { record in
            StandaloneCluster.StoredRecord(
                partition: record.partition ?? 0,
                timestamp: record.timestampMilliseconds,
                key: record.key.map { Array($0.utf8) },
                value: record.value.map { Array($0.utf8) }
            )
        }
        cluster.write(stored, to: topic)
    }

    func read(_ topic: String, partitions: Int, readCommitted: Bool) throws -> [Record] {
        cluster.read(topic, readCommitted: readCommitted).map { stored in
            Record(
                partition: stored.partition,
                offset: stored.offset,
                timestampMilliseconds: stored.timestamp,
                key: stored.key.map { String(decoding: $0, as: UTF8.self) },
                value: stored.value.map { String(decoding: $0, as: UTF8.self) },
                headers: stored.headers
            )
        }
    }

    func interrupt() throws { cluster.interrupt() }

    func restore() throws { cluster.restore() }
}

/// The whole contract on the simulated cluster, which is held to what the real one does.
@Suite(.serialized)
struct `On the simulated cluster` {
    let source: SourceContract<SimulatedFixture>
    let transactions: TransactionContract<SimulatedFixture>

    init() {
        let fixture = SimulatedFixture()
        source = SourceContract(fixture: fixture)
        transactions = TransactionContract(fixture: fixture)
    }
    @Test func `keys, values, timestamps and headers survive`() throws {
        try source.recordsSurvive()
    }

    @Test func `keys go where Java clients put them`() throws {
        try source.keysGoWhereJavaPutsThem()
    }

    @Test func `the end is reported each time it is reached`() throws {
        try source.endsAreReported()
    }

    @Test func `an assigned partition waits to be sought and resumed`() throws {
        try source.assignedPartitionsWait()
    }

    @Test func `pause, seek and resume deliver exactly from there`() throws {
        try source.seeksAreExact()
    }

    @Test func `a batch holds at most its limit`() throws {
        try source.batchesAreBounded()
    }

    @Test func `a rebalance between two members keeps each record with one owner`() throws {
        try source.rebalancesKeepRecords()
    }

    @Test func `a position above the end is reported`() throws {
        try source.positionsAboveTheEndAreReported()
    }

    @Test func `an outage and its end are reported`() throws {
        try source.outagesAreReported()
    }

    @Test func `a member leaves in peace while records come`() throws {
        try source.leavesAmidRecords()
    }

    @Test func `membership follows the assignment`() throws {
        try source.membershipFollowsTheAssignment()
    }

    @Test func `aborted output is invisible`() throws {
        try transactions.abortedOutputIsInvisible()
    }

    @Test func `output and offsets move together, metadata included`() throws {
        try transactions.outputAndOffsetsMoveTogether()
    }

    @Test func `committed offsets wait for pending transactions`() throws {
        try transactions.committedOffsetsWaitForTransactions()
    }

    @Test func `a zombie's commit is refused`() throws {
        try transactions.zombiesAreRefused()
    }

    @Test func `a revoked partition is committed before it moves`() throws {
        try transactions.revokedPartitionsAreCommittedFirst()
    }

    @Test func `a second producer fences the first and ends its transaction`() throws {
        try transactions.secondProducersFenceTheFirst()
    }

    @Test func `the high watermark counts open transactions`() throws {
        try transactions.highWatermarksCountOpenTransactions()
    }
}
