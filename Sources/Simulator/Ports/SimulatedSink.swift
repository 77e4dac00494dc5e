internal import StreamPorts

/// The topics a sink writes to, and the group whose offsets it commits.
struct SinkTargets: Sendable {
    /// By raw value of `OutputTopic`.
    var topics: [Int]
    var group: Int
}

/// A transactional producer of the simulated cluster.
///
///     new ──▶ ready ⇄ open ──▶ committing | aborting ──▶ ready
///
/// What was produced lies in a queue first and reaches the logs bit by bit; a crash loses the rest.
/// A call that has timed out must be made again: until it is, all others are refused.
final class SimulatedSink: TransactionalSink {
    private enum Phase: Equatable {
        case new
        case ready
        case open
        case committing
        case aborting
        case closed
    }

    private struct Queued {
        var address: LogAddress
        var record: LogRecord
    }

    private let cluster: SimulatedCluster
    private let identity: ClientIdentity
    private let id: String
    private let targets: SinkTargets
    private var phase = Phase.new
    private var standing: ProducerStanding?
    private var queue: [Queued] = []
    /// What makes every further call but the abort fail.
    private var failure: StreamError?

    init(
        _ cluster: SimulatedCluster,
        _ identity: ClientIdentity,
        id: String,
        targets: SinkTargets
    ) {
        self.cluster = cluster
        self.identity = identity
        self.id = id
        self.targets = targets
    }

    func initTransactions(timeoutMilliseconds: Int32) throws(StreamError) {
        let id = id
        standing = try call(.initTransactions, timeoutMilliseconds) { (state) throws(StreamError) in
            guard let standing = state.waiting(timeoutMilliseconds, { $0.initProducer(id) }) else {
                throw Self.inProgress("init_transactions")
            }
            return standing
        }
        phase = .ready
    }

    func begin() throws(StreamError) {
        try expect(.ready, "begin_transaction")
        try call(.begin) { (state) throws(StreamError) in }
        phase = .open
    }

    func produce(_ records: UnsafeBufferPointer<OutgoingRecord>) throws(StreamError) {
        try expect(.open, "produce")
        try call(.produce) { (state) throws(StreamError) in }
        for index in 0..<records.count { unsafe queue(records[index], []) }
        deliverSome()
    }

    func produce(
        _ record: OutgoingRecord,
        headers: [RecordHeader]
    ) throws(StreamError) {
        try expect(.open, "produce")
        try call(.produce) { (state) throws(StreamError) in }
        queue(record, headers)
    }

    private func queue(_ record: OutgoingRecord, _ headers: [RecordHeader]) {
        let topic = targets.topics[Int(record.topic.rawValue)]
        let key = unsafe record.key.baseAddress == nil ? nil : [UInt8](record.key)
        let value = unsafe record.value.baseAddress == nil ? nil : [UInt8](record.value)
        let requested = Int(record.partition)
        let (number, now) = cluster.change { state in
            let count = state.topics[topic].logs.count
            if requested >= 0 { return (requested, state.wall) }
            guard let key else { return (Int(state.random.next() % UInt64(count)), state.wall) }
            return (partition(ofKey: key, count: count), state.wall)
        }
        let timestamp = record.timestampMilliseconds == 0 ? now : record.timestampMilliseconds
        queue.append(
            Queued(
                address: LogAddress(topic: topic, partition: number),
                record: LogRecord(
                    timestamp: timestamp,
                    key: key,
                    value: value,
                    headers: headers
                )
            )
        )
    }

    func serve() {
        if phase == .open { deliverSome() }
    }

    /// Some of the queue reaches the logs.
    private func deliverSome() {
        guard !queue.isEmpty, failure == nil else { return }
        let count = Int(cluster.change { $0.random.next() } % UInt64(queue.count + 1))
        let identity = identity
        if count > 0, cluster.read({ $0.isAlive(identity) && !$0.areBrokersDown }) {
            deliver(count)
        }
    }

    private func deliver(_ count: Int) {
        guard let standing else { return }
        let sent = queue.prefix(count).map { ($0.address, $0.record) }
        let (written, error) = cluster.change { state -> (Int, StreamError?) in
            var written = 0
            do throws(StreamError) {
                for (address, record) in sent {
                    guard try state.write(record, to: address, by: standing) else { break }
                    written += 1
                }
            } catch {
                return (written, error)
            }
            return (written, nil)
        }
        queue.removeFirst(written)
        if let error { failure = error }
    }

