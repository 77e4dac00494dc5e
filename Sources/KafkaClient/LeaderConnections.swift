/// What is known of the connections to the leaders of a topic's partitions.
///
/// An error of any connection casts doubt on all, for librdkafka doesn't say which it was in a form
/// to rely on; the statistics, each second, say what is connected, and an end that was reached
/// proves it for its partition.
struct LeaderConnections {
    let topic: String
    /// No broker has been reachable since the last that was.
    private(set) var isDown = false
    private var report: StatisticsReport?
    /// The offsets of the ends that were reported.
    private var ends: [Int32: Int64] = [:]
    /// Partitions whose leader may have been away since the last proof.
    private var doubted: Set<Int32> = []

    init(topic: String) {
        self.topic = topic
    }

    func isConnected(_ partition: Int32) -> Bool {
        guard !doubted.contains(partition) else { return false }
        return report?.isLeaderConnected(partition: partition) ?? (ends[partition] != nil)
    }

    /// Whether the end was reported there and nothing has come after it.
    func isAtEnd(_ partition: Int32, position: Int64) -> Bool {
        ends[partition] == position
    }

    mutating func reachedEnd(_ partition: Int32, offset: Int64) {
        ends[partition] = offset
        doubted.remove(partition)
    }

    /// The position was moved: no end is known there.
    mutating func left(_ partition: Int32) {
        ends[partition] = nil
    }

    mutating func forget(_ partition: Int32) {
        ends[partition] = nil
        doubted.remove(partition)
    }

    /// A connection failed.
    mutating func doubt() {
        report = nil
        doubted.formUnion(ends.keys)
    }

    /// No connection is left; true if that is new.
    mutating func lostAll() -> Bool {
        doubt()
        defer { isDown = true }
        return !isDown
    }

    /// A broker has answered.
    mutating func foundOne() {
        isDown = false
    }

    /// Takes new statistics; returns the partitions whose leader is back, and whose end is in
    /// doubt.
    mutating func update(_ report: StatisticsReport) -> [Int32] {
        self.report = report
        for partition in ends.keys where !report.isLeaderConnected(partition: partition) {
            doubted.insert(partition)
        }
        let back = doubted.filter { report.isLeaderConnected(partition: $0) }.sorted()
        doubted.subtract(back)
        return back
    }
}
