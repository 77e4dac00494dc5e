internal import WorkerRuntime

/// What `generate` was asked for, checked.
struct GenerateOptions {
    /// Where records come from.
    enum Origin {
        case traffic(TrafficPattern)
        /// Recordings, written again as they are.
        case recording([String])
    }

    /// Where records go.
    enum Destination {
        /// Lines of a recording on standard output, spread over so many partitions.
        case lines(partitions: Int32)
        /// A topic of the configured brokers.
        case topic(String)
    }

    var origin: Origin
    let destination: Destination
    /// Records a second; nil: as fast as possible.
    let rate: Int?
    /// How many records there are at most; nil: no limit.
    let events: Int?
    /// How long the traffic lasts in its own time, milliseconds; nil: no limit.
    let duration: Int64?

    static let defaultRate = 1_000
    private static let defaultPartitions: Int64 = 4
    /// What makes no sense together with a recording.
    private static let trafficOptions = [
        "seed", "duration", "density", "users", "rooms", "start", "duplicates", "late",
        "unreadable", "totals",
    ]

    init(_ arguments: ParsedArguments, _ wall: Int64) throws(CommandFailure) {
        let reader = OptionReader(arguments)
        let topic = try reader.value("topic", ValueType<String>.topic)
        let files = arguments.values(of: "from")
        events = try reader.value("events", .integer(1...Int64.max)).map { Int($0) }
        duration = try reader.value("duration", .duration(1...Int64.max))
        let given = try reader.value("rate", .integer(0...10_000_000)).map { Int($0) }
        if let topic {
            try reader.refuse(["partitions"], "the topic has its own", with: "topic")
            destination = .topic(topic)
        } else {
            let count = try reader.value("partitions", .integer(1...10_000))
            destination = .lines(partitions: Int32(count ?? Self.defaultPartitions))
        }
        let usual = topic == nil || !files.isEmpty ? 0 : Self.defaultRate
        let chosen = given ?? usual
        rate = chosen == 0 ? nil : chosen
        guard files.isEmpty else {
            try reader.refuse(Self.trafficOptions, "a recording is as it is", with: "from")
            guard topic != nil else { throw reader.usage("--from needs --topic") }
            origin = .recording(files)
            return
        }
        if rate != nil {
            try reader.refuse(["density"], "--rate says it", with: "rate")
        }
        if topic != nil, rate == nil, events == nil, duration == nil {
            throw reader.usage("--rate 0 into a topic needs --events or --duration")
        }
        origin = .traffic(try Self.pattern(reader))
        if case .traffic(var pattern) = origin {
            pattern.eventsPerSecond = rate ?? pattern.eventsPerSecond
            if topic != nil { pattern.startInTopic(at: wall, self, arguments) }
            origin = .traffic(pattern)
        }
    }

    private static func pattern(_ reader: OptionReader) throws(CommandFailure) -> TrafficPattern {
        var pattern = TrafficPattern()
        if let seed = try reader.value("seed", .integer(0...Int64.max)) {
            pattern.seed = UInt64(seed)
        }
        if let density = try reader.value("density", .integer(1...10_000_000)) {
            pattern.eventsPerSecond = Int(density)
        }
        if let users = try reader.value("users", .integer(1...100_000_000)) {
            pattern.users = Int(users)
        }
        if let rooms = try reader.value("rooms", .integer(1...1_000_000)) {
            pattern.rooms = Int(rooms)
        }
        if let start = try reader.value("start", .integer(1...1 << 52)) { pattern.start = start }
        if let share = try reader.value("duplicates", .share) { pattern.duplicates = share }
        if let share = try reader.value("late", .share) { pattern.late = share }
        if let share = try reader.value("unreadable", .share) { pattern.unreadable = share }
        if let share = try reader.value("totals", .share) { pattern.totals = share }
        return pattern
    }
}

extension TrafficPattern {
    /// In a topic events are of now: paced ones begin now, a backlog ends now.
    ///
    /// A seed that was not chosen is new each time: a second run with the same event ids would be
    /// taken for duplicates of the first.
    fileprivate mutating func startInTopic(
        at wall: Int64,
        _ options: GenerateOptions,
        _ arguments: ParsedArguments
    ) {
        if !arguments.has("seed") { seed = UInt64(max(wall, 0)) }
        guard !arguments.has("start") else { return }
        start = wall
        guard options.rate == nil else { return }
        let byCount = options.events.map { Int64($0 / eventsPerSecond) * 1_000 }
        start -= min(byCount ?? .max, options.duration ?? .max)
    }
}

/// Reads the values of a subcommand's own options.
struct OptionReader {
    private let arguments: ParsedArguments

    init(_ arguments: ParsedArguments) {
        self.arguments = arguments
    }

    /// The option's value; nil: it was not given.
    func value<Value>(
        _ option: String,
        _ type: ValueType<Value>
    ) throws(CommandFailure) -> Value? {
        guard let text = arguments.value(of: option) else { return nil }
        guard let value = type.read(text) else {
            throw usage("--\(option) \"\(text)\" is not allowed; allowed: \(type.allowed)")
        }
        return value
    }

    /// Refuses options that say nothing where `other` is given.
    func refuse(
        _ options: [String],
        _ reason: String,
        with other: String
    ) throws(CommandFailure) {
        for option in options where arguments.has(option) {
            throw usage("--\(option) can't go with --\(other): \(reason)")
        }
    }

    func usage(_ message: String) -> CommandFailure {
        CommandFailure(.usage, message)
    }
}

extension ValueType<Share> {
    /// A percentage.
    static var share: ValueType {
        ValueType(allowed: "percentage from 0 to 100 with at most four places, as 0.5") {
            Share(percent: $0)
        }
    }
}
