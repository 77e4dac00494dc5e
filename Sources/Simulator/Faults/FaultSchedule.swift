/// The faults of a seed: which of them, when and how bad, each drawn alone.
struct FaultSchedule {
    /// After this moment nothing goes wrong, milliseconds.
    static let lastMoment: Int64 = 52_000

    private var random: SeededGenerator
    private let processes: Int
    private let kinds: [FaultKind]

    /// Draws from `seed` for `processes` processes; `kinds` are those that may happen.
    init(seed: UInt64, processes: Int, kinds: [FaultKind]) {
        random = SeededGenerator(seed: seed &* 0x9e37_79b9 ^ 0x5fa7)
        self.processes = processes
        self.kinds = kinds.flatMap { Array(repeating: $0, count: $0.weight) }
    }

    /// Draws faults; some alone would seldom meet what makes them bad, and bring that along.
    mutating func draw(count: Int) -> [Fault] {
        guard !kinds.isEmpty else { return [] }
        var faults: [Fault] = []
        while faults.count < count {
            let fault = fault(faults.count)
            faults.append(fault)
            if let companion = companion(of: fault, faults.count) { faults.append(companion) }
        }
        return faults
    }

    private mutating func fault(_ number: Int) -> Fault {
        let kind = random.pick(kinds)
        return Fault(
            number: number,
            kind: kind,
            at: random.number(500...Self.lastMoment),
            trigger: trigger(of: kind),
            process: Int(random.number(0...Int64(processes - 1))),
            amount: amount(of: kind),
            failure: random.pick([.retriable, .abortable, .abortable, .fatal])
        )
    }

    /// What makes partitions move while a revocation waits to be disturbed, a restore is slow or
    /// markers are late; a second twin soon after the first.
    private mutating func companion(of fault: Fault, _ number: Int) -> Fault? {
        guard random.chance(2, in: 3) else { return nil }
        let kind: FaultKind
        var process = fault.process
        var delay: Int64 = 0
        switch (fault.kind, fault.trigger) {
        case (_, .revocation):
            // Who comes back takes partitions away from those that stayed.
            kind = .stop
            process = (process + 1) % processes
        case (.slowMarkers, _):
            kind = random.pick([.stop, .putOut, .putOut])
            delay = random.number(0...1000)
        case (.slowRestore, _):
            kind = random.pick([.compact, .crash, .putOut])
            delay = random.number(0...800)
        case (.twin, _):
            kind = .twin
            delay = random.number(50...9000)
        default: return nil
        }
        guard kinds.contains(kind) else { return nil }
        return Fault(
            number: number,
            kind: kind,
            at: min(fault.at + delay, Self.lastMoment),
            trigger: .moment,
            process: process,
            amount: kind == .stop || kind == .crash ? random.pick([10, 300, 1500]) : 0,
            failure: .abortable
        )
    }

    private static let answered: [PortCall] = [
        .committed, .watermarks, .initTransactions, .sendOffsets, .commit, .commit, .abort,
        .highWatermark,
    ]
    private static let likely: [PortCall] = [
        .produce, .produce, .sendOffsets, .commit, .commit, .poll, .committed, .changelogPoll,
        .changelogAssign, .seek, .resume, .begin, .abort, .initTransactions, .highWatermark,
    ]

    private mutating func trigger(of kind: FaultKind) -> Fault.Trigger {
        switch kind {
        case .loseAnswer: return .after(random.pick(Self.answered))
        case .fail:
            if random.chance(1, in: 6) {
                return .revocation(random.pick([.sendOffsets, .commit, .commit]))
            }
            return .before(random.pick(Self.failing))
        case .delivery: return .before(random.pick([.commit, .commit, .produce]))
        case .slowRestore, .slowMarkers, .clock, .stop, .rewind, .twin:
            return .moment
        case .crash, .pause, .delay, .coordinator, .brokers, .expire, .rebalance, .putOut,
            .compact:
            if random.chance(1, in: 3) { return .moment }
            if random.chance(1, in: 4) {
                return .revocation(random.pick([nil, .produce, .sendOffsets, .commit, .commit]))
            }
            let call: PortCall? =
                switch random.number(0...7) {
                case 0: nil
                case 1, 2: random.pick(PortCall.allCases)
                default: random.pick(Self.likely)
                }
            return random.chance(1, in: 2) ? .before(call) : .after(call)
        }
    }

    private static let failing: [PortCall] = [
        .committed, .watermarks, .initTransactions, .sendOffsets, .sendOffsets, .commit, .commit,
        .abort, .highWatermark, .changelogAssign, .changelogPoll, .seek, .resume, .pause,
    ]

    private mutating func amount(of kind: FaultKind) -> Int64 {
        switch kind {
        case .pause: random.pick([30, 150, 700, 3000, 11_000, 14_000])
        case .delay: random.pick([1, 20, 150, 900])
        case .coordinator: random.pick([50, 400, 2000, 6000])
        case .brokers: random.pick([100, 700, 3000, 12_000])
        case .slowRestore: random.pick([1000, 5000])
        case .slowMarkers: random.pick([1000, 4000])
        case .clock: random.pick([-3000, -40, 40, 3000, 600_000])
        case .crash: random.pick([10, 200, 2000, 12_000])
        case .stop: random.pick([10, 1000, 8000])
        case .loseAnswer: random.pick([0, 40, 400])
        case .fail, .rewind, .expire, .rebalance, .putOut, .compact, .delivery, .twin: 0
        }
    }
}
