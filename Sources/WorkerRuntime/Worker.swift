internal import ComboCore
internal import ComboWire
package import StreamPorts
package import Telemetry

/// How a worker's loop stands after a turn.
package enum WorkerVerdict: Equatable, Sendable {
    /// It goes on.
    case running
    /// It has done all that it was asked to (stopped, or at the end), and has left the group.
    case finished
    /// It can't go on; the process ends with this exit code.
    case failed(exitCode: Int32, reason: String)
}

/// One worker: a member of the group with its own clients and the partitions it owns.
///
/// One thread turns it.
///
/// A turn takes a batch of records, hands each partition's run to its processor, gives the commands
/// to the open transaction, and commits when it is time:
///
///     poll ─▶ (rebalance, inside) ─▶ process ─▶ restore a slice ─▶ idle clocks ─▶ produce ─▶
///     commit
///
/// What went into a transaction is either committed together with the offsets that it came from, or
/// the partitions go back to the committed offsets and rebuild their state.
///
/// Everything here is synchronous and takes time only from `clock` and the ports, so that a
/// simulator can turn it by hand.
package final class Worker {
    /// Its number within the process, from 0.
    package let number: Int
    let configuration: WorkerConfiguration
    let ports: any PortFactory
    let source: any RecordSource
    var sink: any TransactionalSink
    let changelog: any StreamPorts.ChangelogReader
    let clock: any WorkerClock
    let log: Logger
    let metrics: WorkerMetrics
    let registry: MetricRegistry
    let board: StatusBoard

    let executor = WorkerExecutor()
    let context = TurnContext()
    /// In order of their numbers.
    var partitions: [OwnedPartition] = []
    var transaction = OpenWork()
    var idleClock: IdleClock
    /// When an idle partition's next timer may be due, on the wall clock.
    var idleWake: WallTime?
    var restore = RestoreQueue()
    var verdict = WorkerVerdict.running
    /// Whether the group has given this worker its share, which may be nothing.
    var hasJoined = false
    var areBrokersUp = true
    var lastFenced: MonotonicTime?
    var lastStatus: MonotonicTime?
    /// When a commit ended last.
    var lastCommit: MonotonicTime
    var totals = WorkerTotals()
    /// The records of one call to the sink; memory that is used again.
    var outgoing: ContiguousArray<OutgoingRecord> = []

    /// Creates a worker on its ports, whose transactional id it has initialized already.
    package init(
        number: Int,
        configuration: WorkerConfiguration,
        ports: any PortFactory,
        sink: any TransactionalSink,
        clock: any WorkerClock,
        log: Logger,
        registry: MetricRegistry,
        board: StatusBoard
    ) throws(StreamError) {
        self.number = number
        self.configuration = configuration
        self.ports = ports
        self.sink = sink
        source = try ports.makeSource(worker: number)
        changelog = try ports.makeChangelogReader(worker: number)
        self.clock = clock
        self.log = log.with(["worker": .integer(Int64(number))])
        self.registry = registry
        self.board = board
        metrics = WorkerMetrics()
        registry.register(metrics)
        idleClock = IdleClock(grace: configuration.idleGrace)
        lastCommit = clock.monotonic
    }

    /// Joins the group.
    package func start() throws(StreamError) {
        try source.subscribe(listener: self)
    }

    /// One turn of the loop.
    package func turn() -> WorkerVerdict {
        executor.run {
            guard verdict == .running else { return verdict }
            board.beat(worker: number, clock.monotonic)
            if board.stopRequested {
                stop()
                return verdict
            }
            let (now, wall) = (clock.monotonic, clock.wall)
            if idleClock.turn(now) { askForNewEnds() }
            attempt { () throws(StreamError) in
                try poll()
                try restoreSlice()
                try moveIdleClocks(now, wall)
                try produceOutput()
                try commitIfDue()
            }
            publishStatus(force: false)
            finishIfAtEnd()
            return verdict
        }
    }

    /// Runs a piece of the loop, and does what its error asks for.
    func attempt(_ body: () throws(StreamError) -> Void) {
        do {
            try body()
        } catch {
            recover(from: error)
        }
    }

    // MARK: - Records

    private func poll() throws(StreamError) {
        try source.poll(
            limit: Limits.recordsPerTurn,
            timeoutMilliseconds: Int32(pollTimeout())
        )
        try processBatch()
        for event in source.events { try handle(event) }
    }

    /// How long the next poll may wait, milliseconds.
    private func pollTimeout() -> Int64 {
        if restore.isBusy { return 0 }
        var wait = Limits.pollMilliseconds
        if let grace = configuration.idleGrace { wait = min(wait, max(1, grace / 5)) }
        if let idleWake {
            wait = min(wait, max(0, idleWake.milliseconds - clock.wall.milliseconds))
        }
        if let left = commitTimeLeft() { wait = min(wait, max(0, left)) }
        return wait
    }

    private func processBatch() throws(StreamError) {
        let records = source.batch
        guard !records.isEmpty else { return }
        context.records = records
        let arrivedAt = clock.wall
        let started = clock.monotonicMicroseconds
        var start = 0
        while start < records.count {
            let number = records[start].partition
            var end = start + 1
            while end < records.count, records[end].partition == number { end += 1 }
            process(start..<end, of: number, arrivedAt)
            start = end
        }
        metrics.batchDuration.observe(microseconds: clock.monotonicMicroseconds - started)
        try produceOutput()
        try produceDeadLetters()
    }

    private func process(_ run: Range<Int>, of number: Int32, _ arrivedAt: WallTime) {
        // A partition that isn't live is paused; what still comes was under way.
        guard let index = index(of: number), let processor = partitions[index].processor else {
            return
        }
        let confined = Confined(context, to: executor)
        let reading = processor.assumeIsolated {
            $0.process(confined, run, arrivedAt: arrivedAt)
        }
        partitions[index].isAtEnd = false
        partitions[index].isDirty = true
        transaction.add(events: run.count, at: clock.monotonic)
        note(reading, of: index)
    }

    private func handle(_ event: SourceEvent) throws(StreamError) {
        switch event {
        case .endOfPartition(let number, let offset):
            guard let index = index(of: number), let processor = partitions[index].processor,
                let next = partitions[index].nextOffset, offset >= next
            else { return }
            partitions[index].isAtEnd = true
            note(processor.assumeIsolated { $0.skip(to: offset) }, of: index)
        case .outOfRange(let number):
            try handleOutOfRange(number)
        case .trouble(let error):
            heed(error, on: configuration.inputTopic)
        case .brokersDown:
            areBrokersUp = false
            log.warning("brokers-down", ["next": "trying on"])
            idleClock.outage(clock.monotonic)
        case .brokersUp:
            areBrokersUp = true
            log.info("brokers-up")
            askForNewEnds()
        }
    }

    /// Tells of an error that reading has met; a right that is missing is no matter of waiting.
    func heed(_ error: StreamError, on topic: String) {
        guard error.isMissingRight else {
            log.warning("trouble", ["error": "\(error)"], repeatKey: error.code)
            return
        }
        fail(
            exitCode: 1,
            "\(topic), read as group \(configuration.groupID): \(error.withAdvice)"
        )
    }

    /// The position lies outside the log: retention overtook it, or the topic is another one now.
    private func handleOutOfRange(_ number: Int32) throws(StreamError) {
        guard let index = index(of: number), let next = partitions[index].nextOffset else { return }
        let marks = try source.watermarks(
            partition: number,
            timeoutMilliseconds: Limits.questionMilliseconds
        )
        if next < marks.low {
            log.error(
                "records-lost",
                [
                    "partition": .integer(Int64(number)), "from": .integer(next),
                    "to": .integer(marks.low),
                    "reason": "retention deleted records before they were read",
                ]
            )
            partitions[index].metrics.recordsLost.add(Int(marks.low - next))
            if let processor = partitions[index].processor {
                note(processor.assumeIsolated { $0.skip(to: marks.low) }, of: index)
            }
            try source.seek(partition: number, offset: marks.low)
        } else if next > marks.high {
            let reason =
                "\(configuration.inputTopic) partition \(number) ends at \(marks.high), before the "
                + "committed offset \(next): the topic was recreated or truncated; "
                + "see giftcombo topics --reset-state"
            partitions[index].phase = .refused(reason)
            fail(exitCode: 66, reason)
        } else {
            try source.seek(partition: number, offset: next)
        }
    }

    // MARK: - The idle clock

    /// Ends known before a pause or an outage count no more: asks each idle partition's broker
    /// anew.
    func askForNewEnds() {
        for index in partitions.indices where partitions[index].isAtEnd {
            partitions[index].isAtEnd = false
            guard let next = partitions[index].nextOffset else { continue }
            attempt { () throws(StreamError) in
                try source.seek(partition: partitions[index].number, offset: next)
            }
        }
    }

    /// Lets partitions at their end follow the clocks as they stood when the turn began.
    ///
    /// Not as they stand now: since the poll a call may have hung, and what came meanwhile waits.
    private func moveIdleClocks(_ now: MonotonicTime, _ wall: WallTime) throws(StreamError) {
        idleWake = nil
        guard let grace = configuration.idleGrace, let target = idleClock.target(now, wall: wall)
        else { return }
        let confined = Confined(context, to: executor)
        for index in partitions.indices where partitions[index].isAtEnd {
            guard let processor = partitions[index].processor,
                let before = partitions[index].reading, target > before.clock,
                before.liveCount > 0 || before.rememberedCount > 0,
                source.isConnected(partition: partitions[index].number)
            else { continue }
            let made = context.commands.count
            let reading = processor.assumeIsolated { $0.advance(confined, to: target) }
            note(reading, of: index)
            // One that lies further away than any poll waits needs no waking.
            if reading.nextTimer.milliseconds < wall.milliseconds {
                let due = WallTime(milliseconds: reading.nextTimer.milliseconds + 1 + grace)
                idleWake = min(idleWake ?? due, due)
            }
            if context.commands.count > made || reading.rememberedCount < before.rememberedCount {
                partitions[index].isDirty = true
                transaction.add(events: 0, at: clock.monotonic)
            }
        }
    }

    // MARK: - Bookkeeping

    func index(of number: Int32) -> Int? {
        partitions.firstIndex { $0.number == number }
    }

    /// Takes a processor's reading over, and what it counted into the metrics.
    func note(_ reading: PartitionProcessor.Reading, of index: Int) {
        partitions[index].reading = reading
        totals.records += reading.counts.records - partitions[index].counted.records
        if totals.firstRecord == nil, totals.records > 0 { totals.firstRecord = clock.monotonic }
        totals.commands += reading.counts.commands.total - partitions[index].counted.commands.total
        metrics.add(
            reading.counts,
            since: partitions[index].counted,
            dropped: reading.dropped - partitions[index].countedDropped,
            to: partitions[index].metrics
        )
        partitions[index].counted = reading.counts
        partitions[index].countedDropped = reading.dropped
    }

    func fail(exitCode: Int32, _ reason: String) {
        guard case .running = verdict else { return }
        log.error("failed", ["exit": .integer(Int64(exitCode)), "reason": "\(reason)"])
        verdict = .failed(exitCode: exitCode, reason: reason)
    }

    private func finishIfAtEnd() {
        guard configuration.stopsAtEnd, hasJoined, !transaction.isOpen else { return }
        board.report(worker: number, isAtEnd: partitions.allSatisfy(\.hasReachedEnd))
    }
}
