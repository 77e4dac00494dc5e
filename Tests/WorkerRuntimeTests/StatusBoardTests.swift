import ComboWire
import Telemetry
import Testing

@testable import WorkerRuntime

private func at(_ milliseconds: Int64) -> MonotonicTime {
    MonotonicTime(milliseconds: milliseconds)
}

private func status(_ partition: Int32, _ phase: String, reason: String? = nil) -> PartitionStatus {
    PartitionStatus(
        partition: partition,
        worker: 0,
        phase: phase,
        reason: reason,
        liveCombos: 0,
        rememberedKeys: 0,
        stateBytes: 0,
        restored: 0
    )
}

struct StatusBoardTests {
    private func post(
        _ board: StatusBoard,
        worker: Int,
        _ partitions: [PartitionStatus],
        hasJoined: Bool = true,
        records: Int64 = 0,
        lastCommit: Int64 = 0
    ) {
        var totals = WorkerTotals()
        totals.records = records
        totals.commands = records * 2
        totals.transactions = 1
        board.post(
            worker: worker,
            partitions,
            hasJoined: hasJoined,
            areBrokersUp: true,
            totals: totals,
            lastCommit: at(lastCommit)
        )
    }

    @Test func `the process is ready when all have joined and every partition is live`() {
        let board = StatusBoard(workers: 2)
        #expect(board.reasonNotReady == "waiting for the brokers")
        board.noteInitialized(worker: 0)
        #expect(board.reasonNotReady == "waiting for the brokers")
        #expect(!board.areAllInitialized)
        board.noteInitialized(worker: 1)
        #expect(board.areAllInitialized)
        #expect(board.reasonNotReady == "worker 0 has not joined the group")
        post(board, worker: 0, [status(0, "live"), status(3, "restoring")])
        #expect(board.reasonNotReady == "worker 1 has not joined the group")
        post(board, worker: 1, [])
        #expect(board.reasonNotReady == "partition 3 is restoring")
        post(board, worker: 0, [status(0, "assigned"), status(3, "refused", reason: "no offset")])
        #expect(board.reasonNotReady == "partition 3: no offset", "the worse reason comes first")
        post(board, worker: 0, [status(0, "live"), status(3, "live")])
        #expect(board.reasonNotReady == nil)
    }

    @Test func `partitions stand in order and totals are sums`() {
        let board = StatusBoard(workers: 2)
        post(board, worker: 0, [status(2, "live"), status(5, "live")], records: 3, lastCommit: 9)
        post(board, worker: 1, [status(0, "live"), status(4, "live")], records: 4, lastCommit: 7)
        #expect(board.partitions.map(\.partition) == [0, 2, 4, 5])
        #expect(board.totals.records == 7)
        #expect(board.totals.commands == 14)
        #expect(board.totals.transactions == 2)
        #expect(board.lastCommit == at(9))
    }

    @Test func `a stop is overdue at its first deadline and not before`() {
        let board = StatusBoard(workers: 1)
        #expect(!board.stopRequested && !board.isStopOverdue(at(.max)))
        board.requestStop(deadline: at(100))
        board.requestStop(deadline: at(900))
        #expect(board.stopRequested)
        #expect(!board.isStopOverdue(at(99)))
        #expect(board.isStopOverdue(at(100)))
    }

    @Test func `a gap is remembered from the late beat on`() {
        let board = StatusBoard(workers: 2)
        board.beat(worker: 0, at(0))
        board.beat(worker: 0, at(2_500))
        #expect(!board.hadGap(worker: 0, since: at(0)))
        board.beat(worker: 0, at(5_001))
        #expect(board.hadGap(worker: 0, since: at(5_000)))
        #expect(!board.hadGap(worker: 0, since: at(5_001)))
        #expect(!board.hadGap(worker: 1, since: at(0)))
    }

    @Test func `the oldest beat is that of a worker that runs`() {
        let board = StatusBoard(workers: 3)
        #expect(board.oldestBeat(at(10)) == nil)
        board.beat(worker: 0, at(10))
        board.beat(worker: 2, at(4))
        #expect(board.oldestBeat(at(11)).map { [$0.worker, Int($0.age)] } == [2, 7])
        board.post(worker: 2, verdict: .finished)
        #expect(board.oldestBeat(at(11)).map { [$0.worker, Int($0.age)] } == [0, 1])
    }

    @Test func `the end counts from when all workers were there together`() {
        let board = StatusBoard(workers: 2)
        board.report(worker: 0, isAtEnd: true)
        #expect(board.atEndFor(at(5)) == nil)
        board.report(worker: 1, isAtEnd: true)
        #expect(board.atEndFor(at(6)) == 0)
        #expect(board.atEndFor(at(9)) == 3)
        board.report(worker: 0, isAtEnd: false)
        #expect(board.atEndFor(at(10)) == nil)
        board.report(worker: 0, isAtEnd: true)
        #expect(board.atEndFor(at(20)) == 0)
    }

    @Test func `verdicts stand by worker`() {
        let board = StatusBoard(workers: 2)
        board.post(worker: 1, verdict: .failed(exitCode: 65, reason: "r"))
        #expect(board.verdicts == [.running, .failed(exitCode: 65, reason: "r")])
    }
}

struct DeadLetterReasonTests {
    @Test(arguments: RefusalReason.allCases)
    func `a dead letter counts under the reason that stands in its header`(reason: RefusalReason) {
        #expect(DeadLetterLabel(reason).text == reason.rawValue)
    }

    @Test func `every label has its reason`() {
        #expect(RefusalReason.allCases.count == DeadLetterLabel.allCases.count)
    }
}

struct JSONStringTests {
    @Test func `quotes, backslashes and controls are escaped`() {
        #expect(jsonString("a\"b\\c\nd\u{1}\u{1f}🎁") == #""a\"b\\c\nd\u0001\u001f🎁""#)
    }
}
