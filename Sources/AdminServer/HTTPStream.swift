internal import CMicroHTTPD
internal import Glibc
internal import Synchronization

/// A connection whose request was read by the server and whose answer somebody else writes.
///
/// libmicrohttpd keeps the connection suspended meanwhile: it neither polls the socket nor times it
/// out, so thousands of streams cost its thread nothing, and who writes them can share their bytes
/// (its own way, a callback for each connection, copies them into each connection's memory). The
/// owner writes the whole answer, head and all, and must close the stream in the end.
package final class HTTPStream: Sendable {
    /// The socket, which doesn't block; not to be used after ``close()``.
    package let descriptor: Int32
    private let connection: UInt
    private let open: OpenStreams
    /// The address of a closed connection may be another's by the second call.
    private let isClosed = Atomic(false)

    /// What a stream's `Content-Type` is.
    package static let contentType = "text/event-stream"
    /// What the kernel may hold of bytes that a client does not take: 64 KiB, doubled by the
    /// kernel for its own needs.
    private static let sendBufferBytes: Int32 = 65_536
    /// How long a client may leave bytes unacknowledged, milliseconds, before it counts as gone.
    private static let silenceMilliseconds: Int32 = 30_000

    init(descriptor: Int32, connection: UInt, open: OpenStreams) {
        self.descriptor = descriptor
        self.connection = connection
        self.open = open
        set(SOL_SOCKET, SO_SNDBUF, Self.sendBufferBytes)
        set(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        set(Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, Self.silenceMilliseconds)
    }

    deinit {
        close()
    }

    private func set(_ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        let size = socklen_t(MemoryLayout<Int32>.size)
        unsafe setsockopt(descriptor, level, option, &value, size)
    }

    /// What became of bytes that were to be sent.
    package enum Sent: Equatable, Sendable {
        /// So many of them were taken, at least one.
        case bytes(Int)
        /// The client must take some first.
        case full
        /// The client has gone.
        case gone
    }

    /// Sends what the kernel takes at once.
    package func send(_ bytes: UnsafeRawBufferPointer) -> Sent {
        while true {
            let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
            let count = unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, flags)
            if count > 0 { return .bytes(count) }
            if count < 0, errno == EINTR { continue }
            return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? .full : .gone
        }
    }

    /// Gives the connection back, to be closed; a second call does nothing.
    package func close() {
        guard !isClosed.exchange(true, ordering: .relaxed) else { return }
        open.close(connection)
    }
}

/// The streams of a server that are in other hands.
final class OpenStreams: Sendable {
    private struct State {
        var connections: Set<UInt> = []
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Suspends a connection; nil: the server stops.
    ///
    /// Called by the server's thread, in its handler.
    func take(_ connection: OpaquePointer) -> HTTPStream? {
        let descriptor = unsafe giftcombo_connection_descriptor(connection)
        guard descriptor >= 0 else { return nil }
        let bits = UInt(bitPattern: connection)
        let isTaken = state.withLock { state in
            guard !state.isClosed else { return false }
            unsafe MHD_suspend_connection(OpaquePointer(bitPattern: bits))
            state.connections.insert(bits)
            return true
        }
        return isTaken ? HTTPStream(descriptor: descriptor, connection: bits, open: self) : nil
    }

    /// Resumes a connection, once; under the lock, so that ``closeAll()`` is not overtaken by the
    /// end of the server.
    func close(_ connection: UInt) {
        state.withLock { state in
            guard state.connections.remove(connection) != nil else { return }
            unsafe MHD_resume_connection(OpaquePointer(bitPattern: connection))
        }
    }

    /// Resumes all, and takes no more.
    func closeAll() {
        state.withLock { state in
            state.isClosed = true
            for connection in state.connections.sorted() {
                unsafe MHD_resume_connection(OpaquePointer(bitPattern: connection))
            }
            state.connections = []
        }
    }
}
