internal import StreamPorts
internal import Telemetry

/// Follows the topic of overlay commands: finds it, reads far enough back, then stays at its end.
///
/// ```
///            there, and asked where to begin           every partition is where its end was
///  waiting ──────────────────────────────────▶ catchingUp ─────────────────────────────────▶ live
///     ▲                                            │                                          │
///     └────────────────────────────────────────────┴──────────── the client is done for ──────┘
/// ```
///
/// A client that is made anew goes on where its predecessor was, so nothing is passed on twice.
final class TopicFollower {
    private enum State {
        /// Until the brokers were asked with success.
        case waiting
        /// The partitions that have not come to where their ends were when they were asked.
        case catchingUp([Int32: Int64])
        case live
    }

    private let topic: String
    private let rewindMilliseconds: Int64
    private let limits: GatewayLimits
    private let log: Logger
    private let makeTail: @Sendable () throws(StreamError) -> any TopicTail
    private var tail: (any TopicTail)?
    private var state = State.waiting
    /// The next offset of every partition that is read.
    private var positions: [Int32: Int64] = [:]
    private var askedAt: Int64 = .min
    private var isMissing = false
    private var isDown = false

    /// - Parameters:
    ///   - topic: Its name, for people.
    ///   - rewindMilliseconds: How far back a live combo's latest command can lie.
    ///   - limits: How long questions may take.
    ///   - log: Where life is told.
    ///   - makeTail: Makes a client.
    init(
        topic: String,
        rewindMilliseconds: Int64,
        limits: GatewayLimits,
        log: Logger,
        makeTail: @escaping @Sendable () throws(StreamError) -> any TopicTail
    ) {
        self.topic = topic
        self.rewindMilliseconds = rewindMilliseconds
        self.limits = limits
        self.log = log
        self.makeTail = makeTail
    }

    /// Why the snapshots are not complete; nil: they are.
    var notReady: String? {
        switch state {
        case .waiting where isMissing: "there is no topic \(topic)"
        case .waiting: "waiting for the brokers"
        case .catchingUp(let rest): "reading \(rest.count) partitions of \(topic)"
        case .live: isDown ? "no broker can be reached" : nil
        }
    }

    /// Whether the topic was read as far as its end was.
    var isLive: Bool {
        if case .live = state { true } else { false }
    }

    /// Gives the records that have come to `body`, and waits a little for the first.
    ///
    /// - Parameters:
    ///   - waiting: How long, milliseconds.
    ///   - wall: The wall clock, epoch ms.
    ///   - now: A clock that never goes back, ms.
    ///   - body: Takes a record.
    /// - Throws: No client can be made.
    func turn(
        waiting: Int32,
        wall: Int64,
        now: Int64,
        _ body: (RecordView) -> Void
    ) throws(StreamError) {
        let tail = try currentTail()
        askIfDue(tail, wall: wall, now: now)
        do throws(StreamError) {
            try tail.poll(limit: limits.recordsPerPoll, timeoutMilliseconds: waiting)
        } catch {
            log.warning("client-replaced", ["error": "\(error)"], repeatKey: "client-replaced")
            tail.close(timeoutMilliseconds: 0)
            self.tail = nil
            state = .waiting
            return
        }
        for index in 0..<tail.batch.count {
            let record = tail.batch[index]
            positions[record.partition] = record.offset + 1
            body(record)
        }
        for event in tail.events { take(event, tail) }
        if case .catchingUp(var rest) = state {
            rest = rest.filter { (tail.position(partition: $0.key) ?? 0) < $0.value }
            if rest.isEmpty { log.info("ready", ["topic": "\(topic)"]) }
            state = rest.isEmpty ? .live : .catchingUp(rest)
        }
    }

    /// Ends the client.
    func close() {
        tail?.close(timeoutMilliseconds: limits.questionMilliseconds)
        tail = nil
    }

    private func currentTail() throws(StreamError) -> any TopicTail {
        if let tail { return tail }
        let made = try makeTail()
        tail = made
        return made
    }

    // MARK: - Partitions

    private func askIfDue(_ tail: any TopicTail, wall: Int64, now: Int64) {
        let interval = isLive ? limits.partitionsMilliseconds : limits.askAgainMilliseconds
        guard askedAt == .min || now - askedAt >= interval else { return }
        if case .catchingUp = state { return }
        askedAt = now
        do throws(StreamError) {
            try ask(tail, wall: wall)
        } catch {
            log.warning(
                "waiting-for-brokers",
                ["topic": "\(topic)", "error": "\(error)"],
                repeatKey: "waiting-for-brokers"
            )
        }
    }

