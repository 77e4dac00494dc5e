internal import StreamPorts

/// Which process, and which of its lives, a client belongs to.
struct ClientIdentity: Equatable, Sendable {
    var process: Int
    /// Counts restarts: a client of an earlier life does nothing any more.
    var life: Int
    var worker: Int
}

/// Times of the simulated cluster and its clients, milliseconds.
struct ClusterSettings: Sendable {
    var sessionTimeout: Int64 = 10_000
    var rebalanceTimeout: Int64 = 20_000
    var heartbeatInterval: Int64 = 150
    var transactionTimeout: Int64 = 10_000
    /// Whether a poll that finds nothing lets its time pass at once, because nobody schedules.
    var pollsTakeTime = false
}

/// A topic and its logs.
struct Topic: Sendable {
    let name: String
    var logs: [PartitionLog]
}

/// A process as the world sees it.
struct ProcessState: Sendable {
    var life = 0
    var isAlive = false
    /// Stopped until then, as by SIGSTOP: neither its workers nor its client threads run.
    var pausedUntil: Int64 = 0
    /// How long the last stop was, milliseconds.
    var pausedFor: Int64 = 0
    /// Whether it was asked to end in order.
    var isStopRequested = false
    /// How far its wall clock is off.
    var wallOffset: Int64 = 0
    /// When it may start again.
    var startAt: Int64 = 0
    /// How long each worker's last poll would have waited, milliseconds.
    private var waits: [Int64] = []

    init(startAt: Int64 = 0, isAlive: Bool = false) {
        self.startAt = startAt
        self.isAlive = isAlive
    }

    mutating func setWait(_ milliseconds: Int64, of worker: Int) {
        while waits.count <= worker { waits.append(0) }
        waits[worker] = milliseconds
    }

    /// How long the worker waits till its next turn; 0 if its last poll brought something.
    mutating func takeWait(of worker: Int) -> Int64 {
        guard worker < waits.count else { return 0 }
        defer { waits[worker] = 0 }
        return waits[worker]
    }
}

/// Everything outside of the workers: brokers, coordinators, the threads of client libraries,
/// time, and the faults that are to come.
///
/// A value with one owner, so that a run depends on its seed alone.
struct ClusterState: Sendable {
    /// Milliseconds since the simulation began.
    private(set) var now: Int64 = 0
    /// What the wall clock shows at the beginning.
    static let epoch: Int64 = 1_760_000_000_000

    var settings: ClusterSettings
    var random: SeededGenerator
    var topics: [Topic] = []
    var groups: [Group] = []
    var clients: [GroupClient] = []
    var producers: [ProducerEntry] = []
    var transactionCount = 0
    var commitCount = 0
    var processes: [ProcessState] = []

    /// Whether something is under way that needs short steps of time.
    var isBusy = false
    private var nextService: Int64 = 0

    /// Whether partitions follow the wall clock, so that clocks must agree to within the grace.
    var clocksMatter = false

    // Outages, each until a moment.
    var brokersDownUntil: Int64 = 0
    var coordinatorDownUntil: Int64 = 0
    var slowMarkersUntil: Int64 = 0
    var slowChangelogUntil: Int64 = 0

    /// Records that upstream has not sent yet, in order of their moments.
    var upstream: [UpstreamRecord] = []
    var upstreamNext = 0
    var inputTopic = 0
    var changelogTopic = 0
    var faults = FaultState()
    var writes = WriteLedger()
    /// Partitions whose restore has begun and whose state was not looked at since.
    var restoresBegun: [Int] = []
    var restores = 0

    var probes = ProbeCounts()
    var violations: [String] = []
    var trace: [String]?
    var calls = 0
    var committedTransactions = 0
    var abortedTransactions = 0
    var rebalances = 0

    init(seed: UInt64, settings: ClusterSettings) {
        random = SeededGenerator(seed: seed)
        self.settings = settings
    }

    /// The brokers' wall clock.
    var wall: Int64 { Self.epoch + now }

    var areBrokersDown: Bool { now < brokersDownUntil }

    mutating func makeTopic(_ name: String, partitions: Int) -> Int {
        topics.append(
            Topic(name: name, logs: Array(repeating: PartitionLog(), count: partitions))
        )
        return topics.count - 1
    }

    func isAlive(_ client: ClientIdentity) -> Bool {
        processes[client.process].isAlive && processes[client.process].life == client.life
    }

    /// Whether the client's own threads run.
    func isRunning(_ client: ClientIdentity) -> Bool {
        isAlive(client) && processes[client.process].pausedUntil <= now && !areBrokersDown
    }

    mutating func probe(_ probe: Probe) { probes.count(probe) }

    mutating func violate(_ sentence: String) {
        violations.append("at \(now) ms: \(sentence)")
        note("VIOLATION \(sentence)")
    }

    mutating func note(_ line: @autoclosure () -> String) {
        guard trace != nil else { return }
        trace?.append("\(now) \(line())")
    }

    // MARK: - Time

    /// Lets time pass, and all that happens meanwhile outside of the workers.
    mutating func advance(to moment: Int64) {
        while now < moment {
            var next = min(moment, max(nextService, now + 1))
            if let due = nextUpstream { next = min(next, max(due, now)) }
            if let due = faults.nextTimed { next = min(next, max(due, now)) }
            now = next
            sendUpstream()
            fireTimedFaults()
            if now >= nextService { serve() }
        }
    }

    mutating func advance(by milliseconds: Int64) {
        advance(to: now + max(0, milliseconds))
    }

    private mutating func serve() {
        isBusy = false
        if !areBrokersDown {
            serveTransactions()
            serveGroups()
        }
        nextService = now + (isBusy ? 3 : 40)
    }

    /// The next moment at which something happens by itself.
    var nextOwnMoment: Int64 {
        var next = isBusy ? min(nextService, now + 3) : nextService
        if let due = nextUpstream { next = min(next, due) }
        if let due = faults.nextTimed { next = min(next, due) }
        return max(next, now)
    }

    /// Brings service forward after something began.
    mutating func serveSoon() {
        if isBusy { nextService = min(nextService, now + 3) }
    }

    // MARK: - Upstream

    private var nextUpstream: Int64? {
        upstreamNext < upstream.count && !areBrokersDown ? upstream[upstreamNext].at : nil
    }

    private mutating func sendUpstream() {
        while let due = nextUpstream, due <= now {
            append(upstreamAt: upstreamNext)
            upstreamNext += 1
        }
    }

    private mutating func append(upstreamAt index: Int) {
        let partition = upstream[index].partition
        let timestamp = wall - upstream[index].lateness
        let record = LogRecord(
            timestamp: timestamp,
            key: upstream[index].key,
            value: upstream[index].value
        )
        upstream[index].offset = topics[inputTopic].logs[partition].append(record)
        upstream[index].timestamp = timestamp
        // A transaction of upstream's that was aborted: only its marker takes an offset.
        if upstream[index].isFollowedByMarker {
            topics[inputTopic].logs[partition].endTransaction(0, isCommit: false, at: wall)
        }
    }
}

/// A record that upstream sends.
struct UpstreamRecord: Sendable {
    /// When it is sent.
    var at: Int64
    var partition: Int
    var key: [UInt8]?
    var value: [UInt8]?
    /// How far its timestamp lies behind, milliseconds.
    var lateness: Int64
    var isFollowedByMarker = false
    /// The gift in it; nil: it can't be read, or is a tombstone.
    var gift: Gift?
    /// Where it lies, once it was sent.
    var offset: Int64 = -1
    var timestamp: Int64 = 0
}
