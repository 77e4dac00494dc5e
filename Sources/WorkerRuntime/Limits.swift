/// Every bound of the worker's loop, with its unit and its reason.
enum Limits {
    /// Records taken in one turn: a fraction of a millisecond of work, so that timers and
    /// heartbeats are never late because of it.
    static let recordsPerTurn = 2000
    /// Changelog records taken in one slice of a restore, for the same reason.
    static let restoreRecordsPerSlice = 4000
    /// Longest wait for records, milliseconds, so that stop requests and timers are seen in time.
    static let pollMilliseconds: Int64 = 40
    /// Longest wait of one question to a broker, milliseconds, while other partitions run.
    static let questionMilliseconds: Int32 = 250
    /// Pause before a question that failed is asked again, milliseconds.
    static let questionRetryMilliseconds: Int64 = 50
    /// Longest wait of one call that ends a transaction, milliseconds; it is made again after a
    /// look at stop requests.
    static let transactionCallMilliseconds: Int32 = 1000
    /// Longest time for the final commit of a partition that is taken away, milliseconds.
    static let revokeMilliseconds: Int64 = 5000
    /// Longest time between two looks of others at what the worker does, milliseconds.
    static let statusMilliseconds: Int64 = 100
    /// Longest orderly close of one client, milliseconds; beyond it the process may go without.
    static let closeMilliseconds: Int32 = 3000
}
