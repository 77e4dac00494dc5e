import ComboWire
import Testing

@testable import OverlayGateway

/// Live combos as a list that is searched from end to end.
private struct SlowLiveCombos {
    struct Entry {
        var room: RoomID
        var command: ReceivedCommand
        var json: [UInt8]

        /// Whether it ends before another.
        func endsBefore(_ other: Entry) -> Bool {
            let (left, right) = (command, other.command)
            if left.endAt != right.endAt { return left.endAt < right.endAt }
            if left.id.partition != right.id.partition {
                return left.id.partition < right.id.partition
            }
            if left.id.offset != right.id.offset { return left.id.offset < right.id.offset }
            return room.bytes.lexicographicallyPrecedes(other.room.bytes)
        }
    }

    let limits: GatewayLimits
    var entries: [Entry] = []

    mutating func apply(_ command: ReceivedCommand, json: [UInt8]) -> Bool {
        let room = RoomID(command.roomID)
        let index = entries.firstIndex { entry in
            entry.room == room && entry.command.id.comboText == command.id.comboText
        }
        if let index, entries[index].command.id.sequence >= command.id.sequence { return false }
        if let index { entries.remove(at: index) }
        guard command.kind != .end else { return true }
        entries.append(Entry(room: room, command: command, json: json))
        while true {
            let own = entries.filter { $0.room == room }
            let bytes = own.reduce(0) { $0 + $1.json.count }
            guard own.count > limits.roomCombos || bytes > limits.roomBytes && own.count > 1
            else { break }
            removeFirst(of: own)
        }
        while entries.count > limits.combos
            || entries.reduce(0, { $0 + $1.json.count }) > limits.bytes
        {
            removeFirst(of: entries)
        }
        return true
    }

    private mutating func removeFirst(of some: [Entry]) {
        guard let first = some.min(by: { $0.endsBefore($1) }) else { return }
        entries.removeAll { $0.room == first.room && $0.command.id == first.command.id }
    }

    mutating func expire(now: Int64) {
        entries.removeAll { $0.command.endAt < now - limits.endGraceMilliseconds }
    }

    func commands(of room: RoomID) -> [[UInt8]] {
        entries.filter { $0.room == room }
            .sorted { left, right in
                let (one, other) = (left.command, right.command)
                return one.at != other.at
                    ? one.at < other.at
                    : (one.id.partition, one.id.offset) < (other.id.partition, other.id.offset)
            }
            .map(\.json)
    }
}

struct LiveCombosTests {
    @Test func `a combo lives from its first command to its end`() throws {
        var combos = LiveCombos()
        for (kind, sequence, live) in [("show", 1, 1), ("update", 2, 1), ("hide", 3, 1)] {
            let (command, json) = try Commands.read(
                Commands.json(kind, sequence: Int64(sequence))
            )
            let isNews = [combos.apply(command, json: json), combos.apply(command, json: json)]
            #expect(isNews == [true, false])
            #expect(combos.count == live && combos.commands(of: RoomID("r")) == [json])
        }
        let (end, json) = try Commands.read(Commands.json("end", sequence: 4))
        let isNews = combos.apply(end, json: json)
        #expect(isNews)
        #expect(combos.count == 0 && combos.bytes == 0 && combos.roomCount == 0)
    }

    @Test func `a combo whose end never comes goes when its time has passed`() throws {
        var combos = LiveCombos()
        let (command, json) = try Commands.read(Commands.json(endAt: 6_000))
        _ = combos.apply(command, json: json)
        combos.expire(now: 7_000)
        #expect(combos.count == 1)
        combos.expire(now: 7_001)
        #expect(combos.count == 0)
        combos.expire(now: .min)
    }

    @Test func `ids that look alike are two rooms`() throws {
        var combos = LiveCombos()
        let rooms = ["é", "e\u{301}"]
        for room in rooms {
            let (command, json) = try Commands.read(Commands.json(room: room))
            _ = combos.apply(command, json: json)
        }
        #expect(combos.roomCount == 2)
        for room in rooms { #expect(combos.commands(of: RoomID(room)).count == 1) }
        #expect(combos.commands(of: RoomID("e")).isEmpty)
    }

    @Test func `a command without a room is of the room without a name`() throws {
        var combos = LiveCombos()
        let (command, json) = try Commands.read(Commands.json(room: nil))
        _ = combos.apply(command, json: json)
        #expect(combos.commands(of: RoomID("")) == [json])
    }

    @Test func `the fullest rooms come first`() throws {
        var combos = LiveCombos()
        for (room, combo) in [("a", "0-1"), ("b", "0-2"), ("b", "0-3"), ("c", "0-4")] {
            let (command, json) = try Commands.read(Commands.json(room: room, combo: combo))
            _ = combos.apply(command, json: json)
        }
        let rooms = combos.fullestRooms(2)
        #expect(rooms.map(\.room.text) == ["b", "a"] && rooms.map(\.combos) == [2, 1])
    }

    @Test(arguments: seeds)
    func `it is what a list would be, limits and all`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var limits = GatewayLimits()
        limits.roomCombos = 5
        limits.roomBytes = 1_600
        limits.combos = 12
        limits.bytes = 3_400
        limits.endGraceMilliseconds = 10
        var combos = LiveCombos(limits: limits)
        var slow = SlowLiveCombos(limits: limits)
        var sequences: [String: Int64] = [:]
        let kinds = ["show", "update", "update", "hide", "end"]
        for step in 0..<3_000 {
            let now = Int64(step)
            let combo = "0-\(random.below(30))"
            let room = ["a", "b", "", "d"][random.below(4)]
            // Now and then one that was seen before.
            if random.below(8) > 0 { sequences[combo, default: 0] += 1 }
            let json = Commands.json(
                kinds[random.below(5)],
                room: room,
                combo: combo,
                sequence: max(1, sequences[combo] ?? 1),
                at: now,
                endAt: now + Int64(random.below(60)),
                name: String(repeating: "x", count: random.below(200))
            )
            let (command, bytes) = try Commands.read(json)
            let expected = slow.apply(command, json: bytes)
            let found = combos.apply(command, json: bytes)
            #expect(found == expected, "seed \(seed), step \(step)")
            if random.below(3) == 0 {
                combos.expire(now: now)
                slow.expire(now: now)
            }
            #expect(combos.count == slow.entries.count, "seed \(seed), step \(step)")
            #expect(combos.bytes == slow.entries.reduce(0) { $0 + $1.json.count })
            for room in ["a", "b", "", "d"] {
                let found = combos.commands(of: RoomID(room))
                #expect(found == slow.commands(of: RoomID(room)), "seed \(seed), step \(step)")
            }
        }
    }
}
