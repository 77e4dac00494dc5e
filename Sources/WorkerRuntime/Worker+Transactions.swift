internal import ComboCore
internal import ComboWire
internal import StreamPorts
internal import Telemetry

/// What was done since the last commit and waits for the next one.
struct OpenWork {
    /// When its first piece came; nil: there is nothing to commit.
    private(set) var since: MonotonicTime?
    /// Input records in it.
    private(set) var events = 0
    /// Whether the producer has begun a transaction.
    var hasBegun = false
    /// Event times of the `show` and `update` commands in it, for the latency histogram.
    var shownAt: ContiguousArray<Int64> = []

    var isOpen: Bool { since != nil }

    mutating func add(events count: Int, at now: MonotonicTime) {
        since = since ?? now
        events += count
    }

    mutating func close() {
        since = nil
        events = 0
        hasBegun = false
        shownAt.removeAll(keepingCapacity: true)
    }
}

extension Worker {
    // MARK: - Producing

    /// Hands the commands made so far to the transaction.
    func produceOutput() throws(StreamError) {
        guard !context.commands.isEmpty else { return }
        try begin()
        outgoing.collect(context.commands, shownAt: &transaction.shownAt)
        try produceOutgoing()
        context.commands.removeAll()
    }

    /// Sends the refused records of the batch to the dead letters, as they came.
    ///
    /// Their timestamp is now, so that the topic's retention counts from when they were refused.
    func produceDeadLetters() throws(StreamError) {
        guard !context.refusals.isEmpty else { return }
        try begin()
        for refused in context.refusals {
            let record = context.records[refused.index]
            metrics.deadLetters.add(1, DeadLetterLabel(refused.refusal.reason))
            let headers = [
                RecordHeader(name: "error", value: refused.refusal.reason.rawValue),
                RecordHeader(name: "error-detail", value: refused.refusal.detail),
                RecordHeader(name: "source-topic", value: configuration.inputTopic),
                RecordHeader(name: "source-partition", value: String(record.partition)),
                RecordHeader(name: "source-offset", value: String(record.offset)),
            ]
            try unsafe sink.produce(
                OutgoingRecord(
                    topic: .deadLetters,
                    timestampMilliseconds: 0,
                    key: record.key,
                    value: record.value
                ),
                headers: headers
            )
        }
        context.refusals.removeAll(keepingCapacity: true)
    }

    /// Sends the latest state of every key that changed, to the partition of the same number.
    private func produceChanges() throws(StreamError) {
        let confined = Confined(context, to: executor)
        for index in partitions.indices where partitions[index].isDirty {
            partitions[index].processor?.assumeIsolated { $0.takeChanges(confined) }
        }
        guard context.changelog.count > 0 else { return }
        outgoing.collect(context.changelog)
        try produceOutgoing()
        context.changelog.removeAll()
    }

