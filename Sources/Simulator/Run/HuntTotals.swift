/// What many runs came to together.
package struct HuntTotals: Sendable {
    /// Seeds that were run.
    package private(set) var seeds = 0
    /// Records that upstream sent.
    package private(set) var records = 0
    /// Faults that struck.
    package private(set) var faults = 0
    /// Committed commands.
    package private(set) var commands = 0
    /// Transactions that were committed, and that were aborted.
    package private(set) var committed = 0
    /// Transactions that were aborted.
    package private(set) var aborted = 0
    /// Rebalances that were completed.
    package private(set) var rebalances = 0
    /// Virtual time, milliseconds.
    package private(set) var milliseconds: Int64 = 0
    /// What of interest was met.
    package private(set) var probes = ProbeCounts()
    /// The failed run of the lowest seed.
    package private(set) var failure: RunReport?

    /// Creates totals of no run.
    package init() {}

    /// Adds a run.
    package mutating func add(_ report: RunReport) {
        seeds += 1
        records += report.records
        faults += report.struck
        commands += report.commands
        committed += report.committed
        aborted += report.aborted
        rebalances += report.rebalances
        milliseconds += report.milliseconds
        probes.add(report.probes)
        if !report.violations.isEmpty, failure.map({ report.seed < $0.seed }) ?? true {
            failure = report
        }
    }

    /// Probes that were never met.
    package var missed: [Probe] { Probe.allCases.filter { probes[$0] == 0 } }
}
