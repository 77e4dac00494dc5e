internal import ComboWire

/// The latest command of every live combo, by room: what somebody who joins must know.
///
/// A combo is live from its first command until its `end`, or until its time to end has passed. A
/// room's commands are in one partition and in order, so a command whose number is not above the
/// one that is known has been seen before. A combo whose gifts come in two rooms (`combo.key`
/// without the room) is kept in both, each until its own time to end.
///
/// Where there are too many, those go first that would end first. They stand in a binary heap by
/// their time to end; a command that moves it leaves the entry where it is, and it is put right
/// when its turn comes. Every call costs O(log n) amortised, but for reading a room.
struct LiveCombos {
    /// A live combo.
    struct Combo {
        /// The number of its latest command.
        var sequence: Int64
        /// When that happened, epoch ms.
        var at: Int64
        /// When the combo ends if nothing more comes, epoch ms.
        var endAt: Int64
        /// The latest command, JSON.
        var json: [UInt8]
    }

    /// A combo in the topic, without the number of a command.
    struct ComboID: Hashable {
        var partition: Int32
        var offset: Int64

        init(_ id: CommandID) {
            partition = id.partition
            offset = id.offset
        }

        func precedes(_ other: ComboID) -> Bool {
            (partition, offset) < (other.partition, other.offset)
        }
    }

    struct Room {
        var combos: [ComboID: Combo] = [:]
        var bytes = 0
    }

    /// A combo's place in the queue of those that end; each combo has one that is not too late.
    struct Deadline {
        var endAt: Int64
        var room: RoomID
        var combo: ComboID
    }

    private let limits: GatewayLimits
    private var rooms: [RoomID: Room] = [:]
    private var deadlines: [Deadline] = []
    /// Live combos of all rooms.
    private(set) var count = 0
    /// Bytes of their latest commands.
    private(set) var bytes = 0

    /// Creates an empty set.
    init(limits: GatewayLimits = GatewayLimits()) {
        self.limits = limits
    }

    /// Takes a command; false: it, or a later one of its combo, is known already.
    mutating func apply(_ command: ReceivedCommand, json: [UInt8]) -> Bool {
        let roomID = RoomID(command.roomID)
        let id = ComboID(command.id)
        if let known = rooms[roomID]?.combos[id], known.sequence >= command.id.sequence {
            return false
        }
        guard command.kind != .end else {
            remove(id, from: roomID)
            return true
        }
        let combo = Combo(
            sequence: command.id.sequence,
            at: command.at,
            endAt: command.endAt,
            json: json
        )
        if let old = rooms[roomID, default: Room()].combos.updateValue(combo, forKey: id) {
            add(bytes: json.count - old.json.count, to: roomID)
            // Its entry stands too far back then, and is one too many when its turn comes.
            if combo.endAt < old.endAt {
                push(Deadline(endAt: combo.endAt, room: roomID, combo: id))
            }
        } else {
            count += 1
            add(bytes: json.count, to: roomID)
            push(Deadline(endAt: combo.endAt, room: roomID, combo: id))
        }
        makeRoom(in: roomID)
        return true
    }

    /// Forgets the combos whose time to end lies more than the grace before `now`, epoch ms.
    mutating func expire(now: Int64) {
        let (limit, overflow) = now.subtractingReportingOverflow(limits.endGraceMilliseconds)
        guard !overflow else { return }
        while let first = nextToEnd(), first.endAt < limit {
            remove(first.combo, from: first.room)
        }
    }

    /// The latest commands of a room's live combos, in order of time, then of combo.
    func commands(of room: RoomID) -> [[UInt8]] {
        let combos = rooms[room]?.combos ?? [:]
        return combos.sorted { left, right in
            left.value.at != right.value.at
                ? left.value.at < right.value.at : left.key.precedes(right.key)
        }
        .map(\.value.json)
    }

    /// The rooms with the most live combos, at most `limit` of them, the fullest first.
    func fullestRooms(_ limit: Int) -> [(room: RoomID, combos: Int)] {
        let all = rooms.map { (room: $0.key, combos: $0.value.combos.count) }
        return Array(
            all.sorted { left, right in
                left.combos != right.combos
                    ? left.combos > right.combos : left.room.precedes(right.room)
            }
            .prefix(limit)
        )
    }

    /// How many rooms have a live combo.
    var roomCount: Int { rooms.count }

    private mutating func add(bytes amount: Int, to room: RoomID) {
        bytes += amount
        rooms[room]?.bytes += amount
    }

    private mutating func remove(_ id: ComboID, from roomID: RoomID) {
        guard let combo = rooms[roomID]?.combos.removeValue(forKey: id) else { return }
        count -= 1
        add(bytes: -combo.json.count, to: roomID)
        if rooms[roomID]?.combos.isEmpty == true { rooms[roomID] = nil }
        // Its entry in the heap goes when its turn comes. So that combos which end in time don't
        // leave the heap full of the gone, it is made anew when half of it is.
        if deadlines.count > 2 * count + 64 { rebuildHeap() }
    }

    /// Brings the room and the whole within their limits.
    private mutating func makeRoom(in roomID: RoomID) {
        while let room = rooms[roomID],
            room.combos.count > limits.roomCombos
                || room.bytes > limits.roomBytes && room.combos.count > 1
        {
            // A room is small, and only one that is over its limit is searched.
            let first = room.combos.min { left, right in
                left.value.endAt != right.value.endAt
                    ? left.value.endAt < right.value.endAt : left.key.precedes(right.key)
            }
            guard let first else { break }
            remove(first.key, from: roomID)
        }
        while count > limits.combos || bytes > limits.bytes, let first = nextToEnd() {
            remove(first.combo, from: first.room)
        }
    }
}

// MARK: - The heap

extension LiveCombos {
    /// The combo that ends first, its entry put right; nil: there is none.
    private mutating func nextToEnd() -> (endAt: Int64, room: RoomID, combo: ComboID)? {
        while let first = deadlines.first {
            guard let combo = rooms[first.room]?.combos[first.combo] else {
                popFirst()
                continue
            }
            guard combo.endAt > first.endAt else {
                return (first.endAt, first.room, first.combo)
            }
            deadlines[0].endAt = combo.endAt
            siftDown(0)
        }
        return nil
    }

    private mutating func push(_ deadline: Deadline) {
        if deadlines.count > 2 * count + 64 { rebuildHeap() }
        deadlines.append(deadline)
        var child = deadlines.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard isBefore(child, parent) else { break }
            deadlines.swapAt(child, parent)
            child = parent
        }
    }

    private mutating func popFirst() {
        deadlines.swapAt(0, deadlines.count - 1)
        deadlines.removeLast()
        siftDown(0)
    }

    private mutating func siftDown(_ start: Int) {
        var parent = start
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < deadlines.count && isBefore(child, least) {
                least = child
            }
            guard least != parent else { return }
            deadlines.swapAt(parent, least)
            parent = least
        }
    }

    private func isBefore(_ one: Int, _ other: Int) -> Bool {
        let (left, right) = (deadlines[one], deadlines[other])
        if left.endAt != right.endAt { return left.endAt < right.endAt }
        if left.combo != right.combo { return left.combo.precedes(right.combo) }
        return left.room.precedes(right.room)
    }

    private mutating func rebuildHeap() {
        deadlines.removeAll(keepingCapacity: true)
        for (room, content) in rooms {
            for (id, combo) in content.combos {
                deadlines.append(Deadline(endAt: combo.endAt, room: room, combo: id))
            }
        }
        for index in stride(from: deadlines.count / 2 - 1, through: 0, by: -1) { siftDown(index) }
    }
}
