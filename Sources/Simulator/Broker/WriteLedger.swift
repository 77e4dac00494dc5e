internal import StreamPorts

/// Who wrote for which partition, as the coordinator saw it.
///
/// A partition has one owner in a generation of the group, and everything that is committed for it
/// comes together with its offset.
struct WriteLedger: Sendable {
    private struct Turn: Hashable {
        var partition: Int32
        var generation: Int32
    }

    /// Which member committed for a partition in a generation.
    private var writers: [Turn: Int] = [:]
    /// Partitions whose offsets a transaction committed.
    private var partitions: [Int: [Int32]] = [:]

    /// Notes that a member sent an offset; answers who did before it in the same generation, if
    /// that was another.
    mutating func note(_ partition: Int32, _ generation: Int32, member: Int) -> Int? {
        let turn = Turn(partition: partition, generation: generation)
        let before = writers.updateValue(member, forKey: turn)
        return before == member ? nil : before
    }

    /// Notes that a transaction is committed with offsets of these partitions.
    mutating func note(transaction: Int, commits list: [Int32]) {
        partitions[transaction] = list
    }

    /// Whether a transaction committed an offset of a partition.
    func covers(_ partition: Int, _ transaction: Int?) -> Bool {
        guard let transaction, let list = partitions[transaction] else { return false }
        return list.contains(Int32(partition))
    }
}

extension ClusterState {
    /// A member sends offsets: they must be of partitions that it owns, and nobody else.
    mutating func noteWriter(_ member: Int, _ generation: Int32, _ list: [Int32], _ group: Int) {
        for partition in list {
            if let other = writes.note(partition, generation, member: member) {
                violate(
                    "partition \(partition): members \(other) and \(member) write in generation "
                        + "\(generation)"
                )
            }
            for client in clients where client.group == group && !client.isClosed {
                guard let number = client.member,
                    client.owned.contains(partition) == (number != member),
                    groups[group].members.contains(where: { $0.number == number })
                else { continue }
                violate(
                    number == member
                        ? "member \(member) writes for partition \(partition), not its own"
                        : "member \(member) writes for partition \(partition), which is \(number)'s"
                )
            }
        }
    }

    /// A transaction is committed: states that it wrote must come with their offsets.
    mutating func noteCommit(_ transaction: Int, _ logs: [LogAddress], _ group: Int?) {
        let list =
            group.map { group in
                groups[group].pending.filter { $0.transaction == transaction }
                    .map(\.offset.partition)
            } ?? []
        writes.note(transaction: transaction, commits: list)
        for log in logs where log.topic == changelogTopic {
            if !list.contains(Int32(log.partition)) {
                violate("state of partition \(log.partition) is committed without its offset")
            }
        }
    }
}
