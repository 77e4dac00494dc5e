internal import AdminServer
internal import ComboWire
internal import Telemetry

/// What the gateway answers to requests; on the server's thread.
struct GatewayPages: Sendable {
    private let signer: LinkSigner?
    private let shared: GatewayState
    private let inbox: StreamInbox
    private let overlay = OverlayPage()
    private let index = IndexPage()
    private let indexRooms: Int

    init(_ configuration: GatewayConfiguration, _ shared: GatewayState, _ inbox: StreamInbox) {
        signer = configuration.signer
        indexRooms = configuration.limits.indexRooms
        self.shared = shared
        self.inbox = inbox
    }

    /// The pages that are no streams.
    func routes(_ registry: MetricRegistry) -> [String: HTTPHandler] {
        [
            "/": { list($0) },
            "/overlay": { request in room(of: request).answered { _ in overlay.response } },
            "/state": { request in room(of: request).answered { state(of: $0) } },
            "/metrics": metricsHandler(registry),
            "/livez": { _ in probeResponse(shared.livez()) },
            "/readyz": { _ in probeResponse(shared.readyz()) },
        ]
    }

    /// The streams.
    var streams: [String: HTTPStreamHandler] {
        ["/events": { events($0) }]
    }

    /// A request's room, or why it has none.
    enum Wanted {
        case room(RoomID)
        case refused(HTTPResponse)

        func answered(_ body: (RoomID) -> HTTPResponse) -> HTTPResponse {
            switch self {
            case .room(let room): body(room)
            case .refused(let response): response
            }
        }
    }

    private func room(of request: HTTPRequest) -> Wanted {
        guard let argument = request.argument("room") else {
            return .refused(.text(400, "which room? \(request.path)?room=ID\n"))
        }
        guard let text = argument.value else {
            return .refused(.text(400, "the room's id is not UTF-8\n"))
        }
        let room = RoomID(text)
        if let signer, !signer.isValid(signature(of: request), signer.signature(of: room)) {
            return .refused(.text(403, "this link has no valid signature (sig) for this room\n"))
        }
        return .room(room)
    }

    private func signature(of request: HTTPRequest) -> String? {
        request.argument("sig").flatMap(\.value)
    }

    private func list(_ request: HTTPRequest) -> HTTPResponse {
        if let signer, !signer.isValid(signature(of: request), signer.signatureOfIndex()) {
            return .text(
                403,
                "the list of rooms needs a signature (sig); giftcombo overlay --index-link prints "
                    + "its link\n"
            )
        }
        let (rooms, total) = shared.with { values in
            (values.combos.fullestRooms(indexRooms), values.combos.roomCount)
        }
        return index.response(rooms, total: total, signer: signer)
    }

    private func state(of room: RoomID) -> HTTPResponse {
        let commands = shared.with { $0.combos.commands(of: room) }
        var json = EventText.state(of: room, now: wallMilliseconds(), commands)
        json.append(UInt8(ascii: "\n"))
        return HTTPResponse(status: 200, contentType: "application/json", body: json)
    }

    private func events(_ request: HTTPRequest) -> HTTPStreamAnswer {
        switch room(of: request) {
        case .refused(let response): return .response(response)
        case .room(let room):
            guard inbox.enter() else {
                let again = HTTPHeader("Retry-After", "5")
                return .response(.text(503, "too many overlays\n", headers: [again]))
            }
            let last = request.lastEventID ?? request.argument("last").flatMap(\.value)
            let resume = last.flatMap { CommandID($0) }
            return .stream { [inbox] stream in
                inbox.put(StreamArrival(stream: stream, room: room, resume: resume))
            }
        }
    }
}
