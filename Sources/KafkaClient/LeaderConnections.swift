/// What is known of the connections to the leaders of a topic's partitions.
///
/// An error of any connection casts doubt on all, for librdkafka doesn't say which it was in a form
/// to rely on; the statistics, each second, say what is connected, and an end that was reached
/// proves it for its partition.
struct LeaderConnections {
    /// So many reports without any connection, one after the other, are an outage: a single one may
    /// fall between two connections to the same broker.
    private static let outageReports = 2

    let topic: String
    /// No broker has been reachable since the last that was.
    private(set) var isDown = false
    private var report: StatisticsReport?
    /// The offsets of the ends that were reported.
    private var ends: [Int32: Int64] = [:]
    /// Partitions whose leader may have been away since the last proof.
    private var doubted: Set<Int32> = []
    /// The last reports that knew of no connection, while there was something to read.
    private var emptyReports = 0

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

    /// Whether statistics show an outage that ``lostAll()`` was not told of; true if that is new.
    ///
    /// librdkafka compares how many brokers are down with how many it knows, at the moment at which
    /// one goes; when several go together, it happens that nobody sees all of them down.
    mutating func hasLostAll(_ report: StatisticsReport, isReading: Bool) -> Bool {
        emptyReports = isReading && report.connected.isEmpty ? emptyReports + 1 : 0
        return emptyReports >= Self.outageReports && lostAll()
    }

    /// A broker has answered.
    mutating func foundOne() {
        isDown = false
        emptyReports = 0
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