    private func produceOutgoing() throws(StreamError) {
        var failure: StreamError?
        unsafe outgoing.withUnsafeBufferPointer { records in
            do throws(StreamError) {
                try unsafe sink.produce(records)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    private func begin() throws(StreamError) {
        guard !transaction.hasBegun else { return }
        try sink.begin()
        transaction.hasBegun = true
    }

    // MARK: - Committing

    /// Milliseconds until the open work is due; nil: there is none.
    func commitTimeLeft() -> Int64? {
        guard let since = transaction.since else { return nil }
        let now = clock.monotonic
        let policy = configuration.commit
        let (openFor, sinceCommit) = (now.since(since), now.since(lastCommit))
        let whenBusy = policy.timeLeft(
            openFor: openFor,
            sinceCommit: sinceCommit,
            events: transaction.events,
            isCaughtUp: false
        )
        guard whenBusy > 0 else { return whenBusy }
        let whenCaughtUp = policy.timeLeft(
            openFor: openFor,
            sinceCommit: sinceCommit,
            events: transaction.events,
            isCaughtUp: true
        )
        // Asked only when the answer matters: it costs a look at every partition.
        return whenCaughtUp < whenBusy && isCaughtUp ? whenCaughtUp : whenBusy
    }

    /// Whether nothing that the brokers have told of waits to be read.
    private var isCaughtUp: Bool {
        partitions.allSatisfy { partition in
            guard partition.processor != nil, !partition.isAtEnd, let next = partition.nextOffset
            else { return true }
            return source.cachedEnd(partition: partition.number).map { $0 <= next } ?? true
        }
    }

    func commitIfDue() throws(StreamError) {
        sink.serve()
        guard let left = commitTimeLeft(), left <= 0 else { return }
        try commit(withinMilliseconds: Int64(configuration.transactionTimeout))
    }

    /// Commits the open work: output, dead letters, changed states and offsets together.
    ///
    /// - Throws: An error whose disposition is never `retriable`: what could be tried again was,
    /// until
    ///   the time was over, and is to be aborted.
    func commit(withinMilliseconds limit: Int64) throws(StreamError) {
        guard transaction.isOpen else { return }
        let started = clock.monotonicMicroseconds
        let deadline = MonotonicTime(milliseconds: clock.monotonic.milliseconds + limit)
        try produceOutput()
        try begin()
        try produceChanges()
        let offsets = partitions.filter { $0.isDirty && $0.processor != nil }.map { partition in
            PartitionOffset(
                partition: partition.number,
                offset: partition.nextOffset,
                metadata: partition.reading.map { ClockMetadata.text($0.clock) }
            )
        }
        if !offsets.isEmpty {
            try retrying(until: deadline) { () throws(StreamError) in
                // Taken anew each time: this is what fences a member that lost its partitions.
                guard let membership = source.membership() else {
                    throw StreamError(
                        .abortable,
                        operation: "send_offsets_to_transaction",
                        code: "NOT_JOINED",
                        detail: "the worker is no member of the group"
                    )
                }
                try sink.sendOffsets(
                    offsets,
                    membership: membership,
                    timeoutMilliseconds: Limits.transactionCallMilliseconds
                )
            }
        }
        try retrying(until: deadline) { () throws(StreamError) in
            try sink.commit(timeoutMilliseconds: Limits.transactionCallMilliseconds)
        }
        noteCommitted(started)
    }

    private func noteCommitted(_ started: Int64) {
        let now = clock.wall.milliseconds
        for shownAt in transaction.shownAt {
            metrics.endToEndLatency.observe(milliseconds: max(0, now - shownAt))
        }
        metrics.commitDuration.observe(microseconds: clock.monotonicMicroseconds - started)
        metrics.transactions.add(1, .committed)
        totals.transactions += 1
        lastCommit = clock.monotonic
        transaction.close()
        for index in partitions.indices { partitions[index].isDirty = false }
    }

    /// Makes a call again while its error is retriable; afterwards such an error asks for an abort.
    private func retrying(
        until deadline: MonotonicTime,
        _ call: () throws(StreamError) -> Void
    ) throws(StreamError) {
        while true {
            do {
                return try call()
            } catch {
                guard error.disposition == .retriable else { throw error }
                let now = clock.monotonic
                board.beat(worker: number, now)
                log.warning("commit-retried", ["error": "\(error)"], repeatKey: "commit-retried")
                guard now < deadline, !board.isStopOverdue(now) else {
                    var late = error
                    late.disposition = .abortable
                    throw late
                }
                clock.sleep(milliseconds: 10)
            }
        }
    }

    // MARK: - Recovering

    /// Does what an error's disposition asks for.
    ///
    /// - `retriable`: a question without an answer; it is asked again in a later turn.
    /// - `abortable`: back to the committed offsets, and the state with them.
    /// - `fenced`, `fatal`: the same with a new producer.
    /// - `refused`: nothing a program can mend.
    func recover(from error: StreamError) {
        idleClock.outage(clock.monotonic)
        metrics.kafkaErrors.add(1, KafkaErrorLabel(error.disposition))
        switch error.disposition {
        case .retriable:
            log.warning("retried", ["error": "\(error)"], repeatKey: "retried \(error.code)")
        case .abortable:
            log.warning("aborted", ["error": "\(error)"], repeatKey: "aborted \(error.code)")
            abortAndRebuild()
        case .fenced:
            metrics.fenced.increment()
            log.warning("fenced", ["error": "\(error)"])
            if isAnotherInstanceAlive() { return }
            renewSink()
            rebuild()
        case .fatal:
            log.error("producer-failed", ["error": "\(error)", "next": "a new one"])
            renewSink()
            rebuild()
        case .refused:
            fail(exitCode: 1, error.withAdvice)
        }
    }

    /// Aborts the open transaction and takes every partition back to its committed offset.
    func abortAndRebuild() {
        if transaction.hasBegun {
            do {
                try abortTransaction()
            } catch {
                log.warning("abort-failed", ["error": "\(error)", "next": "a new producer"])
                if error.disposition == .fenced {
                    metrics.fenced.increment()
                    if isAnotherInstanceAlive() { return }
                }
                renewSink()
            }
        }
        rebuild()
    }

    private func abortTransaction() throws(StreamError) {
        metrics.transactions.add(1, .aborted)
        let deadline = MonotonicTime(
            milliseconds: clock.monotonic.milliseconds + Int64(configuration.transactionTimeout)
        )
        try retrying(until: deadline) { () throws(StreamError) in
            try sink.abort(timeoutMilliseconds: Limits.transactionCallMilliseconds)
        }
    }

    /// Drops what was not committed; every partition finds its committed offset and its state
    /// again.
    private func rebuild() {
        context.commands.removeAll()
        context.refusals.removeAll()
        context.changelog.removeAll()
        transaction.close()
        restore.cancel()
        for index in partitions.indices {
            if case .refused = partitions[index].phase { continue }
            if partitions[index].processor != nil { partitions[index].waitsSince = clock.monotonic }
            partitions[index].phase = .assigned
            partitions[index].isDirty = false
            partitions[index].isAtEnd = false
            partitions[index].reading = nil
            partitions[index].counted = EngineCounts()
            partitions[index].countedDropped = 0
        }
        do {
            try source.pause(partitions.map(\.number))
        } catch {
            // Of partitions that are not live any more, records are dropped as they come.
            log.warning("pause-failed", ["error": "\(error)"])
        }
        publishStatus(force: true)
    }

    /// Whether a second fencing so soon can only come from a living process of the same name.
    ///
    /// One fencing follows one's own transaction time-out too, for librdkafka folds the two into
    /// one error. With the loop running and the brokers there, that doesn't happen twice in a row.
    private func isAnotherInstanceAlive() -> Bool {
        let now = clock.monotonic
        defer { lastFenced = now }
        guard let lastFenced, areBrokersUp, !board.hadGap(worker: number, since: lastFenced),
            now.since(lastFenced) < 2 * Int64(configuration.transactionTimeout)
        else { return false }
        fail(
            exitCode: 65,
            "another live process uses instance.id \(configuration.instanceID) "
                + "(transactional.id \(configuration.groupID)-"
                + "\(configuration.instanceID)-\(number)); "
                + "give each process of the group its own"
        )
        return true
    }

    /// Replaces the producer; waits for the brokers for as long as it takes.
    private func renewSink() {
        sink.close(timeoutMilliseconds: 0)
        while verdict == .running {
            do {
                sink = try ports.makeSink(worker: number)
                try initializeTransactions()
                return
            } catch {
                log.warning("producer-not-ready", ["error": "\(error)"], repeatKey: "not-ready")
                sink.close(timeoutMilliseconds: 0)
                if error.disposition == .refused { return fail(exitCode: 1, error.withAdvice) }
                // Nothing is open, and nothing was lost: the next owner begins where this one did.
                if board.stopRequested {
                    verdict = .finished
                    return
                }
                board.beat(worker: number, clock.monotonic)
                clock.sleep(milliseconds: Limits.questionRetryMilliseconds)
            }
        }
    }

    private func initializeTransactions() throws(StreamError) {
        let deadline = MonotonicTime(
            milliseconds: clock.monotonic.milliseconds + 3 * Int64(configuration.transactionTimeout)
        )
        try retrying(until: deadline) { () throws(StreamError) in
            try sink.initTransactions(timeoutMilliseconds: Limits.transactionCallMilliseconds)
        }
    }
}

extension DeadLetterLabel {
    /// The label of a refusal.
    init(_ reason: RefusalReason) {
        switch reason {
        case .emptyValue: self = .emptyValue
        case .tooLarge: self = .tooLarge
        case .notUTF8: self = .notUTF8
        case .notJSON: self = .notJSON
        case .wrongType: self = .wrongType
        case .missingUserID: self = .missingUserID
        case .outOfRange: self = .outOfRange
        case .keyMismatch: self = .keyMismatch
        }
    }
}
