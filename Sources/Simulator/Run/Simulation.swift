internal import ComboCore
internal import StreamPorts
internal import Telemetry
internal import WorkerRuntime

/// What a simulation came to.
package struct RunReport: Sendable {
    /// What everything random is drawn from.
    package var seed: UInt64
    /// What was wrong; empty: nothing.
    package var violations: [String] = []
    /// Faults of the schedule, and how many struck.
    package var faults: [String] = []
    /// Numbers of the faults of the schedule.
    package var faultNumbers: [Int] = []
    /// Faults that struck.
    package var struck = 0
    /// Records that upstream sent.
    package var records = 0
    /// Commands that were committed.
    package var commands = 0
    /// Transactions by outcome.
    package var committed = 0
    /// Transactions that were aborted.
    package var aborted = 0
    /// Rebalances that were completed.
    package var rebalances = 0
    /// Restores of a partition whose state was compared with what its last owner had.
    package var restores = 0
    /// Virtual time, milliseconds.
    package var milliseconds: Int64 = 0
    /// Calls of ports.
    package var calls = 0
    /// What of interest was met.
    package var probes = ProbeCounts()
    /// A hash of everything that was committed and when: equal for equal runs.
    package var digest: UInt64 = 0
    /// Calls and faults, if they were written down.
    package var trace: [String] = []

    /// Creates the report of a run in which nothing has happened.
    package init(seed: UInt64) {
        self.seed = seed
    }
}

