internal import AdminServer
internal import ComboWire
internal import Glibc
internal import Telemetry

/// The streams of all clients: who watches which room, and what each has been sent.
///
/// Driven by one thread, a turn at a time. Within a turn a room's commands are gathered in its log,
/// and then sent to its clients from there, one call of the kernel each, without a copy.
///
/// ```
///            admitted                   the topic is read far enough back
///  (inbox) ───────────▶ waiting ──────────────────────────────────────────▶ following ──▶ (closed)
///                          │                    gone, slow, stop                            ▲
///                          └───────────────────────────────────────────────────────────────┘
/// ```
final class StreamHub {
    private let limits: GatewayLimits
    private let metrics: OverlayMetrics
    private let inbox: StreamInbox
    private let opening: [UInt8]
    private var clients: [StreamClient?] = []
    private var freeSlots: [Int] = []
    /// Clients that have no snapshot yet, in order of arrival; some may have gone.
    private var waiting: [Int] = []
    private var rooms: [RoomID: RoomStream] = [:]
    /// Rooms that hold commands which were not sent yet.
    private var dirty: [RoomStream] = []
    /// When the shows and updates happened that were not sent yet, epoch ms.
    private var unsentTimes: [Int64] = []
    /// Bytes of snapshots that clients have not taken.
    private var unsentSnapshotBytes = 0
    private var clientCount = 0
    private var lookedAt: Int64 = .min
    private var tidiedAt: Int64 = .min

    /// How often heartbeats and rooms that nobody watches are thought of, ms.
    private static let tidyMilliseconds: Int64 = 1_000

    init(limits: GatewayLimits, metrics: OverlayMetrics, inbox: StreamInbox) {
        self.limits = limits
        self.metrics = metrics
        self.inbox = inbox
        opening = EventText.opening(retryMilliseconds: limits.retryMilliseconds)
    }

    /// Gives a command to those who watch its room, at the end of the turn at the latest.
    func deliver(_ command: ReceivedCommand, _ json: [UInt8]) {
        guard let room = rooms[RoomID(command.roomID)] else { return }
        var event: [UInt8] = []
        event.reserveCapacity(json.count + 64)
        EventText.append(command.id, json, to: &event)
        room.log.append(command.id, event)
        if command.kind == .show || command.kind == .update { unsentTimes.append(command.at) }
        markDirty(room)
        // Before it could push out of the log what was not sent to anyone yet.
        if room.log.end - room.flushedEnd > Int64(logLimit / 2) { flush(room) }
    }

    /// Ends a turn: admits who has come, sends what is to be sent, looks after who has gone.
    ///
    /// - Parameters:
    ///   - combos: What those who join are told; nil: not known yet.
    ///   - wall: The wall clock, epoch ms.
    ///   - now: A clock that never goes back, ms.
    func turn(_ combos: LiveCombos?, wall: Int64, now: Int64) {
        for arrival in inbox.take() { admit(arrival, now: now) }
        if let combos { attachWaiting(combos, wall: wall, now: now) }
        for room in dirty { flush(room) }
        for room in dirty { room.isDirty = false }
        dirty.removeAll(keepingCapacity: true)
        if now - limits.lookMilliseconds >= lookedAt {
            lookedAt = now
            look(now: now)
        }
        if now - Self.tidyMilliseconds >= tidiedAt {
            tidiedAt = now
            tidy(now: now)
        }
        metrics.dropped.add(inbox.takeRefused(), .full)
        metrics.clients.set(Int64(clientCount))
        metrics.rooms.set(Int64(rooms.count))
    }

    /// Observes how old was what the last turn sent, after it; `wall` is the wall clock, epoch ms.
    func observeLatency(wall: Int64) {
        for time in unsentTimes { metrics.latency.observe(milliseconds: wall - time) }
        unsentTimes.removeAll(keepingCapacity: true)
    }

    /// Closes every stream, and lets no more in.
    func close() {
        for arrival in inbox.close() { arrival.stream.close() }
        for slot in clients.indices { remove(slot) }
    }

    /// What a room's log may hold.
    private var logLimit: Int {
        min(limits.logBytes, max(limits.leastLogBytes, limits.logsBytes / max(1, rooms.count)))
    }

    // MARK: - Coming

    private func admit(_ arrival: StreamArrival, now: Int64) {
        let client = StreamClient(arrival, opening: opening, now: now)
        let slot: Int
        if let free = freeSlots.popLast() {
            slot = free
            clients[slot] = client
        } else {
            slot = clients.count
            clients.append(client)
        }
        clientCount += 1
        waiting.append(slot)
    }

    /// Gives those who wait their snapshots, as long as the memory for these lasts.
    private func attachWaiting(_ combos: LiveCombos, wall: Int64, now: Int64) {
        var attached = 0
        for slot in waiting {
            guard unsentSnapshotBytes < limits.snapshotsBytes else { break }
            attached += 1
            guard let client = clients[slot], client.room == nil else { continue }
            attach(slot, client, combos, wall: wall)
            send(slot, now: now)
        }
        waiting.removeFirst(attached)
    }

    private func attach(
        _ slot: Int,
        _ client: StreamClient,
        _ combos: LiveCombos,
        wall: Int64
    ) {
        let id = client.arrival.room
        let room = rooms[id] ?? RoomStream(id)
        rooms[id] = room
        if let resume = client.arrival.resume, let found = room.log.position(behind: resume) {
            client.position = found.position
            client.commandsSeen = room.log.commands - found.following
        } else {
            // Those who join in the same turn share one.
            if room.snapshot == nil || room.snapshotEnd != room.log.end
                || room.snapshotTime != wall
            {
                let state = EventText.state(of: id, now: wall, combos.commands(of: id))
                room.snapshot = EventText.snapshot(state, latest: room.log.latest)
                room.snapshotEnd = room.log.end
                room.snapshotTime = wall
            }
            client.snapshot = room.snapshot ?? []
            unsentSnapshotBytes += client.snapshot.count
            client.position = room.log.end
            client.commandsSeen = room.log.commands
        }
        client.room = room
        client.place = room.clients.count
        room.clients.append(slot)
        room.unwatchedSince = nil
    }

