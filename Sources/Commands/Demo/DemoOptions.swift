internal import ComboCore

/// What `demo` was asked for, checked.
struct DemoOptions {
    let combo: ComboConfiguration
    let idleGrace: Int64?
    /// Whether one sender's story is told.
    let isSlow: Bool
    /// When it ends, milliseconds; nil: when it is stopped.
    let duration: Int64?
    private var pattern: TrafficPattern

    static let defaultRate = 20
    /// The embedded broker keeps 5 MB of a partition, so the workers must not fall far behind.
    private static let highestRate: Int64 = 2_000
    private static let rooms = 6
    private static let duplicates = Share(millionths: 10_000)

    init(_ arguments: ParsedArguments, _ configuration: Configuration) throws(CommandFailure) {
        let reader = OptionReader(arguments)
        combo = configuration.combo
        idleGrace = configuration.idleGrace
        duration = try reader.value("duration", .duration(1_000...24 * 3_600_000))
        isSlow = arguments.has("slow")
        if isSlow {
            try reader.refuse(["rate", "seed"], "it is always the same story", with: "slow")
        }
        pattern = TrafficPattern()
        if let seed = try reader.value("seed", .integer(0...Int64.max)) {
            pattern.seed = UInt64(seed)
        }
        let rate = try reader.value("rate", .integer(1...Self.highestRate)).map { Int($0) }
        pattern.eventsPerSecond = rate ?? Self.defaultRate
        // With fewer, one sender would be in more bursts at a time than a combo remembers totals
        // of.
        pattern.users = max(200, 10 * pattern.eventsPerSecond)
        pattern.rooms = Self.rooms
        // Duplicates and running totals count once only as long as the machine remembers.
        let remembers = combo.dedupIDs >= 32 && combo.memory >= 60_000
        pattern.duplicates = remembers ? Self.duplicates : .nothing
        if !remembers || combo.maxRemembered < 100_000 { pattern.totals = .nothing }
    }

    /// What is sent from `start` on.
    func feed(start: WallTime) -> DemoFeed {
        guard !isSlow else { return .story(combo) }
        var pattern = pattern
        pattern.start = start.milliseconds
        return .traffic(GiftTraffic(pattern))
    }
}
