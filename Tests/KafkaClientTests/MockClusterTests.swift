import KafkaClient
import StreamPorts
import Testing

/// The contract on the mock cluster, as far as that one goes.
@Suite(.serialized)
struct `On the mock cluster` {
    let fixture: MockFixture
    let contract: SourceContract<MockFixture>

    init() throws {
        fixture = try MockFixture()
        contract = SourceContract(fixture: fixture)
    }

    @Test func `keys, values, timestamps and headers survive`() throws {
        try contract.recordsSurvive()
    }

    @Test func `keys go where Java clients put them`() throws {
        try contract.keysGoWhereJavaPutsThem()
    }

    @Test func `the end is reported each time it is reached`() throws {
        try contract.endsAreReported()
    }

    @Test func `an assigned partition waits to be sought and resumed`() throws {
        try contract.assignedPartitionsWait()
    }

    @Test func `pause, seek and resume deliver exactly from there`() throws {
        try contract.seeksAreExact()
    }

    @Test func `a batch holds at most its limit`() throws {
        try contract.batchesAreBounded()
    }

    @Test func `a rebalance between two members keeps each record with one owner`() throws {
        try contract.rebalancesKeepRecords()
    }

    @Test func `a position above the end is reported`() throws {
        try contract.positionsAboveTheEndAreReported()
    }

    @Test func `an outage and its end are reported`() throws {
        try contract.outagesAreReported()
    }

    @Test func `a member leaves in peace while records come`() throws {
        try contract.leavesAmidRecords()
    }

    @Test func `membership follows the assignment`() throws {
        try contract.membershipFollowsTheAssignment()
    }

    @Test func `a reader that reads nothing finds a leader that has moved`() throws {
        let pair = try LeaderPair()
        defer { pair.close() }
        try pair.lead(by: 2)
        let moved = failure { try pair.end() }
        #expect(moved?.code == "NOT_LEADER_FOR_PARTITION")
        #expect(try pair.end() == 0)
    }

    @Test func `an end is not waited for longer than allowed while its leader is away`() throws {
        let pair = try LeaderPair()
        defer { pair.close() }
        try pair.cluster.setDown(broker: 1)
        let took = ContinuousClock().measure {
            #expect(failure { try pair.end() }?.disposition == .retriable)
        }
        #expect(took < .seconds(5))
        try pair.lead(by: 2)
        #expect(try persisting(pair.end) == 0)
    }

    @Test func `after a commit that timed out, an abort asks for a new producer at once`() throws {
        let topic = try fixture.makeTopic(partitions: 1)
        let sink = try fixture.makeSink(id: topic, input: topic, output: topic)
        defer { sink.close(timeoutMilliseconds: 5000) }
        try persisting { try sink.initTransactions(timeoutMilliseconds: 10_000) }
        try sink.begin()
        try sink.produce(Record(value: "lost"))
        try fixture.interrupt()
        let timeout = failure { try sink.commit(timeoutMilliseconds: 300) }
        #expect(timeout?.disposition == .retriable)
        let conflict = failure { try sink.abort(timeoutMilliseconds: 300) }
        #expect(conflict?.code == "_CONFLICT")
        #expect(conflict?.disposition == .fatal)
        try fixture.restore()
        let successor = try fixture.makeSink(id: topic, input: topic, output: topic)
        defer { successor.close(timeoutMilliseconds: 5000) }
        try persisting { try successor.initTransactions(timeoutMilliseconds: 10_000) }
    }
}

/// Two brokers, a partition that the first leads, and a reader that has asked it for its end.
private struct LeaderPair {
    let cluster: MockCluster
    private let topic = Names.unique()
    private let reader: TopicReader

    init() throws {
        cluster = try MockCluster(brokers: 2)
        try cluster.createTopic(topic, partitions: 1)
        try cluster.setLeader(topic: topic, partition: 0, broker: 1)
        reader = try TopicReader(
            KafkaSettings(["bootstrap.servers": cluster.bootstrapServers]),
            topic: topic,
            readCommitted: false,
            group: topic,
            clientID: "reader",
            events: SilentClientEvents()
        )
        #expect(try persisting(end) == 0)
    }

    func lead(by broker: Int32) throws {
        try cluster.setLeader(topic: topic, partition: 0, broker: broker)
    }

    func end() throws -> Int64 {
        try reader.watermarks(partition: 0, timeoutMilliseconds: 1000).high
    }

    func close() {
        reader.close(timeoutMilliseconds: 5000)
        cluster.close()
    }
}
