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

    @Test func `a tail begins at the first record of a time, and reads committed ones`() throws {
        let topic = try fixture.makeTopic(partitions: 2)
        let times: [Int64] = [1_000, 5_000, 3_000, 9_000]
        let records = times.map {
            Record(partition: 0, timestampMilliseconds: $0, value: "\($0)")
        }
        try fixture.write(records, to: topic)
        let tail = try KafkaTopicTail(
            fixture.settings,
            topic: topic,
            group: topic,
            clientID: "tail",
            events: SilentClientEvents()
        )
        defer { tail.close(timeoutMilliseconds: 5_000) }
        #expect(try tail.partitions(timeoutMilliseconds: 10_000) == [0, 1])
        let ends = try [0, 1].map {
            try tail.watermarks(partition: $0, timeoutMilliseconds: 10_000).high
        }
        #expect(ends == [4, 0])
        // Later records may be older: the first that is young enough has none before it.
        let found = try tail.offsets(at: 2_000, of: [0, 1], timeoutMilliseconds: 10_000)
        #expect(found.map(\.offset) == [1, nil])
        let late = try tail.offsets(at: 9_001, of: [0], timeoutMilliseconds: 10_000)
        #expect(late.map(\.offset) == [nil])
        let sink = try fixture.makeSink(id: Names.unique(), input: topic, output: topic)
        defer { sink.close(timeoutMilliseconds: 5_000) }
        try persisting { try sink.initTransactions(timeoutMilliseconds: 10_000) }
        try sink.begin()
        try sink.produce(Record(partition: 0, value: "aborted"), topic: .commands)
        while sink.outstanding > 0 { sink.serve() }
        try persisting { try sink.abort(timeoutMilliseconds: 10_000) }
        try fixture.write([Record(partition: 1, value: "last")], to: topic)
        try tail.assign([
            PartitionOffset(partition: 0, offset: 1), PartitionOffset(partition: 1, offset: 0),
        ])
        var values: [Int32: [String?]] = [:]
        let deadline = ContinuousClock.now.advanced(by: patience)
        while values[0]?.count != 3 || values[1]?.count != 1 {
            guard ContinuousClock.now < deadline else { throw Impatience() }
            try tail.poll(limit: 10, timeoutMilliseconds: 50)
            for index in 0..<tail.batch.count {
                let view = tail.batch[index]
                values[view.partition, default: []].append(Record(view).value)
            }
        }
        #expect(values == [0: ["5000", "3000", "9000"], 1: ["last"]])
        while (tail.position(partition: 0) ?? 0) < 6 {
            guard ContinuousClock.now < deadline else { throw Impatience() }
            try tail.poll(limit: 10, timeoutMilliseconds: 50)
            #expect(tail.batch.isEmpty, "what was aborted is not read, nor its marker")
        }
    }
}
