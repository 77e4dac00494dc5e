internal import ComboWire

/// Server-Sent Events as text (WHATWG HTML, section 9.2).
enum EventText {
    /// What a stream begins with: the answer's head and how soon to reconnect.
    static func opening(retryMilliseconds: Int64) -> [UInt8] {
        Array(
            """
            HTTP/1.1 200 OK\r
            Content-Type: text/event-stream\r
            Cache-Control: no-store\r
            X-Content-Type-Options: nosniff\r
            X-Accel-Buffering: no\r
            Connection: close\r
            \r
            retry: \(retryMilliseconds)\n\n
            """.utf8
        )
    }

    /// What keeps a silent stream open.
    static let heartbeat = Array(":\n\n".utf8)

    /// A command's event.
    static func append(_ id: CommandID, _ json: [UInt8], to event: inout [UInt8]) {
        event.append(contentsOf: "event: command\nid: \(id)\ndata: ".utf8)
        event.append(contentsOf: json)
        event.append(contentsOf: "\n\n".utf8)
    }

    /// A snapshot's event; its id is the latest command's, or empty, which forgets the one before.
    static func snapshot(_ json: [UInt8], latest: CommandID?) -> [UInt8] {
        var event = Array("event: snapshot\nid: \(latest.map { "\($0)" } ?? "")\ndata: ".utf8)
        event.append(contentsOf: json)
        event.append(contentsOf: "\n\n".utf8)
        return event
    }

    /// A room's live combos as a JSON object of one line.
    static func state(of room: RoomID, now: Int64, _ commands: [[UInt8]]) -> [UInt8] {
        var json = Array("{\"room\":".utf8)
        json.append(contentsOf: quoted(room.bytes))
        json.append(contentsOf: ",\"now\":\(now),\"combos\":[".utf8)
        for (index, command) in commands.enumerated() {
            if index > 0 { json.append(UInt8(ascii: ",")) }
            json.append(contentsOf: command)
        }
        json.append(contentsOf: "]}".utf8)
        return json
    }

    /// JSON as one line: line ends, which only stand between its tokens, become blanks.
    static func line(_ json: UnsafeRawBufferPointer) -> [UInt8] {
        var line = unsafe [UInt8](json)
        for index in line.indices where line[index] == 0x0A || line[index] == 0x0D {
            line[index] = UInt8(ascii: " ")
        }
        return line
    }

    /// UTF-8 as a JSON string.
    private static func quoted(_ text: [UInt8]) -> [UInt8] {
        var quoted = [UInt8(ascii: "\"")]
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                quoted.append(UInt8(ascii: "\\"))
                quoted.append(byte)
            case 0..<0x20:
                quoted.append(contentsOf: "\\u00\(byte < 0x10 ? "0" : "")".utf8)
                quoted.append(contentsOf: String(byte, radix: 16).utf8)
            default: quoted.append(byte)
            }
        }
        quoted.append(UInt8(ascii: "\""))
        return quoted
    }
}
