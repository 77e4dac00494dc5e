import Glibc

/// A client of the gateway: a plain socket; every wait ends after 20 s.
final class StreamReader {
    private let descriptor: Int32
    private(set) var received: [UInt8] = []
    /// Whether the server has closed the connection.
    private(set) var isClosed = false

    init(port: UInt16, _ path: String, headers: [String] = [], receiveBytes: Int32? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        if var size = receiveBytes {
            unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, 4)
        }
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = unsafe withUnsafeBytes(of: &address) { bytes in
            unsafe connect(
                descriptor,
                bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self),
                socklen_t(bytes.count)
            )
        }
        guard result == 0 else { throw StreamReaderError.refused(errno) }
        let lines = ["GET \(path) HTTP/1.1", "Host: localhost"] + headers + ["", ""]
        let request = Array(lines.joined(separator: "\r\n").utf8)
        // As much as the server takes: it closes when it has had enough.
        unsafe _ = send(descriptor, request, request.count, Int32(MSG_NOSIGNAL))
    }

    deinit {
        close()
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        _ = Glibc.close(descriptor)
    }

    /// Reads until `isEnough`, the server closes, or 20 s pass without a byte; tells whether it is
    /// enough.
    @discardableResult
    func read(until isEnough: (StreamReader) -> Bool) -> Bool {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while !isEnough(self) {
            let count = unsafe recv(descriptor, &chunk, chunk.count, 0)
            guard count > 0 else {
                if count == 0 || errno == ECONNRESET { close() }
                return isEnough(self)
            }
            received += chunk[..<count]
        }
        return true
    }

    /// Reads what there is until the server closes.
    func readToEnd() -> String {
        read { _ in false }
        return text
    }

    var text: String { String(decoding: received, as: UTF8.self) }

    /// The status of the answer; 0: it has none yet.
    var status: Int {
        let line = text.prefix { $0 != "\r\n" }.split(separator: " ")
        return line.count > 1 ? Int(line[1]) ?? 0 : 0
    }

    /// What follows the head.
    var body: String {
        text.firstRange(of: "\r\n\r\n").map { String(text[$0.upperBound...]) } ?? ""
    }

    /// The whole events so far; an event's fields by name.
    var events: [[String: String]] {
        let blocks = body.split(separator: "\n\n", omittingEmptySubsequences: false).dropLast()
        return blocks.map { block in
            block.split(separator: "\n").reduce(into: [:]) { fields, line in
                guard let colon = line.firstIndex(of: ":") else { return }
                let value = line[line.index(after: colon)...].drop { $0 == " " }
                fields[String(line[..<colon])] = String(value)
            }
        }
    }

    /// The ids of the commands so far.
    var commands: [String] {
        events.filter { $0["event"] == "command" }.compactMap { $0["id"] }
    }

    /// The snapshot's data; nil: it has not come.
    var snapshot: String? {
        events.first { $0["event"] == "snapshot" }?["data"]
    }
}

enum StreamReaderError: Error {
    case refused(Int32)
}
