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
}
