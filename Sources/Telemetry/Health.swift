/// Whether something is well, and what ails it.
package struct HealthReport: Equatable, Sendable {
    /// Whether all is well.
    package var ok: Bool
    /// What is the matter, in one line; may also say something where all is well.
    package var reason: String

    /// Creates a report.
    package init(ok: Bool, reason: String) {
        self.ok = ok
        self.reason = reason
    }
}

/// Answers the probes of an orchestrator; called by the admin server's thread at any time.
package protocol HealthSource: Sendable {
    /// Whether the workers' loops move; a broker outage does not fail it.
    func livez() -> HealthReport
    /// Whether the group is joined and every assigned partition restored.
    func readyz() -> HealthReport
    /// What this process owns, with lag, live combos and clocks, as one JSON value.
    func partitionsJSON() -> String
}
