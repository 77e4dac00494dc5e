/// Moments that a hunt must have met: a hunt of 10,000 seeds that misses one of them has not
/// looked.
package enum Probe: String, CaseIterable, Sendable {
    case crashedBetweenProduceAndCommit
    case crashedBetweenOffsetsAndCommit
    case crashedAfterCommitBeforeItsAnswer
    case crashedWhileRestoring
    case crashedInsideRevocation
    case crashedWhileStarting
    case committedInsideRevocation
    case transactionAborted
    case commitAnswerLost
    case zombieRefused
    case producerFenced
    case newProducerEndsAnOpenTransaction
    case transactionTimedOut
    case sessionExpired
    case memberPutOut
    case partitionsLost
    case committedOffsetsWait
    case restoreMeetsAnOpenTransaction
    case compactedWhileRestoring
    case recordsDeliveredTwice
    case deliveryFailed
    case outageMetATransaction
    case coordinatorWasAway
    case stoppedInOrder
    case pausedWithRecordsWaiting
    case clockJumped
    case tombstoneWritten
    case unreadableRecord
    case exitedForAnotherInstance
    case allProcessesDown
}

/// How often each probe was met.
package struct ProbeCounts: Sendable {
    private var counts = Array(repeating: 0, count: Probe.allCases.count)

    /// Creates counts of zero.
    package init() {}

    /// How often a probe was met.
    package subscript(_ probe: Probe) -> Int {
        Probe.allCases.firstIndex(of: probe).map { counts[$0] } ?? 0
    }

    mutating func count(_ probe: Probe) {
        if let index = Probe.allCases.firstIndex(of: probe) { counts[index] += 1 }
    }

    /// Adds the counts of another run.
    package mutating func add(_ other: ProbeCounts) {
        for index in counts.indices { counts[index] += other.counts[index] }
    }
}
