internal import StreamPorts

/// The coordinator's entry of a transactional id.
///
///     empty ──▶ ongoing ──▶ ending ──▶ empty
///                  │           ▲
///                  └─ time-out, a new producer: epoch + 1, abort
///
/// - `ongoing`: the first partition or group was added. Ends by its producer, its time-out, or a
/// new
///   producer of the same id.
/// - `ending`: the outcome is decided and answered; markers are being written, one partition after
///   the other. Until the last one is there nothing new begins.
struct ProducerEntry: Sendable {
    enum Phase: Sendable {
        case empty
        case ongoing(transaction: Int, since: Int64)
        case ending(transaction: Int, isCommit: Bool)
    }

    let id: String
    var epoch: Int32 = -1
    var phase = Phase.empty
    /// Logs that have records of the transaction.
    var partitions: [LogAddress] = []
    /// Groups that have offsets of the transaction.
    var groups: [Int] = []
    /// Markers that are not written yet, and when they will be.
    var markers: [(target: MarkerTarget, due: Int64)] = []
    /// How the last transaction ended.
    var last: (transaction: Int, isCommit: Bool)?
}

/// Which log.
struct LogAddress: Hashable, Sendable {
    var topic: Int
    var partition: Int
}

/// Where a marker goes.
enum MarkerTarget: Sendable {
    case log(LogAddress)
    case group(Int)
}

/// What a producer was given by `initTransactions`.
struct ProducerStanding: Sendable {
    var entry: Int
    var epoch: Int32
}

extension ClusterState {
    /// Makes a producer the only one of its transactional id.
    ///
    /// - Returns: nil while an earlier transaction is still being ended: to be asked again.
    mutating func initProducer(_ id: String) -> ProducerStanding? {
        let index =
            producers.firstIndex { $0.id == id }
            ?? {
                producers.append(ProducerEntry(id: id))
                return producers.count - 1
            }()
        switch producers[index].phase {
        case .empty:
            producers[index].epoch += 1
            return ProducerStanding(entry: index, epoch: producers[index].epoch)
        case .ongoing:
            probe(.newProducerEndsAnOpenTransaction)
            producers[index].epoch += 1
            end(index, isCommit: false)
            return nil
        case .ending:
            return nil
        }
    }

    /// The transaction of a producer, begun if there is none.
    ///
    /// - Returns: nil while the last one is still being ended.
    private mutating func transaction(
        of producer: ProducerStanding
    ) throws(StreamError) -> Int? {
        try checkEpoch(producer, "add_partitions_to_transaction")
        switch producers[producer.entry].phase {
        case .ongoing(let transaction, _): return transaction
        case .ending: return nil
        case .empty:
            transactionCount += 1
            producers[producer.entry].phase = .ongoing(transaction: transactionCount, since: now)
            return transactionCount
        }
    }

    mutating func checkEpoch(_ producer: ProducerStanding, _ operation: String) throws(StreamError)
    {
        guard producers[producer.entry].epoch == producer.epoch else {
            probe(.producerFenced)
            throw StreamError(
                .fenced,
                operation: operation,
                code: "_FENCED",
                detail: "the epoch is \(producers[producer.entry].epoch), not \(producer.epoch)"
            )
        }
    }

    /// Appends a record to the producer's transaction.
    ///
    /// - Returns: Whether it was; false while the last transaction is still being ended.
    mutating func write(
        _ record: LogRecord,
        to address: LogAddress,
        by producer: ProducerStanding
    ) throws(StreamError) -> Bool {
        guard let transaction = try transaction(of: producer) else { return false }
        if !producers[producer.entry].partitions.contains(address) {
            producers[producer.entry].partitions.append(address)
        }
        var record = record
        record.transaction = transaction
        topics[address.topic].logs[address.partition].append(record)
        return true
    }

    /// Adds offsets to the producer's transaction.
    ///
    /// - Returns: Whether they were; false while the last transaction is still being ended.
    mutating func sendOffsets(
        _ offsets: [PartitionOffset],
        membership: GroupMembership,
        group: Int,
        by producer: ProducerStanding
    ) throws(StreamError) -> Bool {
        guard let transaction = try transaction(of: producer) else { return false }
        if !producers[producer.entry].groups.contains(group) {
            producers[producer.entry].groups.append(group)
        }
        if let (member, generation) = try checkMembership(membership, group) {
            noteWriter(member, generation, offsets.map(\.partition), group)
        }
        for offset in offsets {
            commitCount += 1
            groups[group].pending.removeAll {
                $0.transaction == transaction && $0.offset.partition == offset.partition
            }
            groups[group].pending.append(
                PendingOffset(transaction: transaction, offset: offset, sequence: commitCount)
            )
        }
        return true
    }

    /// Decides the producer's transaction; the markers follow.
    mutating func endTransaction(
        of producer: ProducerStanding,
        isCommit: Bool
    ) throws(StreamError) {
        let operation = isCommit ? "commit_transaction" : "abort_transaction"
        try checkEpoch(producer, operation)
        if case .ongoing = producers[producer.entry].phase {
            end(producer.entry, isCommit: isCommit)
        }
    }

    private mutating func end(_ index: Int, isCommit: Bool) {
        guard case .ongoing(let transaction, _) = producers[index].phase else { return }
        producers[index].phase = .ending(transaction: transaction, isCommit: isCommit)
        producers[index].last = (transaction, isCommit)
        if isCommit {
            noteCommit(transaction, producers[index].partitions, producers[index].groups.first)
        }
        let targets =
            producers[index].partitions.map { MarkerTarget.log($0) }
            + producers[index].groups.map { MarkerTarget.group($0) }
        let longest: Int64 = now < slowMarkersUntil ? 2000 : 12
        for target in targets {
            let delay = random.number(0...longest)
            producers[index].markers.append((target, now + delay))
        }
        producers[index].partitions = []
        producers[index].groups = []
        if isCommit { committedTransactions += 1 } else { abortedTransactions += 1 }
        isBusy = true
        writeMarkers(index)
    }

    /// Writes the markers of an entry that are due.
    private mutating func writeMarkers(_ index: Int) {
        guard case .ending(let transaction, let isCommit) = producers[index].phase else { return }
        for marker in producers[index].markers where marker.due <= now {
            switch marker.target {
            case .log(let address):
                topics[address.topic].logs[address.partition].endTransaction(
                    transaction,
                    isCommit: isCommit,
                    at: wall
                )
            case .group(let group): resolveOffsets(transaction, isCommit: isCommit, group)
            }
        }
        producers[index].markers.removeAll { $0.due <= now }
        if producers[index].markers.isEmpty { producers[index].phase = .empty }
    }

    /// Writes markers that are due and ends transactions that have taken too long.
    mutating func serveTransactions() {
        for index in producers.indices {
            switch producers[index].phase {
            case .empty: break
            case .ongoing(_, let since):
                guard now - since > settings.transactionTimeout else { break }
                probe(.transactionTimedOut)
                expireTransaction(index)
            case .ending:
                writeMarkers(index)
                isBusy = true
            }
        }
    }

    /// Ends a transaction as its time-out does: nobody who began it may go on.
    mutating func expireTransaction(_ index: Int) {
        guard case .ongoing = producers[index].phase else { return }
        producers[index].epoch += 1
        end(index, isCommit: false)
    }
}
