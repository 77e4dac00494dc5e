internal import ComboCore
internal import StreamPorts
internal import Telemetry

// The barrier of a rebalance. These run inside `source.poll`, on the worker's own thread: when they
// return, the partitions are acknowledged, and another member may begin with them.
extension Worker: RebalanceListener {
    /// Takes partitions over; each is restored before it runs.
    package func partitionsAssigned(_ numbers: [Int32]) {
        let begun = clock.monotonicMicroseconds
        defer { metrics.assignDuration.observe(microseconds: took(since: begun)) }
        hasJoined = true
        metrics.rebalances.add(1, .assigned)
        for number in numbers where index(of: number) == nil {
            let metrics = PartitionMetrics(topic: configuration.inputTopic, partition: number)
            registry.register(metrics)
            partitions.append(
                OwnedPartition(number: number, metrics: metrics, waitsSince: clock.monotonic)
            )
        }
        partitions.sort { $0.number < $1.number }
        log.info("assigned", ["partitions": "\(list(numbers))", "owned": "\(owned)"])
        publishStatus(force: true)
    }

    /// The last moment at which this member may commit for them: what is open is committed, or
    /// aborted.
    package func partitionsRevoked(_ numbers: [Int32]) {
        let begun = clock.monotonicMicroseconds
        defer { metrics.revokeDuration.observe(microseconds: took(since: begun)) }
        metrics.rebalances.add(1, .revoked)
        attempt { () throws(StreamError) in
            try commit(withinMilliseconds: Limits.revokeMilliseconds)
        }
        drop(numbers)
        log.info("revoked", ["partitions": "\(list(numbers))", "owned": "\(owned)"])
        publishStatus(force: true)
    }

    /// Another member may own them already, so nothing that came from them may be committed.
    package func partitionsLost(_ numbers: [Int32]) {
        let begun = clock.monotonicMicroseconds
        defer { metrics.loseDuration.observe(microseconds: took(since: begun)) }
        metrics.rebalances.add(1, .lost)
        log.warning("lost", ["partitions": "\(list(numbers))"])
        if transaction.isOpen { abortAndRebuild() }
        drop(numbers)
        publishStatus(force: true)
    }

    /// Forgets partitions, their state and their gauges.
    private func drop(_ numbers: [Int32]) {
        for number in numbers {
            guard let index = index(of: number) else { continue }
            registry.retire(partitions[index].metrics)
            partitions.remove(at: index)
        }
        restore.forget(numbers)
    }

    private func took(since begun: Int64) -> Int64 { clock.monotonicMicroseconds - begun }

    private func list(_ numbers: [Int32]) -> String {
        numbers.sorted().map { String($0) }.joined(separator: ",")
    }

    private var owned: String { list(partitions.map(\.number)) }
}
