import Testing

@testable import Telemetry

struct MetricRegistryTests {
    private let registry = MetricRegistry()

    private func text() -> [String] {
        String(decoding: registry.exposition(.classic), as: UTF8.self)
            .split(separator: "\n").map(String.init)
    }

    @Test func `counts are summed over workers`() {
        let workers = [WorkerMetrics(), WorkerMetrics()]
        for worker in workers {
            registry.register(worker)
        }
        workers[0].duplicates.add(40)
        workers[1].duplicates.add(2)
        workers[0].batchDuration.observe(microseconds: 60)
        workers[1].batchDuration.observe(microseconds: 60)
        #expect(text().contains("giftcombo_duplicates_total 42"))
        #expect(text().contains("giftcombo_batch_duration_seconds_count 2"))
        #expect(text().contains("giftcombo_batch_duration_seconds_bucket{le=\"0.0001\"} 2"))
    }

    @Test func `every label value of a worker is there from the start, at zero`() {
        registry.register(WorkerMetrics())
        #expect(text().contains("giftcombo_dead_letters_total{reason=\"not-json\"} 0"))
        #expect(text().contains("giftcombo_transactions_total{result=\"aborted\"} 0"))
    }

    @Test func `a retired worker's counts stay and the next one's go on from them`() {
        let first = WorkerMetrics()
        registry.register(first)
        first.commands.add(5, .show)
        first.commitDuration.observe(milliseconds: 4)
        registry.retire(first)
        #expect(text().contains("giftcombo_commands_total{kind=\"show\"} 5"))
        let second = WorkerMetrics()
        registry.register(second)
        second.commands.add(1, .show)
        second.commitDuration.observe(milliseconds: 4)
        #expect(text().contains("giftcombo_commands_total{kind=\"show\"} 6"))
        #expect(text().contains("giftcombo_commit_duration_seconds_count 2"))
        #expect(text().contains("giftcombo_commit_duration_seconds_sum 0.008"))
    }

    @Test func `gauges of a lost partition disappear and its counters stay`() {
        let partition = PartitionMetrics(topic: "gift.events", partition: 3)
        registry.register(partition)
        partition.recordsIn.add(7)
        partition.lagRecords.set(100)
        partition.clockMilliseconds.set(1_767_225_600_120)
        let labels = "{topic=\"gift.events\",partition=\"3\"}"
        #expect(text().contains("giftcombo_partition_lag_records\(labels) 100"))
        #expect(text().contains("giftcombo_partition_clock_seconds\(labels) 1767225600.12"))
        registry.retire(partition)
        #expect(text().contains("giftcombo_records_in_total\(labels) 7"))
        #expect(!text().contains { $0.contains("partition_lag") || $0.contains("clock") })
    }

    @Test func `a gauge that is not known is not printed`() {
        let partition = PartitionMetrics(topic: "t", partition: 0)
        registry.register(partition)
        #expect(!text().contains { $0.contains("partition_lag") })
        partition.lagRecords.set(0)
        #expect(text().contains("giftcombo_partition_lag_records{topic=\"t\",partition=\"0\"} 0"))
        partition.lagRecords.clear()
        #expect(!text().contains { $0.contains("partition_lag") })
    }

    @Test func `of two owners of a partition the newer one's gauges are shown`() {
        let old = PartitionMetrics(topic: "t", partition: 0)
        let new = PartitionMetrics(topic: "t", partition: 0)
        registry.register(old)
        old.position.set(10)
        registry.register(new)
        new.position.set(20)
        let line = "giftcombo_partition_position{topic=\"t\",partition=\"0\"} 20"
        #expect(text().contains(line))
        registry.retire(old)
        #expect(text().contains(line))
    }

    @Test func `retiring a source twice, or one never registered, changes nothing`() {
        let worker = WorkerMetrics()
        registry.register(worker)
        worker.fenced.increment()
        registry.retire(worker)
        registry.retire(worker)
        registry.retire(WorkerMetrics())
        #expect(text().contains("giftcombo_fenced_total 1"))
    }

    @Test func `the output does not depend on the order of registration`() {
        let seed = UInt64.random(in: 0 ... .max)
        print("registration seed \(seed)")
        var random = SplitMix(state: seed)
        let partitions = (0..<12).map { PartitionMetrics(topic: "t", partition: $0) }
        for (index, partition) in partitions.enumerated() {
            partition.recordsIn.add(index)
            partition.position.set(Int64(index))
        }
        let expected = MetricRegistry()
        partitions.forEach { expected.register($0) }
        partitions.shuffled(using: &random).forEach { registry.register($0) }
        #expect(
            registry.exposition(.classic) == expected.exposition(.classic),
            "seed \(seed)"
        )
        let order = text().filter { $0.hasPrefix("giftcombo_records_in_total{") }
        #expect(order.map { $0.split(separator: " ")[1] } == (0..<12).map { "\($0)" })
    }

    @Test func `sums never go back while sources come and go`() {
        let seed = UInt64.random(in: 0 ... .max)
        print("churn seed \(seed)")
        var random = SplitMix(state: seed)
        var live: [PartitionMetrics] = []
        var added: UInt64 = 0
        for _ in 0..<500 {
            switch Int.random(in: 0..<3, using: &random) {
            case 0:
                let number = Int32.random(in: 0..<4, using: &random)
                live.append(PartitionMetrics(topic: "t", partition: number))
                registry.register(live[live.count - 1])
            case 1 where !live.isEmpty:
                registry.retire(live.remove(at: Int.random(in: 0..<live.count, using: &random)))
            default:
                guard let one = live.randomElement(using: &random) else { continue }
                let amount = Int.random(in: 0..<100, using: &random)
                one.recordsIn.add(amount)
                added += UInt64(amount)
            }
            let samples =
                registry.samples()
                .first { $0.family.name == MetricCatalogue.recordsIn.name }?.samples ?? []
            let sum = samples.reduce(UInt64(0)) { sum, sample in
                guard case .count(let count) = sample.reading else { return sum }
                return sum + count
            }
            #expect(sum == added, "seed \(seed)")
        }
    }

    @Test func `scrapes on other threads do not disturb registrations`() async {
        let registry = registry
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<4 as Range<Int32> {
                group.addTask {
                    for _ in 0..<50 {
                        let partition = PartitionMetrics(topic: "t", partition: number)
                        registry.register(partition)
                        partition.recordsIn.increment()
                        registry.retire(partition)
                    }
                }
                group.addTask {
                    for _ in 0..<50 {
                        _ = registry.exposition(.openMetrics)
                    }
                }
            }
        }
        let labels = (0..<4).map { "{topic=\"t\",partition=\"\($0)\"}" }
        for label in labels {
            #expect(text().contains("giftcombo_records_in_total\(label) 50"))
        }
    }
}
