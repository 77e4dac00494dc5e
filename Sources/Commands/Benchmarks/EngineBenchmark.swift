internal import ComboCore
internal import ComboWire
internal import Glibc

/// What `bench engine` is asked to measure.
struct EngineBenchmarkOptions {
    /// How many combos are live at once, a measurement each.
    var live = [1_000, 20_000, 500_000]
    /// Events in a round.
    var events = 200_000
    /// Rounds; 0 prepares everything and measures nothing.
    var rounds = 5
    var seed: UInt64 = 1
    var measuresTime = true
    var measuresMemory = true
}

/// What one measurement of the engine has found.
struct EngineMeasurement {
    /// Combos that were to be live.
    var wanted: Int
    /// Combos that were live, on average over the measured batches.
    var live = 0
    /// Keys that were remembered at the end.
    var remembered = 0
    /// Events before the measured ones.
    var warmUpEvents = 0
    /// Events that were measured, in all rounds.
    var events = 0
    var commands = 0
    var inputBytes = 0
    var outputBytes = 0
    /// Nanoseconds of CPU time of each round.
    var rounds: [Int64] = []
    /// Bytes by which the state grew while it was measured.
    var grownBytes = 0
    var bytesPerLiveCombo = 0
    var bytesPerRememberedKey = 0
}

/// Drives one partition's engine from bytes to bytes: parse, combo, timers, encode.
struct EngineBenchmark: ~Copyable {
    /// Records between two looks at the output, as a worker's turn has them.
    private static let batchSize = 512
    private static let warmUpSize = 4_096
    /// Event time in which as many combos come to live as stay so.
    private static let settling = 6_000

    private let options: EngineBenchmarkOptions
    private let configuration = ComboConfiguration()
    private var engine: PartitionEngine
    private var traffic: ComboTraffic
    private var block = RecordBlock()
    private var batch = CommandBatch()
    private var measurement: EngineMeasurement
    private var liveSum = 0

    /// Measures what is asked for with `live` combos.
    static func measure(live: Int, _ options: EngineBenchmarkOptions) -> EngineMeasurement {
        var measurement = EngineMeasurement(wanted: live)
        if options.measuresTime {
            var benchmark = EngineBenchmark(live: live, options)
            measurement = benchmark.run()
        }
        if options.measuresMemory {
            measurement.bytesPerLiveCombo = EngineMemory.bytesPerLiveCombo(live)
            measurement.bytesPerRememberedKey = EngineMemory.bytesPerRememberedKey(live)
        }
        return measurement
    }

    /// Prepares a measurement with `live` combos.
    private init(live: Int, _ options: EngineBenchmarkOptions) {
        self.options = options
        engine = PartitionEngine(partition: 0, configuration: configuration)
        traffic = ComboTraffic(live: live, seed: options.seed)
        measurement = EngineMeasurement(wanted: live)
    }

    /// Warms up, then measures the rounds.
    private mutating func run() -> EngineMeasurement {
        warmUp()
        // All of it first: what is measured makes no events.
        traffic.append(options.events * max(1, options.rounds), to: &block)
        measurement.inputBytes = unsafe block.bytes.count
        let commandsBefore = engine.counts.commands.total
        let bytesBefore = engine.byteCount
        for round in 0..<options.rounds {
            let start = threadNanoseconds()
            process(round * options.events..<(round + 1) * options.events)
            measurement.rounds.append(threadNanoseconds() - start)
        }
        measurement.events = options.events * options.rounds
        measurement.commands = Int(engine.counts.commands.total - commandsBefore)
        measurement.grownBytes = engine.byteCount - bytesBefore
        let batches = (options.events + Self.batchSize - 1) / Self.batchSize * options.rounds
        measurement.live = batches == 0 ? engine.liveCount : liveSum / batches
        measurement.remembered = engine.rememberedCount
        return measurement
    }

    /// Runs until nothing grows any more: as many combos end as begin, and as many keys are
    /// forgotten as end.
    private mutating func warmUp() {
        let windows = configuration.hideAfter + configuration.retainFor + configuration.memory
        let all = Int(windows) + 1_000
        while traffic.elapsed < Self.settling
            || (traffic.elapsed < all && engine.rememberedCount < configuration.maxRemembered)
        {
            traffic.append(Self.warmUpSize, to: &block)
            process(0..<Self.warmUpSize)
            measurement.warmUpEvents += Self.warmUpSize
            block.removeAll()
        }
        liveSum = 0
        measurement.outputBytes = 0
    }

    private mutating func process(_ range: Range<Int>) {
        var start = range.lowerBound
        while start < range.upperBound {
            let end = min(start + Self.batchSize, range.upperBound)
            for index in start..<end {
                let record = block.record(index)
                let arrival = WallTime(milliseconds: record.timestamp)
                _ = engine.process(record, arrivedAt: arrival, into: &batch)
            }
            if !batch.isEmpty {
                measurement.outputBytes += batch.byteCount
                batch.removeAll()
            }
            liveSum += engine.liveCount
            start = end
        }
    }
}

/// CPU time of this thread: what others do on the machine is not counted.
private func threadNanoseconds() -> Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
