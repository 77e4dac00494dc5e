package import StreamPorts
package import Telemetry

/// The workers of a process: their threads, their beginning and end, and the watch over them.
///
/// Every worker first makes its transactional id its own, which ends at once what a dead self left
/// open; only when all have done so does any join the group.
package final class WorkerPool: Sendable {
    /// How a run ended.
    package struct Outcome: Sendable {
        /// 0: orderly.
        package var exitCode: Int32
        /// Why it is not 0.
        package var reason: String?
        /// What was done.
        package var totals: WorkerTotals
    }

    /// How long every partition must have been at its end before a run that stops there stops,
    /// milliseconds: partitions that change hands just then belong to nobody for a moment.
    private static let atEndMilliseconds: Int64 = 300
    /// From a request to stop until the process gives up waiting, milliseconds; DESIGN allows 10 s.
    private static let stopMilliseconds: Int64 = 9000
    /// Between two looks at the workers, milliseconds.
    private static let watchMilliseconds: Int64 = 20

    private let configuration: WorkerConfiguration
    private let workers: Int
    private let ports: any PortFactory
    private let clock: any WorkerClock
    private let log: Logger
    private let registry: MetricRegistry
    /// How the workers are.
    package let board: StatusBoard

    /// Creates a pool; ``run()`` starts it.
    package init(
        configuration: WorkerConfiguration,
        workers: Int,
        ports: any PortFactory,
        clock: any WorkerClock,
        log: Logger,
        registry: MetricRegistry
    ) {
        self.configuration = configuration
        self.workers = workers
        self.ports = ports
        self.clock = clock
        self.log = log
        self.registry = registry
        board = StatusBoard(workers: workers)
    }

    /// Asks every worker to commit, leave and end.
    package func requestStop() {
        board.requestStop(
            deadline: MonotonicTime(
                milliseconds: clock.monotonic.milliseconds + Self.stopMilliseconds * 2 / 3
            )
        )
    }

    /// Runs the workers until they are stopped, done, or can't go on.
    ///
    /// After it returns, threads may still hang in a close of the client library; everything is
    /// committed or aborted, and the process may exit.
    package func run() -> Outcome {
        for number in 0..<workers {
            startThread { self.runWorker(number) }
        }
        var stopSeen: MonotonicTime?
        while true {
            clock.sleep(milliseconds: Self.watchMilliseconds)
            let now = clock.monotonic
            let verdicts = board.verdicts
            if verdicts.contains(where: { $0 != .running }) { requestStop() }
            if verdicts.allSatisfy({ $0 != .running }) { return outcome(verdicts) }
            if let stuck = board.oldestBeat(now), stuck.age > watchdogMilliseconds {
                return Outcome(
                    exitCode: 67,
                    reason: "worker \(stuck.worker) has hung in one call for \(stuck.age) ms; the "
                        + "process ends so that its supervisor starts it anew",
                    totals: board.totals
                )
            }
            if configuration.stopsAtEnd, let time = board.atEndFor(now),
                time >= Self.atEndMilliseconds
            {
                requestStop()
            }
            if board.stopRequested {
                stopSeen = stopSeen ?? now
                if let stopSeen, now.since(stopSeen) > Self.stopMilliseconds {
                    return overdue(verdicts)
                }
            }
        }
    }

    private var watchdogMilliseconds: Int64 { 3 * Int64(configuration.transactionTimeout) }

    private func outcome(_ verdicts: [WorkerVerdict]) -> Outcome {
        for verdict in verdicts {
            if case .failed(let exitCode, let reason) = verdict {
                return Outcome(exitCode: exitCode, reason: reason, totals: board.totals)
            }
        }
        return Outcome(exitCode: 0, reason: nil, totals: board.totals)
    }

    /// Workers did not end in time: what was open is aborted by the broker, nothing is lost.
    private func overdue(_ verdicts: [WorkerVerdict]) -> Outcome {
        var outcome = outcome(verdicts)
        if outcome.exitCode == 0 {
            outcome.exitCode = 1
            outcome.reason = "a worker did not end within \(Self.stopMilliseconds) ms"
        }
        return outcome
    }

    // MARK: - On the worker's thread

    private func runWorker(_ number: Int) {
        do {
            guard let sink = try initializedSink(number) else {
                board.post(worker: number, verdict: .finished)
                return
            }
            board.noteInitialized(worker: number)
            while !board.areAllInitialized {
                if board.stopRequested { return board.post(worker: number, verdict: .finished) }
                board.beat(worker: number, clock.monotonic)
                clock.sleep(milliseconds: Self.watchMilliseconds)
            }
            let worker = try Worker(
                number: number,
                configuration: configuration,
                ports: ports,
                sink: sink,
                clock: clock,
                log: log,
                registry: registry,
                board: board
            )
            try worker.start()
            var verdict = WorkerVerdict.running
            while verdict == .running { verdict = worker.turn() }
            board.post(worker: number, verdict: verdict)
        } catch {
            log.error("failed", ["worker": .integer(Int64(number)), "reason": "\(error)"])
            board.post(worker: number, verdict: .failed(exitCode: 1, reason: error.withAdvice))
        }
    }

    /// The worker's producer once its transactional id is its own; waits for brokers for as
    /// long as it takes.
    ///
    /// Nil: the pool was stopped meanwhile.
    private func initializedSink(
        _ number: Int
    ) throws(StreamError) -> (any TransactionalSink)? {
        while !board.stopRequested {
            board.beat(worker: number, clock.monotonic)
            do {
                let sink = try ports.makeSink(worker: number)
                while !board.stopRequested {
                    do {
                        try sink.initTransactions(
                            timeoutMilliseconds: Limits.transactionCallMilliseconds
                        )
                        return sink
                    } catch  where error.disposition == .retriable {
                        noteWaiting(number, error)
                    }
                }
                sink.close(timeoutMilliseconds: 0)
            } catch {
                guard error.disposition == .refused else {
                    noteWaiting(number, error)
                    continue
                }
                var named = error
                named.detail +=
                    " (transactional.id \(configuration.groupID)-"
                    + "\(configuration.instanceID)-\(number))"
                throw named
            }
        }
        return nil
    }

    private func noteWaiting(_ number: Int, _ error: StreamError) {
        board.beat(worker: number, clock.monotonic)
        log.warning(
            "waiting-for-brokers",
            ["error": "\(error)"],
            repeatKey: "waiting-for-brokers"
        )
        clock.sleep(milliseconds: Limits.questionRetryMilliseconds)
    }
}

