import KafkaClient
import StreamPorts
import Synchronization
import Testing

/// The whole contract, on a broker that this suite starts and stops.
@Suite(
    .serialized,
    .enabled(
        if: RealBroker.scripts != nil,
        "no broker to start: GIFTCOMBO_KAFKA names the folder of its scripts"
    ),
    .realBroker
)
struct `On a real broker` {
    let fixture: RealBroker
    let source: SourceContract<RealBroker>
    let transactions: TransactionContract<RealBroker>

    init() throws {
        fixture = try #require(RealBroker.current.withLock { $0 })
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
