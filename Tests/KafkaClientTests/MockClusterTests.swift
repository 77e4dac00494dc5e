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
