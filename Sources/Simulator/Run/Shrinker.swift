/// Makes a failing run smaller: fewer faults, fewer records, and still wrong.
package struct Shrinker {
    /// How many runs it may take: a few seconds.
    private static let runsLimit = 150

    private var runs = 0
    private var options: SimulationOptions
    private var report: RunReport

    /// The smallest failing run that was found, and what it came to.
    package static func shortened(
        _ report: RunReport,
        _ options: SimulationOptions
    ) -> (options: SimulationOptions, report: RunReport) {
        var shrinker = Shrinker(options: options, report: report)
        shrinker.dropFaults()
        shrinker.dropRecords()
        return (shrinker.options, shrinker.report)
    }

    private init(options: SimulationOptions, report: RunReport) {
        self.options = options
        self.options.isTraced = false
        self.report = report
        self.options.keptFaults = report.faultNumbers
    }

    /// Takes away ever smaller pieces of the schedule.
    private mutating func dropFaults() {
        var size = max(1, (options.keptFaults?.count ?? 0) / 2)
        while true {
            var start = 0
            var isSmaller = false
            while let kept = options.keptFaults, start < kept.count {
                var candidate = options
                candidate.keptFaults =
                    Array(kept[..<start]) + kept[min(start + size, kept.count)...]
                if stillFails(candidate) { isSmaller = true } else { start += size }
            }
            if size == 1, !isSmaller { return }
            size = max(1, size / 2)
            guard runs < Self.runsLimit else { return }
        }
    }

    private mutating func dropRecords() {
        var count = report.records
        var step = count / 2
        while step > 0, runs < Self.runsLimit {
            var candidate = options
            candidate.recordLimit = count - step
            if count > step, stillFails(candidate) { count -= step }
            step /= 2
        }
    }

    private mutating func stillFails(_ candidate: SimulationOptions) -> Bool {
        guard runs < Self.runsLimit else { return false }
        runs += 1
        let result = Simulation(candidate).run()
        guard !result.violations.isEmpty else { return false }
        options = candidate
        report = result
        return true
    }
}
