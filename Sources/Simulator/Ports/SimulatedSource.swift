internal import StreamPorts

/// A member of a consumer group of the simulated cluster.
final class SimulatedSource: RecordSource {
    private let cluster: SimulatedCluster
    private let identity: ClientIdentity
    private let topic: Int
    private let group: Int
    private var client: Int?
    private weak var listener: (any RebalanceListener)?
    private var cursors: [LogCursor] = []
    private let memory = BatchMemory()
    /// Which partition is fetched first, so that none starves.
    private var turn = 0
    private var wasDown = false
    /// Nothing that was fetched is there before, after a pause or an outage.
    private var stalledUntil: Int64 = 0
    private var seenPause: Int64 = 0
    private var isClosed = false

    private(set) var batch: RecordBatch
    private(set) var events: [SourceEvent] = []

    init(_ cluster: SimulatedCluster, _ identity: ClientIdentity, topic: Int, group: Int) {
        self.cluster = cluster
        self.identity = identity
        self.topic = topic
        self.group = group
        batch = memory.makeBatch()
    }

    func subscribe(listener: any RebalanceListener) throws(StreamError) {
        precondition(client == nil, "a source subscribes once")
        self.listener = listener
        let group = group
        let identity = identity
        client = try cluster.call(.subscribe, identity) { (state) throws(StreamError) in
            state.subscribe(identity, group: group)
        }
    }

    func poll(limit: Int, timeoutMilliseconds: Int32) throws(StreamError) {
        memory.removeAll()
        events.removeAll()
        batch = memory.makeBatch()
        try cluster.call(.poll, identity) { (state) throws(StreamError) in }
        serveCallbacks()
        noteOutages()
        fetch(limit: limit)
        if memory.count == 0, events.isEmpty { wait(timeoutMilliseconds, limit: limit) }
        batch = memory.makeBatch()
    }

    /// Nothing came: the worker's next turn comes when the time is over, or time passes here.
    private func wait(_ milliseconds: Int32, limit: Int) {
        let identity = identity
        let waits = cluster.change { state in
            guard state.settings.pollsTakeTime else {
                state.processes[identity.process].setWait(
                    Int64(milliseconds),
                    of: identity.worker
                )
                return false
            }
            state.advance(by: Int64(milliseconds))
            return true
        }
        guard waits else { return }
        serveCallbacks()
        noteOutages()
        fetch(limit: limit)
    }

    /// Tells the listener what the client's thread has learnt, one after the other, as the client
    /// library does: its calls of ports come back here.
    private func serveCallbacks() {
        guard let client else { return }
        while let callback = next(client) {
            switch callback {
            case .assigned(let partitions):
                for number in partitions {
                    cursors.removeAll { $0.partition == number }
                    cursors.append(LogCursor(partition: number, isPaused: true))
                }
                cursors.sort { $0.partition < $1.partition }
                cluster.change { $0.took(client, partitions) }
                listener?.partitionsAssigned(partitions)
            case .revoked(let partitions):
                let identity = identity
                cluster.change { $0.faults.revoking = identity }
                listener?.partitionsRevoked(partitions)
                cluster.change { state in
                    state.faults.revoking = nil
                    if !state.isAlive(identity) { state.probe(.crashedInsideRevocation) }
                }
                release(client, partitions, rejoins: true)
            case .lost(let partitions):
                cluster.change { $0.probe(.partitionsLost) }
                listener?.partitionsLost(partitions)
                release(client, partitions, rejoins: false)
            }
            cluster.change { $0.clients[client].isServing = false }
        }
    }

    private func next(_ client: Int) -> GroupClient.Callback? {
        let identity = identity
        return cluster.change { state in
            guard state.isAlive(identity), let first = state.clients[client].callbacks.first
            else { return nil }
            state.clients[client].callbacks.removeFirst()
            state.clients[client].isServing = true
            state.note("\(identity) \(first)")
            return first
        }
    }

    private func release(_ client: Int, _ partitions: [Int32], rejoins: Bool) {
        cursors.removeAll { partitions.contains($0.partition) }
        cluster.change { $0.gaveBack(client, partitions, rejoins: rejoins) }
    }

