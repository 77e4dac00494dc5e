internal import ComboCore
internal import ComboWire
internal import StreamPorts
internal import Telemetry

extension Worker {
    /// Posts how the worker is, a few times a second.
    func publishStatus(force: Bool) {
        let now = clock.monotonic
        if !force, let lastStatus, now.since(lastStatus) < Limits.statusMilliseconds { return }
        lastStatus = now
        let statuses = partitions.map(status)
        for (index, status) in statuses.enumerated() {
            let metrics = partitions[index].metrics
            metrics.liveCombos.set(Int64(status.liveCombos))
            metrics.rememberedKeys.set(Int64(status.rememberedKeys))
            if let position = status.position { metrics.position.set(position) }
            if let lag = status.lag { metrics.lagRecords.set(lag) }
            metrics.stateBytes.set(Int64(status.stateBytes))
            metrics.restoreRemaining.set(
                status.restoreTarget.map { max(0, $0 - status.restored) } ?? 0
            )
            if let clock = status.clockMilliseconds, clock > 0 {
                metrics.clockMilliseconds.set(clock)
                metrics.clockBehindMilliseconds.set(self.clock.wall.milliseconds - clock)
            }
        }
        board.post(
            worker: number,
            statuses,
            hasJoined: hasJoined,
            areBrokersUp: areBrokersUp,
            totals: totals,
            lastCommit: lastCommit
        )
    }

    private func status(_ partition: OwnedPartition) -> PartitionStatus {
        var status = PartitionStatus(
            partition: partition.number,
            worker: number,
            phase: "assigned",
            position: partition.nextOffset,
            lag: lag(of: partition),
            liveCombos: partition.reading?.liveCount ?? 0,
            rememberedKeys: partition.reading?.rememberedCount ?? 0,
            stateBytes: partition.reading?.byteCount ?? 0,
            clockMilliseconds: partition.reading?.clock.milliseconds,
            restored: 0
        )
        switch partition.phase {
        case .assigned: break
        case .restoring(let restoring):
            status.phase = "restoring"
            status.restored = restoring.position
            status.restoreTarget = restoring.target
        case .live: status.phase = "live"
        case .refused(let reason):
            status.phase = "refused"
            status.reason = reason
        }
        return status
    }

    private func lag(of partition: OwnedPartition) -> Int64? {
        if partition.isAtEnd { return 0 }
        guard let next = partition.nextOffset,
            let end = source.cachedEnd(partition: partition.number)
        else { return nil }
        return max(0, end - next)
    }

    // MARK: - The end

    /// The final commit, then out of the group.
    func stop() {
        attempt { () throws(StreamError) in
            try commit(withinMilliseconds: Limits.revokeMilliseconds)
        }
        close()
        if case .running = verdict { verdict = .finished }
    }

    /// Leaves the group and closes what is open, each within a bounded time.
    func close() {
        source.close(timeoutMilliseconds: Limits.closeMilliseconds)
        changelog.close(timeoutMilliseconds: Limits.closeMilliseconds)
        sink.close(timeoutMilliseconds: Limits.closeMilliseconds)
        publishStatus(force: true)
        log.info("stopped")
    }
}

extension KafkaErrorLabel {
    init(_ disposition: StreamError.Disposition) {
        switch disposition {
        case .retriable: self = .retriable
        case .abortable: self = .abortable
        case .fenced: self = .fenced
        case .fatal: self = .fatal
        case .refused: self = .refused
        }
    }
}

extension WorkerMetrics {
    /// Adds what a partition counted since `before`.
    func add(
        _ now: EngineCounts,
        since before: EngineCounts,
        dropped: Int64,
        to partition: PartitionMetrics
    ) {
        partition.recordsIn.add(Int(now.records - before.records))
        commands.add(Int(now.commands.show - before.commands.show), .show)
        commands.add(Int(now.commands.update - before.commands.update), .update)
        commands.add(Int(now.commands.hide - before.commands.hide), .hide)
        commands.add(Int(now.commands.end - before.commands.end), .end)
        duplicates.add(Int(now.duplicates - before.duplicates))
        lateRecords.add(Int(now.late - before.late))
        clampedRecords.add(Int(now.clamped - before.clamped))
        tombstonesSkipped.add(Int(now.tombstones - before.tombstones))
        offsetsDropped.add(Int(dropped))
    }
}
