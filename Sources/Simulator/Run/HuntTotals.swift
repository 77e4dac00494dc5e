/// What many runs came to together, up to the first that failed, in order of their seeds.
///
/// Runs are handed in as they end, on whatever thread; those that overtook others wait here, so
/// that the totals depend on the seeds alone.
package struct HuntTotals: Sendable {
    /// Seeds that were run.
    package private(set) var seeds = 0
    /// Records that upstream sent.
    package private(set) var records = 0
    /// Faults that struck.
    package private(set) var faults = 0
    /// Committed commands.
    package private(set) var commands = 0
    /// Transactions that were committed.
    package private(set) var committed = 0
    /// Transactions that were aborted.
    package private(set) var aborted = 0
    /// Rebalances that were completed.
    package private(set) var rebalances = 0
    /// Restores whose state was compared with what the last owner had.
    package private(set) var restores = 0
    /// Virtual time, milliseconds.
    package private(set) var milliseconds: Int64 = 0
    /// What of interest was met.
    package private(set) var probes = ProbeCounts()
    /// The failed run of the lowest seed.
    package private(set) var failure: RunReport?
    /// Whether a run has failed, be it one of which earlier seeds are not done yet.
    package private(set) var hasFailed = false

    private var next: UInt64
    private var early: [UInt64: RunReport] = [:]

    /// Creates totals of no run; `first` is the first seed.
    package init(first: UInt64) {
        next = first
    }

    /// Adds a run.
    package mutating func add(_ report: RunReport) {
        if !report.violations.isEmpty { hasFailed = true }
        early[report.seed] = report
        while failure == nil, let report = early.removeValue(forKey: next) {
            next &+= 1
            sum(report)
        }
    }

    private mutating func sum(_ report: RunReport) {
        seeds += 1
        records += report.records
        faults += report.struck
        commands += report.commands
        committed += report.committed
        aborted += report.aborted
        rebalances += report.rebalances
        restores += report.restores
        milliseconds += report.milliseconds
        probes.add(report.probes)
        if !report.violations.isEmpty { failure = report }
    }

    /// Probes that were never met.
    package var missed: [Probe] { Probe.allCases.filter { probes[$0] == 0 } }
}
