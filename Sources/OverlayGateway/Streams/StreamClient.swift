internal import AdminServer
internal import ComboWire
internal import Synchronization

/// A client that has come, and what it wants.
struct StreamArrival: Sendable {
    /// Its connection.
    let stream: HTTPStream
    /// The room that it watches.
    let room: RoomID
    /// The last command that it knows; nil: it begins.
    let resume: CommandID?
}

/// Brings clients from the server's thread to the hub's, and counts them.
final class StreamInbox: Sendable {
    private struct State {
        var arrivals: [StreamArrival] = []
        var isClosed = false
    }

    private let limit: Int
    private let state = Mutex(State())
    private let count = Atomic(0)
    private let refused = Atomic(0)

    /// Lets in so many clients at a time.
    init(limit: Int) {
        self.limit = limit
    }

    /// Takes a place for a client; false: there is none, which is counted.
    func enter() -> Bool {
        if count.wrappingAdd(1, ordering: .relaxed).newValue <= limit { return true }
        count.wrappingSubtract(1, ordering: .relaxed)
        refused.wrappingAdd(1, ordering: .relaxed)
        return false
    }

    /// Gives a place back.
    func left() {
        count.wrappingSubtract(1, ordering: .relaxed)
    }

    /// Hands over a client that has a place.
    func put(_ arrival: StreamArrival) {
        let isTaken = state.withLock { state in
            if !state.isClosed { state.arrivals.append(arrival) }
            return !state.isClosed
        }
        if !isTaken { arrival.stream.close() }
    }

    /// Those who have come since the last call.
    func take() -> [StreamArrival] {
        state.withLock { state in
            defer { state.arrivals = [] }
            return state.arrivals
        }
    }

    /// Those who have come since the last call; who comes later is closed.
    func close() -> [StreamArrival] {
        state.withLock { state in
            defer { state = State(isClosed: true) }
            return state.arrivals
        }
    }

    /// How many were refused since the last call.
    func takeRefused() -> Int {
        refused.exchange(0, ordering: .relaxed)
    }
}

/// A client of the hub, and how far it has got.
final class StreamClient {
    /// What became of what was to be sent.
    enum Progress {
        /// All of it is sent.
        case all
        /// The kernel takes no more just now.
        case full
        /// The client has gone.
        case gone
    }

    let arrival: StreamArrival
    /// Nil: it waits for its snapshot.
    var room: RoomStream?
    /// Its place among the room's clients.
    var place = 0
    /// What it was sent of the room's stream.
    var position: Int64 = 0
    /// How many of the room's commands that were.
    var commandsSeen = 0
    /// The kernel takes no more until it says so.
    var isFull = false
    /// Since when, as far as it was looked.
    var fullSince: Int64?
    /// The head of the answer, shared with all others, then the snapshot; empty when sent.
    private var opening: [UInt8]
    var snapshot: [UInt8] = []
    private var openingSent = 0
    private var heardAt: Int64

    init(_ arrival: StreamArrival, opening: [UInt8], now: Int64) {
        self.arrival = arrival
        self.opening = opening
        heardAt = now
    }

    /// Whether the head or the snapshot is not sent to its end.
    var isOpening: Bool { !opening.isEmpty || !snapshot.isEmpty }

    /// Keeps the stream of one open that still waits.
    func openWaiting(heartbeatDue: Int64, now: Int64) {
        guard heardAt <= heartbeatDue, opening.isEmpty else { return }
        heardAt = now
        opening = EventText.heartbeat
    }

    /// Sends the head and the snapshot as far as possible.
    func sendOpening() -> Progress {
        let head = send(&opening)
        return head == .all ? send(&snapshot) : head
    }

    private func send(_ bytes: inout [UInt8]) -> Progress {
        while openingSent < bytes.count {
            let sent = unsafe bytes.withUnsafeBytes { all in
                unsafe arrival.stream.send(UnsafeRawBufferPointer(rebasing: all[openingSent...]))
            }
            switch sent {
            case .bytes(let count): openingSent += count
            case .full: return note(.full)
            case .gone: return .gone
            }
        }
        openingSent = 0
        bytes = []
        return .all
    }

    /// Sends the room's stream as far as possible.
    func sendLog(_ log: RoomLog) -> Progress {
        while position < log.end {
            let sent = unsafe log.read(from: position) { unsafe arrival.stream.send($0) }
            switch sent {
            case .bytes(let count): position += Int64(count)
            case .full: return note(.full)
            case .gone: return .gone
            }
        }
        return .all
    }

    private func note(_ progress: Progress) -> Progress {
        isFull = true
        return progress
    }
}