    var outstanding: Int { queue.count }

    func sendOffsets(
        _ offsets: [PartitionOffset],
        membership: GroupMembership,
        timeoutMilliseconds: Int32
    ) throws(StreamError) {
        precondition(
            !offsets.isEmpty && offsets.allSatisfy { $0.offset != nil },
            "a broker accepts a list without an offset from anybody"
        )
        try expect(.open, "send_offsets_to_transaction")
        let group = targets.group
        try call(.sendOffsets, timeoutMilliseconds) { [standing] (state) throws(StreamError) in
            guard let standing else { throw Self.misuse("send_offsets_to_transaction", "new") }
            let start = state.now
            while true {
                let isSent = try state.sendOffsets(
                    offsets,
                    membership: membership,
                    group: group,
                    by: standing
                )
                if isSent { return }
                guard state.now - start < Int64(timeoutMilliseconds) else {
                    throw Self.inProgress("send_offsets_to_transaction")
                }
                state.advance(by: 2)
            }
        }
    }

    func commit(timeoutMilliseconds: Int32) throws(StreamError) {
        if phase != .committing { try expect(.open, "commit_transaction") }
        phase = .committing
        try flush(timeoutMilliseconds)
        try end(.commit, isCommit: true, timeoutMilliseconds)
    }

    func abort(timeoutMilliseconds: Int32) throws(StreamError) {
        if let failure, failure.disposition != .abortable { throw failure }
        guard phase == .open || phase == .aborting || (phase == .committing && failure != nil)
        else { throw Self.misuse("abort_transaction", "\(phase)") }
        phase = .aborting
        queue = []
        failure = nil
        try end(.abort, isCommit: false, timeoutMilliseconds)
    }

    /// Waits until everything that was produced has reached the logs.
    private func flush(_ timeoutMilliseconds: Int32) throws(StreamError) {
        let identity = identity
        let start = cluster.read(\.now)
        while !queue.isEmpty {
            if let failure { throw failure }
            guard cluster.read({ $0.isAlive(identity) }) else { throw Self.gone("flush") }
            if !cluster.read(\.areBrokersDown) { deliver(queue.count) }
            if let failure { throw failure }
            guard !queue.isEmpty else { return }
            guard cluster.read(\.now) - start < Int64(timeoutMilliseconds) else {
                throw Self.inProgress("commit_transaction")
            }
            cluster.change { $0.advance(by: 5) }
        }
    }

    private func end(
        _ kind: PortCall,
        isCommit: Bool,
        _ timeoutMilliseconds: Int32
    ) throws(StreamError) {
        try call(kind, timeoutMilliseconds) { [standing] (state) throws(StreamError) in
            guard let standing else { return }
            try state.endTransaction(of: standing, isCommit: isCommit)
        }
        phase = .ready
    }

    func close(timeoutMilliseconds: Int32) {
        phase = .closed
        queue = []
    }

    // MARK: - Faults

    /// A call with its faults; one that says so leaves the producer broken.
    private func call<Result: Sendable>(
        _ kind: PortCall,
        _ timeoutMilliseconds: Int32 = 0,
        _ body: (inout ClusterState) throws(StreamError) -> Result
    ) throws(StreamError) -> Result {
        if kind != .abort, let failure { throw failure }
        do throws(StreamError) {
            return try cluster.call(kind, identity, timeout: timeoutMilliseconds, body)
        } catch {
            if error.disposition != .retriable { failure = error }
            throw error
        }
    }

    private func expect(_ expected: Phase, _ operation: String) throws(StreamError) {
        if let failure { throw failure }
        guard phase == expected else { throw Self.misuse(operation, "\(phase)") }
    }

    private static func misuse(_ operation: String, _ phase: String) -> StreamError {
        StreamError(
            .fatal,
            operation: operation,
            code: "_STATE",
            detail: "not possible while the producer is \(phase)"
        )
    }

    private static func gone(_ operation: String) -> StreamError {
        StreamError(.refused, operation: operation, code: "_DESTROY", detail: "the process is gone")
    }

    private static func inProgress(_ operation: String) -> StreamError {
        StreamError(
            .retriable,
            operation: operation,
            code: "_TIMED_OUT",
            detail: "the last transaction is still being ended"
        )
    }
}