    // MARK: - Sending

    private func markDirty(_ room: RoomStream) {
        guard !room.isDirty else { return }
        room.isDirty = true
        dirty.append(room)
    }

    /// Sends what is new to the room's clients, and drops from the log what is too much.
    private func flush(_ room: RoomStream, now: Int64? = nil) {
        room.log.trim(to: logLimit)
        room.flushedEnd = room.log.end
        // From the last to the first, for one that leaves is replaced by the last.
        for index in room.clients.indices.reversed() {
            let slot = room.clients[index]
            guard let client = clients[slot] else { continue }
            if client.isFull {
                if client.position < room.log.start { drop(slot) }
            } else {
                send(slot, now: now)
            }
        }
        room.snapshot = nil
    }

    /// Sends a client what it lacks, as far as the kernel takes it.
    private func send(_ slot: Int, now: Int64?) {
        guard let client = clients[slot] else { return }
        guard let room = client.room else {
            if client.sendOpening() == .gone { remove(slot) }
            return
        }
        if client.isOpening {
            let before = client.snapshot.count
            let sent = client.sendOpening()
            unsentSnapshotBytes -= before - client.snapshot.count
            guard sent == .all else {
                if sent == .gone { remove(slot) }
                return
            }
        }
        guard client.position >= room.log.start else { return drop(slot) }
        guard client.sendLog(room.log) != .gone else { return remove(slot) }
        if client.position == room.log.end {
            metrics.sent.add(room.log.commands - client.commandsSeen)
            client.commandsSeen = room.log.commands
        }
    }

    // MARK: - Going

    /// Sees who has gone, who takes bytes again, and who has taken none for too long.
    private func look(now: Int64) {
        var polled: [pollfd] = []
        var slots: [Int] = []
        polled.reserveCapacity(clientCount)
        slots.reserveCapacity(clientCount)
        for (slot, client) in clients.enumerated() {
            guard let client else { continue }
            let events = client.isFull ? Self.goneEvents | Int16(POLLOUT) : Self.goneEvents
            let descriptor = client.arrival.stream.descriptor
            polled.append(pollfd(fd: descriptor, events: events, revents: 0))
            slots.append(slot)
        }
        if !polled.isEmpty { unsafe poll(&polled, nfds_t(polled.count), 0) }
        for (index, slot) in slots.enumerated() {
            guard let client = clients[slot] else { continue }
            let found = polled[index].revents
            if found & (Self.goneEvents | Int16(POLLERR) | Int16(POLLHUP)) != 0 {
                remove(slot)
            } else if client.isFull {
                if found & Int16(POLLOUT) != 0 {
                    client.isFull = false
                    client.fullSince = nil
                    send(slot, now: now)
                } else if now - (client.fullSince ?? now) > limits.stallMilliseconds {
                    drop(slot)
                } else if client.fullSince == nil {
                    client.fullSince = now
                }
            }
        }
    }

    /// The client has closed its side (POLLRDHUP, of Linux).
    private static let goneEvents: Int16 = 0x2000

    private func tidy(now: Int64) {
        let due = now - limits.heartbeatMilliseconds
        for room in rooms.values {
            if room.clients.isEmpty {
                let since = room.unwatchedSince ?? now
                room.unwatchedSince = since
                if now - since >= limits.logKeptMilliseconds { rooms[room.id] = nil }
            } else if room.log.end != room.heardEnd {
                room.heardEnd = room.log.end
                room.heardAt = now
            } else if room.heardAt <= due {
                room.log.append(nil, EventText.heartbeat)
                room.heardEnd = room.log.end
                room.heardAt = now
                flush(room, now: now)
            }
        }
        for slot in waiting {
            guard let client = clients[slot], client.room == nil else { continue }
            client.openWaiting(heartbeatDue: due, now: now)
            send(slot, now: now)
        }
    }

    /// Sends a client away that is too slow; it resumes, or gets a snapshot, when it comes back.
    private func drop(_ slot: Int) {
        metrics.dropped.add(1, .slow)
        remove(slot)
    }

    private func remove(_ slot: Int) {
        guard let client = clients[slot] else { return }
        clients[slot] = nil
        clientCount -= 1
        unsentSnapshotBytes -= client.snapshot.count
        if let room = client.room {
            let last = room.clients.removeLast()
            if last != slot {
                room.clients[client.place] = last
                clients[last]?.place = client.place
            }
        } else {
            waiting.removeAll { $0 == slot }
        }
        freeSlots.append(slot)
        client.arrival.stream.close()
        inbox.left()
    }
}

/// A room that somebody watches, or has just watched.
final class RoomStream {
    let id: RoomID
    var log = RoomLog()
    /// The slots of its clients, in no order.
    var clients: [Int] = []
    var isDirty = false
    /// The end of the log when it was last sent.
    var flushedEnd: Int64 = 0
    /// The snapshot of this turn.
    var snapshot: [UInt8]?
    var snapshotEnd: Int64 = 0
    var snapshotTime: Int64 = 0
    /// The end of the log when it was last looked whether it goes on, and since when it does not.
    var heardEnd: Int64 = -1
    var heardAt: Int64 = 0
    /// Since when nobody watches it.
    var unwatchedSince: Int64?

    init(_ id: RoomID) {
        self.id = id
    }
}
