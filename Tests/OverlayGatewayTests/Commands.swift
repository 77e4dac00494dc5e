import ComboWire
import Testing

/// Makes commands as the topic has them.
struct Commands {
    /// A command's JSON.
    static func json(
        _ kind: String = "show",
        room: String? = "r",
        combo: String = "0-0",
        sequence: Int64 = 1,
        count: Int64 = 1,
        at: Int64 = 1_000,
        endAt: Int64 = 6_000,
        name: String = "Ana"
    ) -> String {
        let room = room.map { "\"room_id\":\"\($0)\"," } ?? ""
        return "{\"command\":\"\(kind)\",\"combo_id\":\"\(combo)\",\"id\":\"\(combo)#\(sequence)\","
            + "\"seq\":\(sequence),\"from\":0,\"count\":\(count),\"value\":0,\"lane\":0,"
            + "\"at\":\(at),\"hide_at\":\(at),\"end_at\":\(endAt),\(room)"
            + "\"user_id\":\"7\",\"user_name\":\"\(name)\"}"
    }

    /// The same, read.
    static func read(_ json: String) throws -> (command: ReceivedCommand, json: [UInt8]) {
        let bytes = Array(json.utf8)
        let command = unsafe bytes.withUnsafeBytes { unsafe ReceivedCommand($0) }
        return (try #require(command), bytes)
    }
}
