import Testing

@testable import Telemetry

struct CellTests {
    @Test func `a counter counts ones and amounts`() {
        let counter = CounterCell()
        counter.increment()
        counter.add(41)
        counter.add(0)
        #expect(counter.value == 42)
    }

    @Test func `a negative amount is a mistake of ours`() async {
        await #expect(processExitsWith: .failure) {
            CounterCell().add(-1)
        }
    }

    @Test func `a gauge has no value until it is set and none after it is cleared`() {
        let gauge = GaugeCell()
        #expect(gauge.value == nil)
        gauge.set(-7)
        #expect(gauge.value == -7)
        gauge.clear()
        #expect(gauge.value == nil)
    }

    @Test func `a row counts each label for itself, by label or by raw value`() {
        let row = CounterRow<DeadLetterLabel>()
        row.add(2, .notJSON)
        row.add(3, at: DeadLetterLabel.notJSON.rawValue)
        row.add(1, .keyMismatch)
        let counts = DeadLetterLabel.allCases.map { row.value($0) }
        #expect(counts == [0, 0, 0, 5, 0, 0, 0, 1])
    }

    @Test func `dead letters have the reasons of the design, in its order`() {
        #expect(
            DeadLetterLabel.allCases.map(\.text) == [
                "empty-value", "too-large", "not-utf8", "not-json", "wrong-type",
                "missing-user-id", "out-of-range", "key-mismatch",
            ]
        )
        #expect(CommandLabel.allCases.map(\.text) == ["show", "update", "hide", "end"])
    }

    @Test func `a value on a bound is in its bucket, one above it in the next`() {
        let histogram = HistogramCell(testHistogram)
        histogram.observe(milliseconds: 10)
        histogram.observe(microseconds: 10_001)
        histogram.observe(milliseconds: -5)
        histogram.observe(milliseconds: .max)
        histogram.observe(milliseconds: .min)
        #expect(histogram.reading.buckets == [3, 1, 1])
    }

    @Test func `observations taken several at a time weigh as much as one by one`() {
        let histogram = HistogramCell(testHistogram)
        histogram.observe(milliseconds: 5, times: 1_000)
        let expected = HistogramReading(buckets: [1_000, 0, 0], sumMicroseconds: 5_000_000)
        #expect(histogram.reading == expected)
    }

    @Test func `a histogram agrees with a list of its observations`() {
        let seed = UInt64.random(in: 0 ... .max)
        print("histogram seed \(seed)")
        var random = SplitMix(state: seed)
        let family = MetricCatalogue.endToEndLatency
        let histogram = HistogramCell(family)
        var list: [Int64] = []
        for _ in 0..<5_000 {
            // As many short ones as long ones, and often exactly on a bound.
            let bound = family.bucketMicroseconds.randomElement(using: &random) ?? 0
            let value =
                Int64.random(in: 0...2, using: &random) == 0
                ? bound : Int64.random(in: 0...(bound * 2), using: &random)
            histogram.observe(microseconds: value)
            list.append(value)
        }
        let reading = histogram.reading
        var below: UInt64 = 0
        for (bound, count) in zip(family.bucketMicroseconds, reading.buckets) {
            below += count
            #expect(below == UInt64(list.count { $0 <= bound }), "seed \(seed)")
        }
        #expect(reading.count == UInt64(list.count))
        #expect(reading.sumMicroseconds == Double(list.reduce(0, +)))
    }

    @Test func `a reader on another thread sees a count that only rises`() async {
        let metrics = WorkerMetrics()
        let total = 200_000
        async let last = Task.detached {
            var seen: UInt64 = 0
            while seen < UInt64(total) {
                let now = metrics.duplicates.value
                guard now >= seen else { return UInt64.max }
                seen = now
                await Task.yield()
            }
            return seen
        }.value
        for _ in 0..<total {
            metrics.duplicates.increment()
        }
        #expect(await last == UInt64(total))
    }
}

/// A histogram with bounds at 10 and 100 ms.
let testHistogram = MetricFamily(
    "giftcombo_test_seconds",
    .histogram,
    unit: "seconds",
    bucketMicroseconds: [10_000, 100_000],
    help: "Test."
)

/// The splitmix64 generator: small, and the same on every machine.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
