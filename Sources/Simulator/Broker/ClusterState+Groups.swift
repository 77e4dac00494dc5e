internal import StreamPorts

/// A consumer group as its coordinator knows it.
///
///     stable ──▶ preparing ──▶ stable
///
/// - `stable`: every member has its share, or will hear of it when it asks.
/// - `preparing`: members join, each with what it owns; ends when all have, or at a deadline, when
///   those that have not are put out. Cooperative (KIP-429): a partition that moves is taken from
///   its
///   owner in one rebalance and given in the next.
struct Group: Sendable {
    let name: String
    let topic: Int
    var generation: Int32 = 0
    /// Until when members may join; nil: stable.
    var joinDeadline: Int64?
    /// In order of their numbers.
    var members: [GroupMember] = []
    var memberCount = 0
    var committed: [CommittedOffset?]
    /// All that was ever committed for each partition, in order.
    var history: [[CommittedOffset]]
    /// Offsets of open transactions, in the order in which they came.
    var pending: [PendingOffset] = []
}

struct GroupMember: Sendable {
    let number: Int
    var lastHeartbeat: Int64
    var hasJoined = false
    /// What it owned when it joined.
    var owned: [Int32] = []
    var assignment: [Int32] = []
}

struct CommittedOffset: Equatable, Sendable {
    var offset: Int64
    var metadata: String?
    var sequence: Int
}

struct PendingOffset: Sendable {
    var transaction: Int
    var offset: PartitionOffset
    var sequence: Int
}

/// The client side of a member: what runs in the client library's own thread.
struct GroupClient: Sendable {
    enum Callback: Equatable, Sendable {
        case assigned([Int32])
        case revoked([Int32])
        case lost([Int32])
    }

    let owner: ClientIdentity
    let group: Int
    var isClosed = false
    /// Its number in the group; nil: it has not joined, or learnt that it was put out.
    var member: Int?
    var generation: Int32 = -1
    /// What the application owns and has not given back.
    var owned: [Int32] = []
    /// What the application has not heard yet.
    var callbacks: [Callback] = []
    /// Whether the application is hearing it just now: it joins nothing before it is done.
    var isServing = false
    /// When it speaks to the coordinator next.
    var nextHeartbeat: Int64
    /// When it hears of its share; nil: it waits for none.
    var syncAt: Int64?
    /// Whether it joins again at the next heartbeat, for it has given partitions back.
    var mustRejoin = false
}

extension ClusterState {
    mutating func group(_ name: String, topic: Int) -> Int {
        if let index = groups.firstIndex(where: { $0.name == name }) { return index }
        let count = topics[topic].logs.count
        groups.append(
            Group(
                name: name,
                topic: topic,
                committed: Array(repeating: nil, count: count),
                history: Array(repeating: [], count: count)
            )
        )
        return groups.count - 1
    }

    /// Begins to take part; answers the client's number.
    mutating func subscribe(_ owner: ClientIdentity, group: Int) -> Int {
        isBusy = true
        clients.append(
            GroupClient(owner: owner, group: group, nextHeartbeat: now + random.number(0...5))
        )
        return clients.count - 1
    }

    mutating func leave(_ client: Int) {
        clients[client].isClosed = true
        let group = clients[client].group
        if let member = clients[client].member,
            groups[group].members.contains(where: { $0.number == member })
        {
            groups[group].members.removeAll { $0.number == member }
            requestRebalance(group)
        }
        clients[client].member = nil
    }

    mutating func requestRebalance(_ group: Int) {
        isBusy = true
        guard groups[group].joinDeadline == nil else { return }
        groups[group].joinDeadline = now + settings.rebalanceTimeout
        for index in groups[group].members.indices {
            groups[group].members[index].hasJoined = false
        }
    }

    // MARK: - The client's thread

