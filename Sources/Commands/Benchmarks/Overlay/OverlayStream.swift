internal import AdminServer
internal import Glibc

/// A client of a gateway, as a browser with one room open: it connects, reads, and resumes.
final class OverlayStream {
    /// What a look at the socket has brought.
    enum Outcome {
        case open
        /// The server has closed the connection, or it broke.
        case closed
    }

    let room: Int
    private(set) var descriptor: Int32 = -1
    /// The number in the room of the command that comes next.
    private(set) var expected = 0
    /// Commands that came, each once and in order.
    private(set) var delivered = 0
    /// Commands that came out of order, or again.
    private(set) var disordered = 0
    /// Commands that a snapshot passed over after the client had been away.
    private(set) var passedOver = 0
    private(set) var snapshots = 0
    private var lastID: [UInt8] = []
    private var buffer: [UInt8] = []
    /// Whether the answer's head has been read.
    private var hasHead = false

    init(room: Int) {
        self.room = room
    }

    deinit {
        disconnect()
    }

    /// Connects and asks for the room's stream, behind the last command that it knows.
    ///
    /// - Parameters:
    ///   - address: The gateway's.
    ///   - path: The stream's, with its query.
    ///   - receiveBytes: What the kernel may hold for it; nil: what is usual.
    /// - Returns: false where nobody answers.
    func connect(
        to address: ListenAddress,
        path: String,
        receiveBytes: Int32? = nil
    ) -> Bool {
        disconnect()
        (buffer, hasHead) = ([], false)
        guard let socket = Self.connected(to: address, receiveBytes: receiveBytes) else {
            return false
        }
        descriptor = socket
        var request = "GET \(path) HTTP/1.1\r\nHost: \(address)\r\n"
        if !lastID.isEmpty {
            request += "Last-Event-ID: \(String(decoding: lastID, as: UTF8.self))\r\n"
        }
        let bytes = Array((request + "\r\n").utf8)
        return unsafe send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    /// Ends the connection.
    func disconnect() {
        guard descriptor >= 0 else { return }
        close(descriptor)
        descriptor = -1
    }

    /// Reads what is there; `note` gets the time of each command, epoch ms.
    func read(
        _ plan: OverlayLoadPlan,
        into chunk: inout [UInt8],
        note: (Int64) -> Void
    ) -> Outcome {
        while true {
            let flags = Int32(MSG_DONTWAIT)
            let count = unsafe recv(descriptor, &chunk, chunk.count, flags)
            guard count > 0 else {
                let isWaiting = count < 0 && (errno == EAGAIN || errno == EINTR)
                return isWaiting ? .open : .closed
            }
            buffer.append(contentsOf: chunk[..<count])
            takeEvents(plan, note)
            if count < chunk.count { return .open }
        }
    }

    private func takeEvents(_ plan: OverlayLoadPlan, _ note: (Int64) -> Void) {
        var start = 0
        unsafe buffer.withUnsafeBytes { bytes in
            if !hasHead {
                guard let head = unsafe find("\r\n\r\n", in: bytes, from: 0) else { return }
                hasHead = true
                start = head + 4
            }
            while let end = unsafe find("\n\n", in: bytes, from: start) {
                unsafe take(UnsafeRawBufferPointer(rebasing: bytes[start..<end]), plan, note)
                start = end + 2
            }
        }
        buffer.removeFirst(start)
    }

    private func take(
        _ event: UnsafeRawBufferPointer,
        _ plan: OverlayLoadPlan,
        _ note: (Int64) -> Void
    ) {
        guard let id = unsafe line("id: ", of: event) else { return }
        let number = unsafe plan.number(ofID: id)
        guard unsafe find("event: command", in: event, from: 0) == 0 else {
            snapshots += 1
            // Of a stream that is new to the gateway nothing is known before its first command.
            let next = number.map { $0 + 1 } ?? 0
            passedOver += max(0, next - expected)
            expected = max(next, expected)
            return
        }
        guard let number, number == expected else {
            disordered += 1
            return
        }
        expected += 1
        delivered += 1
        lastID.removeAll(keepingCapacity: true)
        unsafe lastID.append(contentsOf: id)
        if let data = unsafe line("data: ", of: event),
            let time = unsafe plan.time(ofJSON: data)
        {
            note(time)
        }
    }

    /// What follows `name` in one of the event's lines.
    private func line(
        _ name: StaticString,
        of event: UnsafeRawBufferPointer
    ) -> UnsafeRawBufferPointer? {
        guard let place = unsafe find(name, in: event, from: 0) else { return nil }
        let start = place + name.utf8CodeUnitCount
        let rest = unsafe UnsafeRawBufferPointer(rebasing: event[start...])
        let end = unsafe find("\n", in: rest, from: 0) ?? rest.count
        return unsafe UnsafeRawBufferPointer(rebasing: rest[..<end])
    }

    private func find(
        _ text: StaticString,
        in bytes: UnsafeRawBufferPointer,
        from start: Int
    ) -> Int? {
        guard let base = bytes.baseAddress else { return nil }
        var place = start
        while place + text.utf8CodeUnitCount <= bytes.count {
            let rest = bytes.count - place
            let first = unsafe Int32(text.utf8Start.pointee)
            guard let found = unsafe memchr(base + place, first, rest) else { return nil }
            place = unsafe UnsafeRawPointer(found) - base
            guard place + text.utf8CodeUnitCount <= bytes.count else { return nil }
            if unsafe memcmp(found, text.utf8Start, text.utf8CodeUnitCount) == 0 { return place }
            place += 1
        }
        return nil
    }

    private static func connected(
        to address: ListenAddress,
        receiveBytes: Int32?
    ) -> Int32? {
        var list: UnsafeMutablePointer<addrinfo>?
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        guard unsafe getaddrinfo(address.host, String(address.port), &hints, &list) == 0,
            let first = unsafe list
        else { return nil }
        defer { unsafe freeaddrinfo(list) }
        let made = unsafe socket(first.pointee.ai_family, first.pointee.ai_socktype, 0)
        guard made >= 0 else { return nil }
        if var size = receiveBytes {
            let count = socklen_t(MemoryLayout<Int32>.size)
            unsafe setsockopt(made, SOL_SOCKET, SO_RCVBUF, &size, count)
        }
        guard
            unsafe Glibc.connect(made, first.pointee.ai_addr, first.pointee.ai_addrlen) == 0
        else {
            close(made)
            return nil
        }
        return made
    }
}