    /// Finds the topic's partitions, and begins to read those that are new.
    private func ask(_ tail: any TopicTail, wall: Int64) throws(StreamError) {
        let timeout = limits.questionMilliseconds
        guard let found = try tail.partitions(timeoutMilliseconds: timeout) else {
            if !isMissing { log.warning("waiting-for-topic", ["topic": "\(topic)"]) }
            isMissing = true
            return
        }
        isMissing = false
        switch state {
        case .waiting:
            let starts = try begin(tail, found, wall: wall)
            try tail.assign(starts.map { PartitionOffset(partition: $0.key, offset: $0.value.at) })
            for (partition, start) in starts { positions[partition] = start.at }
            state = .catchingUp(starts.filter { $0.value.at < $0.value.end }.mapValues(\.end))
        case .live:
            let added = found.filter { positions[$0] == nil }
            guard !added.isEmpty else { return }
            // Whatever is in a new partition came after the last look: all of it is news.
            for partition in added { positions[partition] = 0 }
            try assignAll(tail)
        case .catchingUp: break
        }
    }

    /// Where each partition is begun, and where its committed records end.
    ///
    /// The end is asked before the offset of the time: where no record is so young, reading begins
    /// at the end, and what is written meanwhile lies behind it.
    private func begin(
        _ tail: any TopicTail,
        _ partitions: [Int32],
        wall: Int64
    ) throws(StreamError) -> [Int32: (at: Int64, end: Int64)] {
        let timeout = limits.questionMilliseconds
        var starts: [Int32: (at: Int64, end: Int64)] = [:]
        for partition in partitions {
            let (low, high) = try tail.watermarks(
                partition: partition,
                timeoutMilliseconds: timeout
            )
            // One that was read already goes on, unless the topic is another by now.
            let known = positions[partition].flatMap { $0 <= high ? max($0, low) : nil }
            starts[partition] = (known ?? high, high)
        }
        let unknown = partitions.filter { positions[$0] == nil }
        guard !unknown.isEmpty else { return starts }
        let found = try tail.offsets(
            at: max(0, wall - rewindMilliseconds),
            of: unknown,
            timeoutMilliseconds: timeout
        )
        for place in found {
            guard let offset = place.offset, let start = starts[place.partition] else { continue }
            starts[place.partition] = (min(offset, start.end), start.end)
        }
        return starts
    }

    private func assignAll(_ tail: any TopicTail) throws(StreamError) {
        try tail.assign(
            positions.sorted { $0.key < $1.key }
                .map { PartitionOffset(partition: $0.key, offset: $0.value) }
        )
    }

    // MARK: - Events

    private func take(_ event: SourceEvent, _ tail: any TopicTail) {
        switch event {
        case .endOfPartition(let partition, let offset):
            positions[partition] = max(offset, positions[partition] ?? 0)
        case .outOfRange(let partition): seekIntoRange(partition, tail)
        case .trouble(let error):
            log.warning(
                "client-error",
                ["error": "\(error)"],
                repeatKey: "client-error \(error.code)"
            )
        case .brokersDown:
            isDown = true
            log.warning("brokers-down", repeatKey: "brokers-down")
        case .brokersUp:
            isDown = false
            log.info("brokers-up", repeatKey: "brokers-up")
        }
    }

    /// Retention has overtaken the position, or the topic was made anew: goes on at its start.
    private func seekIntoRange(_ partition: Int32, _ tail: any TopicTail) {
        log.warning(
            "position-out-of-range",
            ["topic": "\(topic)", "partition": .integer(Int64(partition))]
        )
        do throws(StreamError) {
            let low = try tail.watermarks(
                partition: partition,
                timeoutMilliseconds: limits.questionMilliseconds
            ).low
            positions[partition] = nil
            try assignAll(tail)
            positions[partition] = low
            try assignAll(tail)
        } catch {
            // The partition is not read now: a new client finds its way.
            log.warning("client-error", ["error": "\(error)"])
            tail.close(timeoutMilliseconds: 0)
            self.tail = nil
            positions[partition] = nil
            state = .waiting
        }
    }
}
