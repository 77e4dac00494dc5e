internal import ComboCore
internal import ComboWire
internal import StreamPorts
internal import Telemetry

/// Which partitions' changelogs are read just now; those that come later wait for the next group.
struct RestoreQueue {
    /// The partitions being read; the reader is assigned to exactly these.
    private(set) var active: [RestoringPartition] = []
    /// Not before this moment are the brokers asked again.
    var nextAttempt: MonotonicTime?

    var isBusy: Bool { !active.isEmpty }

    mutating func begin(_ group: [RestoringPartition]) { active = group }

    mutating func remove(_ number: Int32) { active.removeAll { $0.number == number } }

    mutating func cancel() { active = [] }

    mutating func forget(_ numbers: [Int32]) { active.removeAll { numbers.contains($0.number) } }
}

extension Worker {
    /// Takes restoring one slice further: asks for what is needed, or reads some of the changelog.
    func restoreSlice() throws(StreamError) {
        if !restore.isBusy { try beginRestore() }
        guard restore.isBusy else { return }
        try changelog.poll(
            limit: Limits.restoreRecordsPerSlice,
            timeoutMilliseconds: restoreWait
        )
        let records = changelog.batch
        for index in 0..<records.count { takeIn(records[index]) }
        for event in changelog.events {
            if case .endOfPartition(let number, let offset) = event {
                restore.active.first { $0.number == number }?.position = offset
            } else if case .trouble(let error) = event {
                heed(error, on: configuration.changelogTopic)
            }
        }
        for restoring in restore.active {
            restoring.position = max(
                restoring.position,
                changelog.position(partition: restoring.number) ?? 0
            )
            if restoring.position >= restoring.target { try finishRestore(restoring) }
        }
    }

    /// With nothing live there is nothing to keep waiting.
    private var restoreWait: Int32 {
        partitions.contains { $0.processor != nil } ? 0 : Int32(Limits.pollMilliseconds)
    }

    /// Asks where the partitions that wait stand, then how far their changelogs go: in this order,
    /// so that every state behind the committed offset lies below the watermark.
    private func beginRestore() throws(StreamError) {
        let waiting = partitions.filter { if case .assigned = $0.phase { true } else { false } }
        guard !waiting.isEmpty else { return }
        let now = clock.monotonic
        if let nextAttempt = restore.nextAttempt, now < nextAttempt { return }
        restore.nextAttempt = MonotonicTime(
            milliseconds: now.milliseconds + Limits.questionRetryMilliseconds
        )
        let committed = try source.committed(
            waiting.map(\.number),
            timeoutMilliseconds: Limits.questionMilliseconds
        )
        var group: [RestoringPartition] = []
        for offset in committed {
            let target: Int64
            do {
                target = try changelog.highWatermark(
                    partition: offset.partition,
                    timeoutMilliseconds: Limits.questionMilliseconds
                )
            } catch {
                if error.disposition == .refused, !error.isMissingRight {
                    failForMissingChangelog(offset.partition, error)
                }
                throw error
            }
            group.append(
                RestoringPartition(
                    number: offset.partition,
                    committed: offset.offset,
                    clock: ClockMetadata.clock(offset.metadata),
                    target: target
                )
            )
        }
        // A partition that was read before would go on where that reading ended. Before any phase
        // changes: if it fails, everything is asked again.
        try changelog.assign([])
        try changelog.assign(group.filter { $0.target > 0 }.map(\.number))
        restore.nextAttempt = nil
        for restoring in group {
            guard let index = index(of: restoring.number) else { continue }
            partitions[index].phase = .restoring(restoring)
        }
        restore.begin(group)
        publishStatus(force: true)
    }

    private func failForMissingChangelog(_ number: Int32, _ error: StreamError) {
        fail(
            exitCode: 68,
            "partition \(number) of \(configuration.inputTopic) has no partition in "
                + "\(configuration.changelogTopic): run giftcombo topics (\(error))"
        )
    }

