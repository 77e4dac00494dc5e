internal import StreamPorts

/// Reads changelog partitions of the simulated cluster.
final class SimulatedChangelogReader: ChangelogReader {
    private let cluster: SimulatedCluster
    private let identity: ClientIdentity
    private let topic: Int
    private var cursors: [LogCursor] = []
    private let memory = BatchMemory()

    private(set) var batch: RecordBatch
    private(set) var events: [SourceEvent] = []

    init(_ cluster: SimulatedCluster, _ identity: ClientIdentity, topic: Int) {
        self.cluster = cluster
        self.identity = identity
        self.topic = topic
        batch = memory.makeBatch()
    }

    func highWatermark(
        partition: Int32,
        timeoutMilliseconds: Int32
    ) throws(StreamError) -> Int64 {
        let topic = topic
        return try cluster.call(
            .highWatermark,
            identity,
            timeout: timeoutMilliseconds
        ) { (state) throws(StreamError) in
            guard state.topics[topic].logs.indices.contains(Int(partition)) else {
                throw StreamError(
                    .refused,
                    operation: "offsets_for_times",
                    code: "_UNKNOWN_PARTITION",
                    detail: "\(state.topics[topic].name) has no partition \(partition)"
                )
            }
            let log = state.topics[topic].logs[Int(partition)]
            if log.lastStable < log.end { state.probe(.restoreMeetsAnOpenTransaction) }
            state.restoresBegun.append(Int(partition))
            return log.end
        }
    }

    func assign(_ partitions: [Int32]) throws(StreamError) {
        try cluster.call(.changelogAssign, identity) { (state) throws(StreamError) in }
        cursors.removeAll { !partitions.contains($0.partition) }
        for number in partitions where !cursors.contains(where: { $0.partition == number }) {
            cursors.append(LogCursor(partition: number))
        }
    }

    func poll(limit: Int, timeoutMilliseconds: Int32) throws(StreamError) {
        memory.removeAll()
        events.removeAll()
        batch = memory.makeBatch()
        try cluster.call(.changelogPoll, identity) { (state) throws(StreamError) in }
        fetch(limit)
        if memory.count == 0, events.isEmpty {
            let takesTime = cluster.change { state in
                if state.settings.pollsTakeTime { state.advance(by: Int64(timeoutMilliseconds)) }
                return state.settings.pollsTakeTime
            }
            if takesTime { fetch(limit) }
        }
        batch = memory.makeBatch()
    }

    private func fetch(_ limit: Int) {
        let topic = topic
        let (isDown, isSlow) = cluster.read { ($0.areBrokersDown, $0.now < $0.slowChangelogUntil) }
        guard !isDown else { return }
        var room = isSlow ? 1 : limit
        for index in cursors.indices {
            var cursor = cursors[index]
            cursor.position = cursor.position ?? 0
            let fetch = cluster.read { state in
                let log = state.topics[topic].logs[Int(cursor.partition)]
                return (cursor.fetch(log, limit: room, readCommitted: true), cursor)
            }
            guard room > 0 else { break }
            cursors[index] = fetch.1
            room -= fetch.0.records.count
            for record in fetch.0.records { memory.append(record, partition: cursor.partition) }
            if let event = fetch.0.event { events.append(event) }
        }
    }

    func position(partition: Int32) -> Int64? {
        cursors.first { $0.partition == partition }?.position
    }

    func close(timeoutMilliseconds: Int32) {
        cursors = []
    }
}
