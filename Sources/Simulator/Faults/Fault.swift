/// Kinds of faults, by which a hunt may be narrowed.
package enum FaultKind: String, CaseIterable, Sendable {
    case crash
    case stop
    case pause
    case loseAnswer = "lose-answer"
    case delay
    case fail
    case rewind
    case coordinator
    case brokers
    case expire
    case rebalance
    case putOut = "put-out"
    case slowRestore = "slow-restore"
    case compact
    case clock
    case delivery
    case slowMarkers = "slow-markers"
    case twin

    /// How often it is drawn, compared to the others.
    var weight: Int {
        switch self {
        case .crash: 4
        case .pause, .rebalance: 2
        case .stop, .loseAnswer, .delay, .fail, .rewind, .coordinator, .brokers, .expire, .putOut,
            .slowRestore, .compact, .clock, .delivery, .slowMarkers, .twin:
            1
        }
    }
}

/// How a call fails before it has any effect.
enum InjectedFailure: String, Sendable {
    case retriable
    case abortable
    case fatal
}

/// One thing that goes wrong, decided before the run begins, so that a schedule can be shortened.
struct Fault: Sendable {
    enum Trigger: Equatable, Sendable {
        /// At its moment.
        case moment
        /// From its moment on at the first such call of its process.
        case before(PortCall?)
        case after(PortCall?)
        /// From its moment on while partitions are being taken from its process, before such a
        /// call.
        case revocation(PortCall?)
    }

    /// Its place in the seed's schedule.
    let number: Int
    let kind: FaultKind
    /// Milliseconds since the simulation began.
    let at: Int64
    let trigger: Trigger
    let process: Int
    /// How long it lasts, or how far it reaches, milliseconds.
    let amount: Int64
    let failure: InjectedFailure

    var description: String {
        let place =
            switch trigger {
            case .moment: "at \(at) ms"
            case .before(let call): "from \(at) ms before \(call?.rawValue ?? "any call")"
            case .after(let call): "from \(at) ms after \(call?.rawValue ?? "any call")"
            case .revocation(let call):
                "from \(at) ms inside a revocation before \(call?.rawValue ?? "any call")"
            }
        let detail = kind == .fail ? " (\(failure.rawValue))" : ""
        return "\(number): \(kind.rawValue)\(detail) \(amount) ms, process \(process), \(place)"
    }
}

/// Faults that are to come, and what they have left behind.
struct FaultState: Sendable {
    /// At a moment, in order.
    private(set) var timed: [Fault] = []
    private(set) var timedNext = 0
    /// At a call.
    var armed: [Fault] = []
    /// Who is being asked to give partitions back just now.
    var revoking: ClientIdentity?
    /// How many have struck.
    var struck = 0
    /// Partitions whose next fetch begins a little earlier, by process.
    var rewinds: [Int] = []

    mutating func schedule(_ faults: [Fault]) {
        timed = faults.filter { $0.trigger == .moment }.sorted { $0.at < $1.at }
        armed = faults.filter { $0.trigger != .moment }
    }

    /// When the next one strikes by itself.
    var nextTimed: Int64? { timedNext < timed.count ? timed[timedNext].at : nil }

    mutating func takeTimed(_ now: Int64) -> Fault? {
        guard let next = nextTimed, next <= now else { return nil }
        timedNext += 1
        return timed[timedNext - 1]
    }

    /// From now on nothing goes wrong any more.
    mutating func cease() {
        timedNext = timed.count
        armed = []
    }
}