    private func noteOutages() {
        let identity = identity
        let (isDown, process) = cluster.read {
            ($0.areBrokersDown, $0.processes[identity.process])
        }
        if process.pausedUntil != seenPause || (wasDown && !isDown) {
            seenPause = process.pausedUntil
            // A pause too short to be noticed must not look like a long one.
            let longest = wasDown ? 400 : min(400, process.pausedFor)
            stalledUntil = cluster.change { $0.now + $0.random.number(0...longest) }
        }
        guard isDown != wasDown else { return }
        wasDown = isDown
        events.append(isDown ? .brokersDown : .brokersUp)
        if !isDown { for index in cursors.indices { cursors[index].reportedEnd = nil } }
    }

    private func fetch(limit: Int) {
        guard !wasDown, !cursors.isEmpty, stalledUntil <= cluster.read(\.now) else { return }
        let topic = topic
        let identity = identity
        turn = (turn + 1) % cursors.count
        var room = limit
        for step in cursors.indices {
            let index = (turn + step) % cursors.count
            guard !cursors[index].isPaused else { continue }
            var cursor = cursors[index]
            let fetch = cluster.change { state in
                if state.takeRewind(identity) {
                    cursor.position = cursor.position.map { max(0, $0 - 3) }
                }
                let log = state.topics[topic].logs[Int(cursor.partition)]
                return (
                    cursor.fetch(log, limit: room, readCommitted: true),
                    cursor
                )
            }
            cursors[index] = fetch.1
            room -= fetch.0.records.count
            for record in fetch.0.records { memory.append(record, partition: cursor.partition) }
            if let event = fetch.0.event { events.append(event) }
        }
    }

    func pause(_ partitions: [Int32]) throws(StreamError) {
        try cluster.call(.pause, identity) { (state) throws(StreamError) in }
        for index in cursors.indices where partitions.contains(cursors[index].partition) {
            cursors[index].isPaused = true
        }
    }

    func resume(_ partitions: [Int32]) throws(StreamError) {
        try cluster.call(.resume, identity) { (state) throws(StreamError) in }
        for index in cursors.indices where partitions.contains(cursors[index].partition) {
            cursors[index].isPaused = false
        }
    }

    func seek(partition: Int32, offset: Int64) throws(StreamError) {
        precondition(offset >= 0, "a position is an explicit offset")
        try cluster.call(.seek, identity) { (state) throws(StreamError) in }
        guard let index = cursors.firstIndex(where: { $0.partition == partition }) else {
            throw StreamError(
                .refused,
                operation: "seek",
                code: "_UNKNOWN_PARTITION",
                detail: "partition \(partition) is not assigned"
            )
        }
        cursors[index].seek(offset)
    }

    func committed(
        _ partitions: [Int32],
        timeoutMilliseconds: Int32
    ) throws(StreamError) -> [PartitionOffset] {
        let group = group
        return try cluster.call(
            .committed,
            identity,
            timeout: timeoutMilliseconds
        ) { (state) throws(StreamError) in
            let offsets = state.waiting(timeoutMilliseconds) { $0.committed(partitions, group) }
            guard let offsets else {
                state.probe(.committedOffsetsWait)
                throw StreamError(
                    .retriable,
                    operation: "committed",
                    code: "UNSTABLE_OFFSET_COMMIT",
                    detail: "a transaction on the offsets is open"
                )
            }
            return offsets
        }
    }

    func watermarks(
        partition: Int32,
        timeoutMilliseconds: Int32
    ) throws(StreamError) -> (low: Int64, high: Int64) {
        let topic = topic
        return try cluster.call(
            .watermarks,
            identity,
            timeout: timeoutMilliseconds
        ) { (state) throws(StreamError) in
            let log = state.topics[topic].logs[Int(partition)]
            return (log.start, log.lastStable)
        }
    }

    func cachedEnd(partition: Int32) -> Int64? {
        cursors.first { $0.partition == partition }?.cachedEnd
    }

    func membership() -> GroupMembership? {
        guard let client else { return nil }
        return cluster.read { $0.isAlive(identity) ? $0.membership(client) : nil }
    }

    func isConnected(partition: Int32) -> Bool { !wasDown }

    func close(timeoutMilliseconds: Int32) {
        guard !isClosed else { return }
        isClosed = true
        do throws(StreamError) {
            try cluster.call(.close, identity) { (state) throws(StreamError) in }
        } catch {
            return
        }
        guard let client else { return }
        serveCallbacks()
        let owned = cluster.read { $0.clients[client].owned }
        if !owned.isEmpty {
            listener?.partitionsRevoked(owned)
            release(client, owned, rejoins: false)
        }
        let identity = identity
        cluster.change { state in
            if state.isAlive(identity) { state.leave(client) }
        }
    }
}
