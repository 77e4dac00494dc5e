/// What `giftcombo check` has found in one respect: a line for people.
struct Finding: Equatable {
    enum Verdict: String {
        /// As it should be.
        case ok = "ok"
        /// It works, but a person should know.
        case warning = "warning"
        /// `run` would not work, or not for long.
        case failed = "FAILED"
    }

    var verdict: Verdict
    /// What was looked at: `brokers`, `input.topic`.
    var subject: String
    /// What was seen; for all but ``Verdict/ok`` also what to do.
    var detail: String

    init(_ verdict: Verdict, _ subject: String, _ detail: String) {
        self.verdict = verdict
        self.subject = subject
        self.detail = detail
    }

    var line: String {
        let padding = String(repeating: " ", count: 8 - verdict.rawValue.count)
        return "\(verdict.rawValue)\(padding)\(subject): \(detail)"
    }
}