    /// Lets every client that is due speak to its coordinator, then ends what members missed.
    mutating func serveGroups() {
        for index in clients.indices where !clients[index].isClosed {
            guard isRunning(clients[index].owner) else { continue }
            if let member = memberIndex(index) {
                groups[clients[index].group].members[member].lastHeartbeat = now
            }
            if let syncAt = clients[index].syncAt, syncAt <= now { sync(index) }
            guard clients[index].nextHeartbeat <= now else { continue }
            heartbeat(index)
            let isRebalancing = groups[clients[index].group].joinDeadline != nil
            let longest: Int64 = isRebalancing ? 10 : settings.heartbeatInterval
            clients[index].nextHeartbeat = now + random.number(1...longest)
        }
        for group in groups.indices { expireMembers(group) }
        for group in groups.indices { completeRebalance(group) }
    }

    private func memberIndex(_ client: Int) -> Int? {
        guard let number = clients[client].member else { return nil }
        return groups[clients[client].group].members.firstIndex { $0.number == number }
    }

    private mutating func heartbeat(_ index: Int) {
        let group = clients[index].group
        guard clients[index].member != nil else {
            // The application must have heard of its loss before it joins again.
            guard !clients[index].isServing, clients[index].callbacks.isEmpty,
                clients[index].owned.isEmpty
            else { return }
            requestRebalance(group)
            groups[group].memberCount += 1
            let number = groups[group].memberCount
            groups[group].members.append(
                GroupMember(number: number, lastHeartbeat: now, hasJoined: true)
            )
            clients[index].member = number
            return
        }
        guard let member = memberIndex(index) else {
            probe(.memberPutOut)
            clients[index].member = nil
            clients[index].generation = -1
            clients[index].syncAt = nil
            clients[index].mustRejoin = false
            clients[index].callbacks =
                clients[index].owned.isEmpty ? [] : [.lost(clients[index].owned)]
            return
        }
        guard !clients[index].isServing, clients[index].callbacks.isEmpty else { return }
        if clients[index].mustRejoin {
            clients[index].mustRejoin = false
            requestRebalance(group)
        }
        if groups[group].joinDeadline != nil, !groups[group].members[member].hasJoined {
            isBusy = true
            clients[index].syncAt = nil
            groups[group].members[member].hasJoined = true
            groups[group].members[member].owned = clients[index].owned
        }
    }

    /// Hears of the member's share; the application is told at its next poll.
    private mutating func sync(_ index: Int) {
        clients[index].syncAt = nil
        let group = clients[index].group
        guard let member = memberIndex(index), groups[group].joinDeadline == nil else { return }
        clients[index].generation = groups[group].generation
        let share = groups[group].members[member].assignment
        let revoked = clients[index].owned.filter { !share.contains($0) }
        let assigned = share.filter { !clients[index].owned.contains($0) }
        if !revoked.isEmpty { clients[index].callbacks.append(.revoked(revoked)) }
        if !assigned.isEmpty { clients[index].callbacks.append(.assigned(assigned)) }
    }

    /// The application is about to hear of partitions: from now on they are its own.
    mutating func took(_ client: Int, _ partitions: [Int32]) {
        clients[client].owned = (clients[client].owned + partitions).sorted()
    }

    /// The application has given partitions back.
    mutating func gaveBack(_ client: Int, _ partitions: [Int32], rejoins: Bool) {
        clients[client].owned.removeAll { partitions.contains($0) }
        clients[client].mustRejoin = rejoins
        clients[client].nextHeartbeat = min(clients[client].nextHeartbeat, now + 3)
        isBusy = true
    }

    // MARK: - The coordinator

    private mutating func expireMembers(_ group: Int) {
        var expired: [Int] = []
        for member in groups[group].members {
            let hasMissedRebalance =
                groups[group].joinDeadline.map { now > $0 && !member.hasJoined } ?? false
            if now - member.lastHeartbeat > settings.sessionTimeout || hasMissedRebalance {
                expired.append(member.number)
            }
        }
        guard !expired.isEmpty else { return }
        probe(.sessionExpired)
        groups[group].members.removeAll { expired.contains($0.number) }
        requestRebalance(group)
    }

