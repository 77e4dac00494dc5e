import Glibc

/// An HTTP client for tests: a plain socket on which anything can be said.
final class Client {
    private let descriptor: Int32

    /// Connects to a port of the loopback interface; every wait ends after 20 s.
    init(port: UInt16, receiveBytes: Int32? = nil) throws {
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
        guard result == 0 else { throw ClientError.refused(errno) }
    }

    deinit {
        close(descriptor)
    }

    /// Sends bytes; false where the server has closed the connection.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { buffer in
                unsafe Glibc.send(
                    descriptor,
                    buffer.baseAddress,
                    buffer.count,
                    Int32(MSG_NOSIGNAL)
                )
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Tells the server that nothing more will come.
    func finishSending() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// What the server has sent by the time `isEnough` says so, it closes, or 20 s have passed.
    func receive(until isEnough: ([UInt8]) -> Bool = { _ in false }) -> [UInt8] {
        var received: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while !isEnough(received) {
            let count = unsafe recv(descriptor, &chunk, chunk.count, 0)
            guard count > 0 else { break }
            received += chunk[..<count]
        }
        return received
    }

    /// Sends a request and reads its whole answer; the connection stays open.
    func request(
        _ method: String,
        _ path: String,
        headers: [String] = []
    ) -> Answer? {
        let lines = ["\(method) \(path) HTTP/1.1", "Host: localhost"] + headers + ["", ""]
        send(Array(lines.joined(separator: "\r\n").utf8))
        let head = method == "HEAD"
        let bytes = receive { Answer($0, head: head) != nil }
        return Answer(bytes, head: head)
    }
}

enum ClientError: Error {
    case refused(Int32)
}

/// A whole answer.
struct Answer {
    var status: Int
    /// Names in lower case.
    var headers: [String: String] = [:]
    var body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }

    /// Reads an answer; nil where it is not complete.
    init?(_ bytes: [UInt8], head: Bool) {
        let separator = Array("\r\n\r\n".utf8)
        guard bytes.count >= 4,
            let end = (0...bytes.count - 4).first(where: {
                bytes[$0...].starts(with: separator)
            })
        else { return nil }
        let lines = String(decoding: bytes[..<end], as: UTF8.self)
            .split(separator: "\r\n").map(String.init)
        let words = lines[0].split(separator: " ")
        guard words.count >= 2, words[0] == "HTTP/1.1", let status = Int(words[1]) else {
            return nil
        }
        self.status = status
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            headers[line[..<colon].lowercased()] = String(value)
        }
        body = Array(bytes[(end + 4)...])
        let length = Int(headers["content-length"] ?? "0") ?? 0
        guard head || body.count == length else { return nil }
    }
}