/// One run: the real workers on a simulated cluster, one thread, one seed.
///
/// First a minute in which things go wrong; then nothing does any more, and everything must drain
/// within a bounded time; then a last record in each partition ends what lives, and the committed
/// output must be the reference model's.
package final class Simulation {
    /// When upstream is done and faults have ceased, milliseconds.
    private static let faultsEnd: Int64 = 54_000
    /// How long draining may take then: a session and a transaction may still have to time out.
    private static let drainLimit: Int64 = 60_000
    /// How many turns there may be: a run that takes more goes in circles.
    private static let turnsLimit = 400_000
    /// Turns between two looks at what the processes say of themselves.
    private static let looksEvery = 32
    /// What the state of one partition may take, bytes: these hold some hundreds of keys.
    private static let stateBytesLimit = 4 << 20

    private let options: SimulationOptions
    private let plan: RunPlan
    private let topics: SimulatedTopics
    private let cluster: SimulatedCluster
    private var processes: [SimulatedProcess] = []
    private let witnesses: [StateWitness]
    /// Partitions whose state is to be compared as soon as nothing is under way there.
    private var unseen: Set<Int> = []
    private var turns = 0

    /// Prepares a run.
    package init(_ options: SimulationOptions) {
        self.options = options
        let plan = RunPlan(options)
        self.plan = plan
        var settings = ClusterSettings()
        settings.transactionTimeout = Int64(plan.configuration.transactionTimeout)
        var state = ClusterState(seed: plan.clusterSeed, settings: settings)
        if options.isTraced { state.trace = [] }
        let input = state.makeTopic("gift.events", partitions: plan.partitions)
        topics = SimulatedTopics(
            input: input,
            commands: state.makeTopic("overlay.commands", partitions: 3),
            deadLetters: state.makeTopic("gift.events.dlq", partitions: 1),
            changelog: state.makeTopic("giftcombo-combos", partitions: plan.partitions),
            group: state.group("giftcombo", topic: input)
        )
        state.inputTopic = input
        state.changelogTopic = topics.changelog
        state.clocksMatter = plan.configuration.idleGrace != nil
        state.upstream = plan.upstream
        state.faults.schedule(plan.faults)
        state.processes = (0..<plan.processes).map { ProcessState(startAt: Int64($0) * 20) }
        let cluster = SimulatedCluster(state)
        self.cluster = cluster
        witnesses = (0..<plan.partitions).map { StateWitness(partition: $0, plan.configuration) }
        let log = Logger(
            minimumLevel: options.isTraced ? .debug : .error,
            clock: LogClock(
                wallMilliseconds: { cluster.read(\.wall) },
                monotonicMilliseconds: { cluster.read(\.now) }
            ),
            sink: { line in
                cluster.change { state in
                    state.note(String(line.dropLast()))
                    // Seen here even if the partition is lost in the next turn.
                    if line.contains(" error refused ") { state.violate(String(line.dropLast())) }
                }
            }
        )
        for number in 0..<plan.processes {
            processes.append(SimulatedProcess(number, cluster, plan, topics, log))
        }
    }

    /// Runs it to its end.
    package func run() -> RunReport {
        let isFine = turn(until: Self.faultsEnd) { false }
        cluster.change { state in
            state.faults.cease()
            state.brokersDownUntil = 0
            state.coordinatorDownUntil = 0
            state.slowMarkersUntil = 0
            for process in state.processes.indices {
                state.processes[process].startAt = min(
                    state.processes[process].startAt,
                    state.now + 100
                )
            }
        }
        if isFine && drain() {
            compareStates(Set(0..<plan.partitions))
            sendLast()
            if drain() {
                check { $0.checkOutput() }
                check { $0.checkForgotten() }
                checkEmptied()
            }
        }
        return report()
    }

    /// Turns workers until a moment, or until something is so.
    ///
    /// - Returns: Whether it stayed within bounds and without violations.
    private func turn(until end: Int64, _ isDone: () -> Bool) -> Bool {
        while true {
            turns += 1
            var next: (process: Int, slot: Int?, at: Int64) = (0, nil, .max)
            for index in processes.indices {
                let (slot, at) = processes[index].next
                if at < next.at { next = (index, slot, at) }
            }
            if next.at >= end {
                cluster.change { $0.advance(to: end) }
                return cluster.read { $0.violations.isEmpty }
            }
            cluster.change { $0.advance(to: next.at) }
            // A fault may have struck meanwhile.
            if processes[next.process].isDown == (next.slot == nil) {
                let isPaused = cluster.read {
                    $0.processes[next.process].pausedUntil > $0.now
                        && $0.processes[next.process].isAlive
                }
                if !isPaused { processes[next.process].turn(next.slot) }
            }
            lookAtRestores()
            if turns % Self.looksEvery == 0 {
                if isDone() { return true }
                lookAtProcesses()
                guard cluster.read({ $0.violations.isEmpty }) else { return false }
                guard turns < Self.turnsLimit else {
                    cluster.change { $0.violate("the workers turn without end") }
                    return false
                }
            }
        }
    }

    /// Compares the states of partitions that are being restored with what their last owners had.
    private func lookAtRestores() {
        let begun = cluster.takeRestores()
        if !begun.isEmpty { unseen.formUnion(begun) }
        guard !unseen.isEmpty else { return }
        let topics = topics
        let ready = unseen.filter { partition in
            cluster.read { witnesses[partition].canCompare($0, topics) }
        }
        guard !ready.isEmpty else { return }
        unseen.subtract(ready)
        compareStates(ready)
    }

    private func compareStates(_ partitions: Set<Int>) {
        let topics = topics
        for partition in partitions.sorted() {
            let finding = cluster.read { witnesses[partition].compare($0, topics) }
            cluster.change { state in
                state.restores += 1
                if let finding { state.violate(finding) }
            }
        }
    }

    /// No partition may remember more than it is allowed to.
    private func lookAtProcesses() {
        for process in processes {
            for status in process.statuses {
                var finding: String?
                if status.rememberedKeys > plan.configuration.combo.maxRemembered {
                    finding = "remembers \(status.rememberedKeys) keys"
                }
                if status.stateBytes > Self.stateBytesLimit {
                    finding = "holds \(status.stateBytes) bytes"
                }
                guard let finding else { continue }
                cluster.change { $0.violate("partition \(status.partition) \(finding)") }
            }
        }
    }

    /// All combos have ended and all keys were forgotten: owners hold nothing any more.
    ///
    /// A process that was stopped until a moment ago may not know yet that it owns nothing.
    private func checkEmptied() {
        let end = cluster.read(\.now) + 500
        _ = turn(until: end) { false }
        let stopped = cluster.read { state in
            state.processes.map { $0.pausedUntil > end - 2000 }
        }
        for process in processes where !stopped[process.number] {
            for status in process.statuses
            where status.liveCombos > 0 || status.rememberedKeys > 0 {
                cluster.change { state in
                    state.violate(
                        "partition \(status.partition) still has \(status.liveCombos) combos and "
                            + "\(status.rememberedKeys) remembered keys"
                    )
                }
            }
        }
    }

    /// Whether everything that upstream sent was processed and committed, in time.
    private func drain() -> Bool {
        let (cluster, topics) = (cluster, topics)
        var isDrained = false
        let end = cluster.read(\.now) + Self.drainLimit
        guard
            turn(
                until: end,
                {
                    isDrained = cluster.read { $0.isDrained(topics) }
                    return isDrained
                }
            )
        else { return false }
        if !isDrained {
            let places = cluster.read { $0.backlog(topics) }
            cluster.change { $0.violate("no progress without faults: \(places)") }
        }
        return isDrained
    }

    private func sendLast() {
        let partitions = plan.partitions
        cluster.change { state in
            let at = state.now + 1
            for partition in 0..<partitions {
                state.upstream.append(Workload.last(partition: partition, at: at))
            }
        }
        cluster.change { $0.advance(by: 2) }
    }

    private func check(_ body: (inout Checker) -> Void) {
        let (topics, configuration) = (topics, plan.configuration)
        var checker = Checker(
            state: cluster.read { copy $0 },
            topics: topics,
            configuration: configuration
        )
        body(&checker)
        let found = checker.findings
        cluster.change { state in
            for finding in found { state.violate(finding) }
        }
    }

    private func report() -> RunReport {
        let (topics, faults) = (topics, plan.faults)
        var report = RunReport(seed: options.seed)
        report.faults = faults.map(\.description)
        report.faultNumbers = faults.map(\.number)
        let state = cluster.read { copy $0 }
        report.violations = state.violations
        report.struck = state.faults.struck
        report.records = state.upstreamNext
        report.commands = state.topics[topics.commands].logs.reduce(0) { $0 + $1.committed.count }
        report.committed = state.committedTransactions
        report.aborted = state.abortedTransactions
        report.rebalances = state.rebalances
        report.restores = state.restores
        report.milliseconds = state.now
        report.calls = state.calls
        report.probes = state.probes
        if state.topics[topics.deadLetters].logs.contains(where: { !$0.committed.isEmpty }) {
            report.probes.count(.unreadableRecord)
        }
        if state.topics[topics.changelog].logs.contains(where: \.holdsTombstones) {
            report.probes.count(.tombstoneWritten)
        }
        report.trace = state.trace ?? []
        report.digest = state.digest
        return report
    }
}
