import ComboWire
import Simulator
import StreamPorts
import Testing

@testable import WorkerRuntime

/// What a worker does not begin with.
struct RefusalTests {
    private func writeState(_ value: [UInt8], to cluster: StandaloneCluster) {
        cluster.write(
            [
                StandaloneCluster.StoredRecord(
                    partition: 0,
                    timestamp: 1,
                    key: Array(UInt8(1)...16),
                    value: value
                )
            ],
            to: HandTurnedPool.topics.changelog
        )
    }

    /// Commits an offset for partition 0 as a member of the pool's group does, and leaves.
    private func commit(_ offset: Int64, on cluster: StandaloneCluster) throws {
        final class Listener: RebalanceListener {
            func partitionsAssigned(_ partitions: [Int32]) {}
            func partitionsRevoked(_ partitions: [Int32]) {}
            func partitionsLost(_ partitions: [Int32]) {}
        }
        let ports = cluster.makePorts(topics: HandTurnedPool.topics, group: "giftcombo")
        let (source, sink) = (try ports.makeSource(worker: 9), try ports.makeSink(worker: 9))
        let listener = Listener()
        try source.subscribe(listener: listener)
        var polls = 0
        while source.membership() == nil, polls < 10_000 {
            try source.poll(limit: 1, timeoutMilliseconds: 10)
            polls += 1
        }
        let membership = try #require(source.membership())
        try sink.initTransactions(timeoutMilliseconds: 1_000)
        try sink.begin()
        try sink.sendOffsets(
            [PartitionOffset(partition: 0, offset: offset)],
            membership: membership,
            timeoutMilliseconds: 1_000
        )
        try sink.commit(timeoutMilliseconds: 1_000)
        sink.close(timeoutMilliseconds: 0)
        source.close(timeoutMilliseconds: 0)
    }

    @Test func `a changelog with fewer partitions ends it, naming the command`() throws {
        let pool = HandTurnedPool(
            HandTurnedPool.makeCluster(partitions: 3, changelogPartitions: 2)
        )
        try pool.join()
        pool.turn(until: "it fails") { pool.verdicts != [.running] }
        guard case .failed(68, let reason) = pool.verdicts[0] else {
            Issue.record("\(pool.verdicts)")
            return
        }
        #expect(reason.contains("partition 2 of gift.events"))
        #expect(reason.contains("giftcombo topics"))
    }

    @Test func `state without a committed offset is refused`() throws {
        let cluster = HandTurnedPool.makeCluster()
        let first = HandTurnedPool(cluster) { $0.groupID = "gone" }
        try first.join()
        first.turnUntilReady()
        first.send("7", #"{"user_id":7}"#)
        first.turnUntilCommitted(1)

        let second = HandTurnedPool(cluster)
        try second.join()
        second.turn(until: "refused") { second.refusal != nil }
        #expect(second.refusal?.contains("no committed offset") == true)
        #expect(second.refusal?.contains("giftcombo topics --reset-state") == true)
        #expect(second.verdicts == [.running], "its other partitions go on")
        second.send("8", partition: 1, #"{"user_id":8}"#)
        second.turnUntilCommitted(1, partition: 1)
    }

    @Test func `state ahead of the committed offset is refused`() throws {
        let cluster = HandTurnedPool.makeCluster(partitions: 1)
        try commit(5, on: cluster)
        // An ended combo whose last gift was at offset 5.
        writeState([1, 0, 5, 100, 0, 0, 0], to: cluster)
        let pool = HandTurnedPool(cluster)
        try pool.join()
        pool.turn(until: "refused") { pool.refusal != nil }
        #expect(pool.refusal?.contains("has counted offset 5, the committed offset is 5") == true)
    }

    @Test func `state of another version is refused, naming where it lies`() throws {
        let cluster = HandTurnedPool.makeCluster(partitions: 1)
        writeState([9, 0, 0], to: cluster)
        let pool = HandTurnedPool(cluster)
        try pool.join()
        pool.turn(until: "refused") { pool.refusal != nil }
        #expect(pool.refusal?.contains("giftcombo-combos partition 0 offset 0") == true)
        #expect(pool.refusal?.contains("version 9") == true)
    }

    @Test func `damaged state is refused`() throws {
        let cluster = HandTurnedPool.makeCluster(partitions: 1)
        try commit(0, on: cluster)
        writeState([1, 0, 5], to: cluster)
        let pool = HandTurnedPool(cluster)
        try pool.join()
        pool.turn(until: "refused") { pool.refusal != nil }
        #expect(pool.refusal?.contains("damaged at byte 3") == true)
    }

    @Test func `an input that ends before the committed offset ends it`() throws {
        let cluster = HandTurnedPool.makeCluster(partitions: 1)
        try commit(50, on: cluster)
        let pool = HandTurnedPool(cluster)
        pool.send("7", #"{"user_id":7}"#)
        try pool.join()
        pool.turn(until: "it fails") { pool.verdicts != [.running] }
        guard case .failed(66, let reason) = pool.verdicts[0] else {
            Issue.record("\(pool.verdicts)")
            return
        }
        #expect(reason.contains("ends at 1, before the committed offset 50"))
    }
}