    private mutating func completeRebalance(_ group: Int) {
        guard groups[group].joinDeadline != nil else { return }
        isBusy = true
        guard groups[group].members.allSatisfy(\.hasJoined) else { return }
        groups[group].joinDeadline = nil
        groups[group].generation += 1
        share(group)
        for index in clients.indices where clients[index].group == group {
            guard memberIndex(index) != nil else { continue }
            clients[index].syncAt = now + random.number(0...8)
        }
        rebalances += 1
    }

    /// Everyone keeps what he has up to an even share; what nobody has goes to who has least.
    private mutating func share(_ group: Int) {
        let count = groups[group].committed.count
        let members = groups[group].members.count
        guard members > 0 else { return }
        var free = Array(repeating: true, count: count)
        for member in groups[group].members {
            for partition in member.owned { free[Int(partition)] = false }
        }
        let (least, more) = (count / members, count % members)
        var richMembers = 0
        for index in groups[group].members.indices {
            var kept = groups[group].members[index].owned
            var quota = least
            if kept.count > least, richMembers < more {
                quota = least + 1
                richMembers += 1
            }
            // Which of them go is not the members' choice.
            while kept.count > quota { kept.remove(at: Int(random.next() % UInt64(kept.count))) }
            groups[group].members[index].assignment = kept
        }
        for partition in free.indices where free[partition] {
            let poorest = groups[group].members.indices.min {
                groups[group].members[$0].assignment.count
                    < groups[group].members[$1].assignment.count
            }
            if let poorest {
                groups[group].members[poorest].assignment.append(Int32(partition))
            }
        }
    }

    // MARK: - Offsets

    /// What a member shows when it sends offsets: generation and member.
    func membership(_ client: Int) -> GroupMembership? {
        guard clients[client].generation >= 0, let member = clients[client].member else {
            return nil
        }
        return GroupMembership(bytes: Array("\(clients[client].generation):\(member)".utf8))
    }

    /// KIP-447: who has missed a rebalance, or was put out, commits nothing.
    ///
    /// The standing of one who never joined is not checked, as real brokers don't check it.
    ///
    /// - Returns: Member and generation; nil: they were not checked.
    mutating func checkMembership(
        _ membership: GroupMembership,
        _ group: Int
    ) throws(StreamError) -> (member: Int, generation: Int32)? {
        let parts = String(decoding: membership.bytes, as: UTF8.self).split(separator: ":")
        guard parts.count == 2, let generation = Int32(parts[0]), generation >= 0,
            let number = Int(parts[1])
        else { return nil }
        let isMember = groups[group].members.contains { $0.number == number }
        guard isMember, generation == groups[group].generation else {
            probe(.zombieRefused)
            throw StreamError(
                .abortable,
                operation: "send_offsets_to_transaction",
                code: isMember ? "ILLEGAL_GENERATION" : "UNKNOWN_MEMBER_ID",
                detail: "generation \(generation), the group has \(groups[group].generation)"
            )
        }
        return (number, generation)
    }

    /// The committed offsets; nil while an open transaction may change one of them.
    func committed(_ partitions: [Int32], _ group: Int) -> [PartitionOffset]? {
        if groups[group].pending.contains(where: { partitions.contains($0.offset.partition) }) {
            return nil
        }
        return partitions.map { number in
            let committed = groups[group].committed[Int(number)]
            return PartitionOffset(
                partition: number,
                offset: committed?.offset,
                metadata: committed?.metadata
            )
        }
    }

    /// Commits or drops a transaction's offsets; what came later by another stays.
    mutating func resolveOffsets(_ transaction: Int, isCommit: Bool, _ group: Int) {
        for pending in groups[group].pending where pending.transaction == transaction && isCommit {
            let number = Int(pending.offset.partition)
            guard let offset = pending.offset.offset else { continue }
            let before = groups[group].committed[number]
            if let before, before.sequence > pending.sequence { continue }
            if let before, before.offset > offset {
                violate("partition \(number): committed \(offset) after \(before.offset)")
            }
            let committed = CommittedOffset(
                offset: offset,
                metadata: pending.offset.metadata,
                sequence: pending.sequence
            )
            groups[group].committed[number] = committed
            groups[group].history[number].append(committed)
        }
        groups[group].pending.removeAll { $0.transaction == transaction }
    }
}
