/// Which brokers are connected and who leads a topic's partitions, as librdkafka's statistics say.
///
/// librdkafka has no call that tells it. The layout of the JSON is librdkafka's STATISTICS.md:
/// `brokers` by name, each with `nodeid` and `state`; `topics` by name, each with `partitions`,
/// each with `partition` and `leader`.
struct StatisticsReport: Equatable {
    /// Node numbers of the brokers whose connection is up.
    private(set) var connected: Set<Int32> = []
    /// The leader of each of the topic's partitions; −1: unknown.
    private(set) var leaders: [Int32: Int32] = [:]

    /// Reads a report; nil if it isn't of the known form.
    init?(_ json: RawSpan, topic: String) {
        var scanner = JSONScanner(json)
        let wellFormed = scanner.members { name, scanner in
            switch name {
            case "brokers":
                scanner.members { _, scanner in readBroker(&scanner) }
            case "topics":
                scanner.members { name, scanner in
                    name == topic ? readTopic(&scanner) : scanner.skipValue()
                }
            default: scanner.skipValue()
            }
        }
        guard wellFormed else { return nil }
    }

    /// Whether the leader of a partition is known and connected.
    func isLeaderConnected(partition: Int32) -> Bool {
        leaders[partition].map(connected.contains) ?? false
    }

    private mutating func readBroker(_ scanner: inout JSONScanner) -> Bool {
        var node: Int64 = -1
        var isUp = false
        let wellFormed = scanner.members { name, scanner in
            switch name {
            case "nodeid": return scanner.integer(into: &node)
            case "state":
                guard let state = scanner.string() else { return false }
                isUp = state == "UP"
                return true
            default: return scanner.skipValue()
            }
        }
        // A bootstrap connection has no node number.
        if wellFormed, isUp, node >= 0 { connected.insert(Int32(clamping: node)) }
        return wellFormed
    }

    private mutating func readTopic(_ scanner: inout JSONScanner) -> Bool {
        scanner.members { name, scanner in
            guard name == "partitions" else { return scanner.skipValue() }
            return scanner.members { _, scanner in readPartition(&scanner) }
        }
    }

    private mutating func readPartition(_ scanner: inout JSONScanner) -> Bool {
        var partition: Int64 = -1
        var leader: Int64 = -1
        let wellFormed = scanner.members { name, scanner in
            switch name {
            case "partition": scanner.integer(into: &partition)
            case "leader": scanner.integer(into: &leader)
            default: scanner.skipValue()
            }
        }
        // −1 is librdkafka's bucket for records without a partition.
        if wellFormed, partition >= 0 {
            leaders[Int32(clamping: partition)] = Int32(clamping: leader)
        }
        return wellFormed
    }
}
