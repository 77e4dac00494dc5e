import ComboCore
import Simulator
import StreamPorts
import Telemetry
import Testing

@testable import WorkerRuntime

struct WorkerTests {
    @Test func `gifts become commands, committed with their offset and the clock`() throws {
        let pool = HandTurnedPool()
        try pool.join()
        pool.turnUntilReady()
        let time = pool.cluster.clock.wall.milliseconds
        pool.send("7", #"{"user_id":7}"#, #"{"user_id":7,"count":5}"#)
        pool.turnUntilCommitted(2)
        #expect(pool.commands == ["show 0-1", "update 1-6"])
        #expect(pool.committed(0)?.metadata == "clock=\(time)")
        #expect(pool.committed(1) == nil, "a partition without records has nothing to commit")
    }

    @Test func `an unreadable record goes to the dead letters and the next is processed`() throws {
        let pool = HandTurnedPool()
        try pool.join()
        pool.turnUntilReady()
        pool.send("7", "{", #"{"user_id":7}"#, #"{"user_id":8}"#)
        pool.turnUntilCommitted(3)
        #expect(pool.commands == ["show 0-1"])
        let letters = pool.read(HandTurnedPool.topics.deadLetters)
        #expect(letters.map(\.value) == [Array("{".utf8), Array(#"{"user_id":8}"#.utf8)])
        #expect(letters.allSatisfy { $0.key == Array("7".utf8) })
        let headers = letters.map { letter in
            Dictionary(uniqueKeysWithValues: letter.headers.map { ($0.name, $0.value) })
        }
        #expect(headers.map { $0["error"] } == ["not-json", "key-mismatch"])
        #expect(headers.map { $0["source-offset"] } == ["0", "2"])
        for header in headers {
            #expect(header["source-topic"] == "gift.events")
            #expect(header["source-partition"] == "0")
            #expect(header["error-detail"]?.isEmpty == false)
        }
        #expect(pool.workers[0].metrics.deadLetters.value(.notJSON) == 1)
        #expect(pool.workers[0].metrics.deadLetters.value(.keyMismatch) == 1)
    }

    @Test func `a gift on a silent partition hides and ends soon after its deadlines`() throws {
        let pool = HandTurnedPool { $0.idleGrace = 200 }
        try pool.join()
        pool.turnUntilReady()
        let time = pool.cluster.clock.wall.milliseconds
        pool.send("7", #"{"user_id":7}"#)
        let topic = HandTurnedPool.topics.commands
        for (kind, window) in [("show", Int64(0)), ("hide", 2_000), ("end", 5_000)] {
            pool.turn(until: "\(kind)") {
                pool.commands.last?.hasPrefix(kind) == true
            }
            let late = pool.cluster.clock.wall.milliseconds - time - window
            // Reading the topic takes 50 ms of the cluster's time.
            #expect((0...350).contains(late), "\(kind) \(late) ms late")
            #expect(pool.read(topic).last?.timestamp == time + window)
        }
    }

    // MARK: - Rebalances

    @Test func `work of a revoked partition is committed before it goes`() throws {
        // Nothing is due by itself within the test.
        let pool = HandTurnedPool(workers: 2) { configuration in
            configuration.commit.interval = 3_600_000
            configuration.commit.minInterval = 3_600_000
        }
        try pool.join()
        pool.turn(until: "both partitions live") {
            pool.board.partitions.count { $0.isLive } == 2
        }
        for partition: Int32 in [0, 1] {
            pool.send("7", partition: partition, #"{"user_id":7}"#, #"{"user_id":7}"#)
        }
        pool.turn(until: "four records taken") { pool.workers[0].totals.records == 4 }
        #expect(pool.committed(0) == nil && pool.committed(1) == nil)
        #expect(pool.commands.isEmpty)

        try pool.join()
        pool.turnUntilReady()
        #expect(pool.board.partitions.map(\.worker).sorted() == [0, 1])
        let moved = try #require(pool.board.partitions.first { $0.worker == 1 }).partition
        #expect(pool.committed(moved)?.offset == 2)
        #expect(pool.commands == ["show 0-1", "update 1-2", "show 0-1", "update 1-2"])

        // The new owner goes on with the count.
        pool.send("7", partition: moved, #"{"user_id":7,"count":3}"#)
        pool.turn(until: "the fifth record taken") { pool.workers[1].totals.records == 1 }
        pool.board.requestStop(deadline: .init(milliseconds: .max))
        pool.turn(until: "stopped") { pool.verdicts.allSatisfy { $0 == .finished } }
        #expect(pool.commands.last == "update 2-5")
        #expect(pool.committed(moved)?.offset == 3)
    }

    @Test func `a stop commits what is open, and the next process goes on from it`() throws {
        let cluster = HandTurnedPool.makeCluster()
        let first = HandTurnedPool(cluster) { configuration in
            configuration.commit.interval = 3_600_000
            configuration.commit.minInterval = 3_600_000
        }
        try first.join()
        first.turnUntilReady()
        first.send("7", #"{"user_id":7,"event_id":"a"}"#)
        first.turn(until: "taken") { first.workers[0].totals.records == 1 }
        first.board.requestStop(deadline: .init(milliseconds: .max))
        first.turn(until: "stopped") { first.verdicts == [.finished] }
        #expect(first.commands == ["show 0-1"])

        let second = HandTurnedPool(cluster)
        try second.join()
        second.turnUntilReady()
        second.send("7", #"{"user_id":7,"event_id":"a"}"#, #"{"user_id":7,"event_id":"b"}"#)
        second.turnUntilCommitted(3)
        #expect(second.commands == ["show 0-1", "update 1-2"])
    }

    // MARK: - Faults

    @Test func `brokers that are away make it wait and not fail`() throws {
        let pool = HandTurnedPool()
        try pool.join()
        pool.turn(until: "joined") { pool.workers[0].hasJoined }
        pool.cluster.interrupt()
        for partition: Int32 in [0, 1] {
            pool.send("7", partition: partition, #"{"user_id":7}"#)
        }
        var turns = 0
        pool.turn(until: "fifty turns made") {
            turns += 1
            return turns > 50
        }
        #expect(pool.verdicts == [.running])
        #expect(pool.committed(0) == nil)
        pool.cluster.restore()
        pool.turnUntilCommitted(1, partition: 0)
        pool.turnUntilCommitted(1, partition: 1)
        #expect(pool.commands == ["show 0-1", "show 0-1"])
    }

    @Test func `fenced once it goes on with a new producer, and counts nothing twice`() throws {
        let pool = HandTurnedPool()
        try pool.join()
        pool.turnUntilReady()
        pool.send("7", #"{"user_id":7}"#)
        pool.turnUntilCommitted(1)
        _ = try pool.makeRival()
        pool.send("7", #"{"user_id":7}"#)
        pool.turnUntilCommitted(2)
        #expect(pool.workers[0].metrics.fenced.value == 1)
        #expect(pool.verdicts == [.running])
        #expect(pool.commands == ["show 0-1", "update 1-2"])
    }

    @Test func `fenced again at once it ends, naming the instance`() throws {
        let pool = HandTurnedPool { $0.instanceID = "pod-3" }
        try pool.join()
        pool.turnUntilReady()
        for round in 1...2 {
            _ = try pool.makeRival()
            pool.send("7", #"{"user_id":7}"#)
            pool.turn(until: "fenced \(round) times") {
                pool.workers[0].metrics.fenced.value == round
            }
            if round == 1 { pool.turnUntilReady() }
        }
        guard case .failed(let exitCode, let reason) = pool.verdicts[0] else {
            Issue.record("it goes on")
            return
        }
        #expect(exitCode == 65)
        #expect(reason.contains("instance.id pod-3"))
    }

    @Test func `fenced long afterwards it goes on`() throws {
        let pool = HandTurnedPool()
        try pool.join()
        pool.turnUntilReady()
        for round in 1...2 {
            _ = try pool.makeRival()
            pool.send("7", #"{"user_id":7}"#)
            pool.turn(until: "fenced \(round) times") {
                pool.workers[0].metrics.fenced.value == round
            }
            pool.turnUntilCommitted(Int64(round))
            let until = pool.cluster.clock.wall.milliseconds + 20_001
            pool.turn(until: "two time-outs later") {
                pool.cluster.clock.wall.milliseconds > until
            }
        }
        #expect(pool.verdicts == [.running])
    }
}
