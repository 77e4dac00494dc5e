internal import Glibc

/// The commands of a load: how many, for whom, and how each is known again.
///
/// The n-th command of a room is the (n mod 6 + 1)-th of the room's (n div 6)-th combo. Combos are
/// not ended but left to their time, so that snapshots have something to hold.
struct OverlayLoadPlan: Equatable {
    /// Clients that read.
    var clients = 2_000
    /// Clients that connect and never read.
    var silent = 0
    var rooms = 50
    /// Commands a second, all rooms together.
    var rate = 2_000
    /// For so long, milliseconds.
    var duration: Int64 = 10_000
    /// What comes so soon after the first command is not timed, milliseconds: the producer asks for
    /// the topic then, and a broker that has just been started is slow.
    var warmUp: Int64 = 2_000
    /// The first combo's offset: what tells this run's commands from an earlier one's.
    var base: Int64 = 0

    private static let commandsPerCombo = 6

    /// Commands in all.
    var total: Int { Int(Int64(rate) * duration / 1_000) }

    /// How many of all commands are a room's.
    func total(ofRoom room: Int) -> Int {
        total / rooms + (room < total % rooms ? 1 : 0)
    }

    /// A room's id.
    func roomID(_ room: Int) -> String { "bench-\(room)" }

    /// The number in its room of the command with this id; nil: it is none of this run's.
    ///
    /// By hand, for the clients of a load take eighty thousand commands a second.
    func number(ofID id: UnsafeRawBufferPointer) -> Int? {
        var place = 0
        guard unsafe integer(in: id, at: &place) != nil,
            unsafe skip(UInt8(ascii: "-"), in: id, at: &place),
            let offset = unsafe integer(in: id, at: &place),
            unsafe skip(UInt8(ascii: "#"), in: id, at: &place),
            let sequence = unsafe integer(in: id, at: &place), place == id.count,
            offset >= base, (1...Self.commandsPerCombo).contains(Int(sequence))
        else { return nil }
        return Int(offset - base) * Self.commandsPerCombo + Int(sequence) - 1
    }

    /// The time of a command that ``json(_:room:at:)`` has made, epoch ms.
    func time(ofJSON json: UnsafeRawBufferPointer) -> Int64? {
        var place = Self.prefix.utf8CodeUnitCount
        guard json.count > place, let start = json.baseAddress,
            unsafe memcmp(start, Self.prefix.utf8Start, place) == 0
        else { return nil }
        return unsafe integer(in: json, at: &place)
    }

    /// The digits from `place` on, which is moved behind them; nil: there are none, or too many.
    private func integer(in text: UnsafeRawBufferPointer, at place: inout Int) -> Int64? {
        var value: Int64 = 0
        let start = place
        while place < text.count, place - start < 18 {
            let digit = unsafe text[place] &- UInt8(ascii: "0")
            guard digit < 10 else { break }
            value = value * 10 + Int64(digit)
            place += 1
        }
        return place > start ? value : nil
    }

    private func skip(
        _ byte: UInt8,
        in text: UnsafeRawBufferPointer,
        at place: inout Int
    ) -> Bool {
        guard place < text.count, unsafe text[place] == byte else { return false }
        place += 1
        return true
    }

    private static let prefix: StaticString = "{\"at\":"

    /// The `number`-th command of a room.
    func json(_ number: Int, room: Int, at: Int64) -> [UInt8] {
        let sequence = number % Self.commandsPerCombo + 1
        let combo = "\(room)-\(base + Int64(number / Self.commandsPerCombo))"
        let kind = sequence == 1 ? "show" : "update"
        let user = number % 100
        return Array(
            ("\(Self.prefix)\(at),\"hide_at\":\(at + 2_000),\"end_at\":\(at + 5_000),"
                + "\"command\":\"\(kind)\",\"combo_id\":\"\(combo)\","
                + "\"id\":\"\(combo)#\(sequence)\",\"seq\":\(sequence),"
                + "\"from\":\(sequence - 1),\"count\":\(sequence),\"value\":10,"
                + "\"lane\":\(user % 2),\"room_id\":\"\(roomID(room))\","
                + "\"user_id\":\"\(user)\","
                + "\"user_name\":\"\(GiftCatalogue.names[user % GiftCatalogue.names.count])\","
                + "\"user_avatar\":\"https://images.example/avatars/\(user).png\","
                + "\"gift_id\":\"g00\",\"gift_name\":\"Rose\"}").utf8
        )
    }
}

/// What a load has measured.
struct OverlayMeasurement: Equatable {
    /// Commands written to the topic.
    var commands = 0
    /// Commands that clients got, once each and in order.
    var delivered = 0
    /// Commands that clients should have got, and did not.
    var missing = 0
    /// Commands that came twice or out of order.
    var disordered = 0
    /// Commands that snapshots passed over, for clients that had been dropped.
    var passedOver = 0
    /// Times that a client was dropped and came back.
    var dropped = 0
    /// Silent clients that were dropped.
    var silentDropped = 0
    /// Times from the topic to the client.
    var latencies = LatencyCounts()

    /// Whether every client got every command, or was told by a snapshot what it missed.
    var isWhole: Bool { missing == 0 && disordered == 0 }

    private var quantiles: (half: Int, p99: Int, p999: Int, most: Int) {
        let counts = latencies
        return (
            counts.quantile(perThousand: 500), counts.quantile(perThousand: 990),
            counts.quantile(perThousand: 999), counts.quantile(perThousand: 1_000)
        )
    }

    var text: String {
        let (half, p99, p999, most) = quantiles
        return "\(commands) commands, \(delivered) delivered, \(missing) missing, "
            + "\(disordered) out of order; \(dropped) clients dropped, which missed "
            + "\(passedOver); \(silentDropped) silent ones dropped\n"
            + "latency from the topic to the client: \(half) ms, 99 %: \(p99) ms, 99.9 %: "
            + "\(p999) ms, longest: \(most) ms\n"
    }

    var json: String {
        let (half, p99, p999, most) = quantiles
        return "{\"commands\":\(commands),\"delivered\":\(delivered),\"missing\":\(missing),"
            + "\"disordered\":\(disordered),\"dropped\":\(dropped),"
            + "\"passed_over\":\(passedOver),\"silent_dropped\":\(silentDropped),"
            + "\"p50_ms\":\(half),\"p99_ms\":\(p99),\"p999_ms\":\(p999),\"max_ms\":\(most)}\n"
    }
}
