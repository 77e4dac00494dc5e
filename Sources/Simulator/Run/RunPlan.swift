internal import ComboCore
internal import WorkerRuntime

/// What is simulated.
package struct SimulationOptions: Sendable {
    /// Everything else follows from it.
    package var seed: UInt64
    /// Which kinds of faults may happen.
    package var kinds: [FaultKind] = FaultKind.allCases
    /// Which faults of the seed's schedule happen, by number; nil: all.
    package var keptFaults: [Int]?
    /// How many records upstream sends at most; nil: as many as the seed says.
    package var recordLimit: Int?
    /// Whether every call and fault is written down.
    package var isTraced = false

    /// Simulates a seed with all its faults.
    package init(seed: UInt64) {
        self.seed = seed
    }
}

/// What a seed decides before the run begins.
struct RunPlan {
    let processes: Int
    let workers = 2
    let partitions: Int
    let configuration: WorkerConfiguration
    let faults: [Fault]
    let upstream: [UpstreamRecord]
    /// Seed of what is decided while the run goes on.
    let clusterSeed: UInt64

    init(_ options: SimulationOptions) {
        var random = SeededGenerator(seed: options.seed)
        processes = 2
        partitions = Int(random.number(3...6))
        clusterSeed = random.next()
        var configuration = WorkerConfiguration()
        configuration.combo = Self.combo(&random)
        configuration.idleGrace = random.chance(1, in: 2) ? nil : 200
        configuration.commit.minInterval = random.pick([5, 20, 60, 900])
        configuration.commit.interval = random.pick([50, 100, 400, 1500])
        configuration.commit.maxEvents = random.pick([3, 100, 100_000])
        self.configuration = configuration
        var schedule = FaultSchedule(
            seed: options.seed,
            processes: processes,
            kinds: options.kinds
        )
        let faults = schedule.draw(count: Int(random.number(8...24)))
        self.faults = faults.filter { options.keptFaults?.contains($0.number) ?? true }
        var workload = Workload(
            seed: options.seed,
            partitions: partitions,
            isOrdered: configuration.idleGrace != nil
        )
        let records = workload.draw(count: Int(random.number(900...1400)))
        upstream = Array(records.prefix(options.recordLimit ?? .max))
    }

    private static func combo(_ random: inout SeededGenerator) -> ComboConfiguration {
        var combo = ComboConfiguration()
        // The last record of a run comes from far ahead, to end what lives.
        combo.maxAhead = .max / 4
        guard random.chance(2, in: 3) else { return combo }
        combo.hideAfter = random.pick([200, 800, 2000, 5000])
        combo.retainFor = random.pick([0, 300, 3000])
        combo.memory = random.pick([0, 2000, 60_000])
        combo.dedupIDs = random.pick([1, 4, 32])
        combo.maxRemembered = random.pick([2, 20, 200_000])
        combo.updateMinInterval = random.pick([0, 0, 300, 2500])
        combo.increment = random.chance(1, in: 6) ? .one : .count
        combo.key = random.chance(1, in: 4) ? [.user] : [.room, .user, .recipient, .gift]
        combo.lanes = 3
        return combo
    }
}