extension WorkerPool: HealthSource {
    /// How long a loop may stand still before the process counts as dead, milliseconds.
    private static let deadMilliseconds: Int64 = 15_000

    /// Whether the workers' loops move; an outage of the brokers does not matter.
    package func livez() -> HealthReport {
        guard let oldest = board.oldestBeat(clock.monotonic) else {
            return HealthReport(ok: true, reason: "no worker runs")
        }
        if oldest.age > Self.deadMilliseconds {
            return HealthReport(
                ok: false,
                reason: "worker \(oldest.worker) has not moved for \(oldest.age) ms"
            )
        }
        return HealthReport(ok: true, reason: "every worker moves")
    }

    /// Whether the group is joined and every assigned partition restored.
    package func readyz() -> HealthReport {
        if board.stopRequested { return HealthReport(ok: false, reason: "stopping") }
        if let reason = board.reasonNotReady { return HealthReport(ok: false, reason: reason) }
        return HealthReport(ok: true, reason: "\(board.partitions.count) partitions live")
    }

    /// What this process owns, as `/partitions` shows it.
    package func partitionsJSON() -> String {
        let rows = board.partitions.map { status in
            var fields = [
                "\"partition\":\(status.partition)", "\"worker\":\(status.worker)",
                "\"phase\":\"\(status.phase)\"",
            ]
            if let reason = status.reason { fields.append("\"reason\":\(jsonString(reason))") }
            if let position = status.position { fields.append("\"position\":\(position)") }
            if let lag = status.lag { fields.append("\"lag\":\(lag)") }
            fields.append("\"live_combos\":\(status.liveCombos)")
            fields.append("\"remembered_keys\":\(status.rememberedKeys)")
            fields.append("\"state_bytes\":\(status.stateBytes)")
            if let clock = status.clockMilliseconds { fields.append("\"clock\":\(clock)") }
            if let target = status.restoreTarget {
                fields.append("\"restored\":\(status.restored)")
                fields.append("\"restore_target\":\(target)")
            }
            return "{" + fields.joined(separator: ",") + "}"
        }
        return "{\"topic\":\(jsonString(configuration.inputTopic)),\"group\":"
            + "\(jsonString(configuration.groupID)),\"instance\":"
            + "\(jsonString(configuration.instanceID)),\"partitions\":["
            + rows.joined(separator: ",") + "]}\n"
    }
}

/// A JSON string that holds `text`.
func jsonString(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\"": result += "\\\""
        case "\\": result += "\\\\"
        case "\n": result += "\\n"
        case _ where scalar.value < 0x20:
            let digits = String(scalar.value, radix: 16)
            result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        default: result.unicodeScalars.append(scalar)
        }
    }
    return result + "\""
}