    private func takeIn(_ record: RecordView) {
        guard let restoring = restore.active.first(where: { $0.number == record.partition })
        else { return }
        restoring.recordsRead += 1
        restoring.position = record.offset + 1
        do {
            try unsafe restoring.image.add(key: record.key, value: record.value)
        } catch {
            refuse(
                record.partition,
                "changelog \(configuration.changelogTopic) partition \(record.partition) offset "
                    + "\(record.offset): \(error)"
            )
        }
    }

    /// Makes a partition live: its state from the changelog, its position where it was committed.
    private func finishRestore(_ restoring: RestoringPartition) throws(StreamError) {
        guard let index = index(of: restoring.number) else { return }
        let marks = try source.watermarks(
            partition: restoring.number,
            timeoutMilliseconds: Limits.questionMilliseconds
        )
        let start = configuration.start == .earliest ? marks.low : marks.high
        let nextOffset = restoring.committed ?? start
        let processor = PartitionProcessor(
            partition: restoring.number,
            nextOffset: nextOffset,
            configuration: configuration,
            executor: executor
        )
        let confined = Confined(restoring, to: executor)
        let extent: ChangelogImage.Extent
        switch processor.assumeIsolated({ $0.restore(confined) }) {
        case .success(let reached): extent = reached
        case .failure(let error):
            refuse(restoring.number, "changelog \(configuration.changelogTopic): \(error)")
            return
        }
        if let mismatch = mismatch(extent, restoring) {
            if try hasMoved(restoring) {
                restore.remove(restoring.number)
                partitions[index].phase = .assigned
            } else {
                refuse(restoring.number, mismatch)
            }
            return
        }
        try source.seek(partition: restoring.number, offset: nextOffset)
        try source.resume([restoring.number])
        restore.remove(restoring.number)
        partitions[index].phase = .live(processor)
        partitions[index].endAtStart = partitions[index].endAtStart ?? marks.high
        partitions[index].metrics.restoredRecords.add(Int(restoring.recordsRead))
        note(processor.assumeIsolated { $0.reading }, of: index)
        log.info(
            "ready",
            [
                "partition": .integer(Int64(restoring.number)), "offset": .integer(nextOffset),
                "keys": .integer(Int64(restoring.image.count)),
                "changelog_records": .integer(restoring.recordsRead),
                "took_ms": .integer(clock.monotonic.since(partitions[index].waitsSince)),
            ]
        )
        publishStatus(force: true)
    }

    /// Why state and offset don't belong together; nil: they do.
    ///
    /// With ones that don't, gifts would be counted twice, or not at all.
    private func mismatch(
        _ extent: ChangelogImage.Extent,
        _ restoring: RestoringPartition
    ) -> String? {
        guard let lastOffset = extent.lastOffset else { return nil }
        guard let committed = restoring.committed else {
            return "there is state in \(configuration.changelogTopic) but no committed offset (it "
                + "expired, or was deleted): run giftcombo topics --reset-state"
        }
        if lastOffset < committed { return nil }
        return "the state in \(configuration.changelogTopic) has counted offset \(lastOffset), the "
            + "committed offset is \(committed) (it was set back): run giftcombo topics "
            + "--reset-state"
    }

    /// Whether another owner has committed since the restore began.
    ///
    /// That happens to a member that was put out of the group and does not know yet: the state it
    /// reads is the next owner's, ahead of the offset that it was told. It asks anew, and soon
    /// hears of its loss.
    private func hasMoved(_ restoring: RestoringPartition) throws(StreamError) -> Bool {
        let committed = try source.committed(
            [restoring.number],
            timeoutMilliseconds: Limits.questionMilliseconds
        )
        return committed.first?.offset != restoring.committed
    }

    private func refuse(_ number: Int32, _ reason: String) {
        restore.remove(number)
        guard let index = index(of: number) else { return }
        partitions[index].phase = .refused(reason)
        log.error("refused", ["partition": .integer(Int64(number)), "reason": "\(reason)"])
        publishStatus(force: true)
    }
}
