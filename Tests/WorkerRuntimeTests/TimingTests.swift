import ComboCore
import Testing

@testable import WorkerRuntime

private func at(_ milliseconds: Int64) -> MonotonicTime {
    MonotonicTime(milliseconds: milliseconds)
}

struct IdleClockTests {
    private let wall = WallTime(milliseconds: 1_760_000_000_000)

    /// A clock of 200 ms grace that has turned every `step` up to `end`.
    private func turned(to end: Int64, step: Int64 = 40) -> IdleClock {
        var clock = IdleClock(grace: 200)
        for moment in stride(from: Int64(0), through: end, by: Int(step)) {
            let isLate = clock.turn(at(moment))
            #expect(!isLate)
        }
        return clock
    }

    @Test func `without a grace the wall clock never has a say`() {
        var clock = IdleClock(grace: nil)
        for moment in stride(from: Int64(0), to: 100_000, by: 5_000) {
            let isLate = clock.turn(at(moment))
            #expect(!isLate)
            #expect(clock.target(at(moment), wall: wall) == nil)
        }
    }

    @Test func `the wall clock has a say after a full grace, and a grace behind`() {
        let clock = turned(to: 200)
        #expect(IdleClock(grace: 200).target(at(1_000), wall: wall) == nil)
        #expect(clock.target(at(199), wall: wall) == nil)
        let target = EventTime(milliseconds: 1_759_999_999_800)
        #expect(clock.target(at(200), wall: wall) == target)
    }

    @Test func `a gap of more than half a grace starts the grace anew`() {
        var clock = turned(to: 400, step: 100)
        let isLate = clock.turn(at(501))
        #expect(isLate)
        #expect(clock.target(at(501), wall: wall) == nil)
        for moment: Int64 in [601, 700] {
            let isLate = clock.turn(at(moment))
            #expect(!isLate)
            #expect(clock.target(at(moment), wall: wall) == nil)
        }
        #expect(clock.target(at(701), wall: wall) != nil)
    }

    @Test func `an outage starts the grace anew`() {
        var clock = turned(to: 400)
        clock.outage(at(410))
        #expect(clock.target(at(609), wall: wall) == nil)
        #expect(clock.target(at(610), wall: wall) != nil)
    }

    @Test func `with a grace of zero every turn that moves time is late`() {
        var clock = IdleClock(grace: 0)
        let answers = [1, 1, 2].map { clock.turn(at($0)) }
        #expect(answers == [false, false, true])
        #expect(clock.target(at(2), wall: wall) == EventTime(milliseconds: wall.milliseconds))
    }
}

struct CommitPolicyTests {
    private let policy = CommitPolicy()

    @Test(arguments: [(Int64(0), Int64(100)), (99, 1), (100, 0), (250, -150)])
    func `a busy worker fills a transaction for the interval`(openFor: Int64, left: Int64) {
        let answer = policy.timeLeft(openFor: openFor, sinceCommit: 0, events: 5, isCaughtUp: false)
        #expect(answer == left)
    }

    @Test(arguments: [(Int64(0), Int64(20)), (19, 1), (20, 0), (5_000, -4_980)])
    func `one that has caught up waits only for its last commit`(since: Int64, left: Int64) {
        let answer = policy.timeLeft(openFor: 0, sinceCommit: since, events: 1, isCaughtUp: true)
        #expect(answer == left)
    }

    @Test(arguments: [true, false])
    func `enough events are committed at once`(isCaughtUp: Bool) {
        func left(_ events: Int) -> Int64 {
            policy.timeLeft(openFor: 0, sinceCommit: 0, events: events, isCaughtUp: isCaughtUp)
        }
        #expect(left(99_999) > 0)
        #expect(left(100_000) == 0)
        #expect(left(100_001) == 0)
    }
}

struct OpenWorkTests {
    @Test func `work is open from its first piece until it is closed`() {
        var work = OpenWork()
        #expect(!work.isOpen)
        work.add(events: 0, at: at(7))
        work.add(events: 3, at: at(9))
        #expect(work.isOpen && work.since == at(7) && work.events == 3)
        work.hasBegun = true
        work.shownAt.append(1)
        work.close()
        #expect(!work.isOpen && !work.hasBegun && work.events == 0 && work.shownAt.isEmpty)
    }
}

struct ClockMetadataTests {
    @Test(arguments: [Int64.min, -1, 0, 1_760_000_000_000, .max])
    func `a clock comes back from the text that is committed`(milliseconds: Int64) {
        let clock = EventTime(milliseconds: milliseconds)
        #expect(ClockMetadata.clock(ClockMetadata.text(clock)) == clock)
    }

    @Test(
        arguments: [
            nil, "", "clock", "clock=", "clock=x", "clock=1.5", "clock= 1", "clock=1 ", "Clock=1",
            "1760000000000", "clock=9223372036854775808", "xclock=1", "clock=٣",
        ]
    )
    func `what somebody else wrote is no clock`(text: String?) {
        #expect(ClockMetadata.clock(text) == nil)
    }

    @Test func `the text is what earlier versions wrote`() {
        #expect(ClockMetadata.text(EventTime(milliseconds: 42)) == "clock=42")
    }
}

struct LimitsTests {
    @Test func `every wait within a turn is shorter than what watches the loop allows`() {
        // A beat that is 2,500 ms late counts as a gap, a loop that stands 15,000 ms as dead.
        #expect(Limits.pollMilliseconds < 100, "half of the default grace")
        #expect(Limits.transactionCallMilliseconds < 2_500)
        #expect(Limits.questionMilliseconds < 2_500)
        #expect(Limits.revokeMilliseconds + Int64(Limits.closeMilliseconds) < 10_000)
    }
}
