internal import CMicroHTTPD
internal import Glibc

/// What an admin server allows its clients.
package struct ServerLimits: Equatable, Sendable {
    /// Connections open at a time: 64, many times what probes and scrapers hold.
    ///
    /// Further clients wait in the kernel's queue until one is free.
    package var connections: UInt32 = 64
    /// Memory of a connection in bytes, which its request line and headers must fit in: 16 KiB,
    /// twice what HTTP servers usually take.
    package var connectionBytes = 16_384
    /// How long a connection may neither send nor take anything, seconds: 10, so that a scraper
    /// that comes every 5 s keeps its connection and a dead client frees its own.
    package var idleSeconds: UInt32 = 10
    /// Streams open at a time, besides the connections above: none.
    package var streams: UInt32 = 0

    /// Creates the default limits.
    package init() {}
}

/// Serves a table of pages over HTTP/1.1: GET and HEAD, on one listener and one thread of its own.
///
/// Handlers run on that thread, one at a time. The server answers 404 for paths that are not in the
/// table, 405 for other methods, and refuses requests with a body. libmicrohttpd parses requests;
/// its pointers live and die in this file and in HTTPStream.swift.
@safe
package final class AdminServer {
    /// Where the server listens, with the port that it got.
    package let address: ListenAddress
    private let router: Router
    private var daemon: OpaquePointer?

    /// Starts to serve `routes` and `streams`, whose keys are paths.
    ///
    /// - Throws: ``AdminServerError`` where it can't listen; it names the address and what to do.
    package init(
        listen: ListenAddress,
        routes: [String: HTTPHandler],
        streams: [String: HTTPStreamHandler] = [:],
        limits: ServerLimits = ServerLimits()
    ) throws(AdminServerError) {
        let listener = try Listener(listen)
        router = Router(routes: routes, streams: streams)
        address = listener.address
        let context = unsafe Unmanaged.passUnretained(router).toOpaque()
        // The server's thread inherits the mask: no signal of the process is delivered to it.
        var all = sigset_t()
        var before = sigset_t()
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
        unsafe daemon = giftcombo_start_http_daemon(
            listener.descriptor,
            answer,
            context,
            limits.connections + limits.streams,
            limits.connectionBytes,
            limits.idleSeconds
        )
        let failure = errno
        unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
        guard unsafe daemon != nil else {
            // Not closed here: the library may have done so, and the number may be another's now.
            throw AdminServerError(listen.description, .failed(errorText(failure)))
        }
    }

    deinit {
        stop()
    }

    /// Closes all connections and waits for the thread, at most as long as a handler runs.
    ///
    /// A second call does nothing.
    package func stop() {
        guard let running = unsafe daemon else { return }
        unsafe daemon = nil
        // The library must not be stopped while a connection is in other hands.
        router.open.closeAll()
        unsafe MHD_stop_daemon(running)
    }
}

/// What the server's thread needs; kept alive by the server, which outlives the thread.
private final class Router: Sendable {
    private let routes: [String: HTTPHandler]
    private let streams: [String: HTTPStreamHandler]
    let open = OpenStreams()

    init(routes: [String: HTTPHandler], streams: [String: HTTPStreamHandler]) {
        self.routes = routes
        self.streams = streams
    }

    func answer(to request: HTTPRequest) -> HTTPStreamAnswer {
        if let decide = streams[request.path] { return decide(request) }
        let response = routes[request.path]?(request)
        return .response(response ?? .text(404, "no such page; / lists them\n"))
    }

    func hasPage(_ path: String) -> Bool {
        routes[path] != nil || streams[path] != nil
    }
}

/// Answers a request; called by the server's thread.
///
/// The library calls it first when the headers are there, when an answer that closes the connection
/// may be given (a body, if any, stays unread), and again when the request is complete. `state`
/// tells the calls apart: nil at the first, the connection itself once it was handed over, when a
/// further call means that it was given back to be closed.
private func answer(
    context: UnsafeMutableRawPointer?,
    connection: OpaquePointer?,
    path: UnsafePointer<CChar>?,
    method: UnsafePointer<CChar>?,
    version: UnsafePointer<CChar>?,
    body: UnsafePointer<CChar>?,
    bodyCount: UnsafeMutablePointer<Int>?,
    state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let context = unsafe context, let connection = unsafe connection,
        let path = unsafe path, let method = unsafe method, let state = unsafe state,
        unsafe bodyCount?.pointee == 0
    else { return .NO }
    let router = unsafe Unmanaged<Router>.fromOpaque(context).takeUnretainedValue()
    let page = unsafe String(cString: path)
    let verb = unsafe String(cString: method)
    if unsafe state.pointee == nil {
        unsafe state.pointee = context
        if verb != "GET" && verb != "HEAD" && router.hasPage(page) {
            let allow = HTTPHeader("Allow", "GET, HEAD")
            return unsafe queue(.text(405, "GET or HEAD only\n", headers: [allow]), on: connection)
        }
        if unsafe announcesBody(connection) {
            return unsafe queue(.text(413, "a request has no body here\n"), on: connection)
        }
        return .YES
    }
    let handedOver = unsafe UnsafeMutableRawPointer(connection)
    if unsafe state.pointee == handedOver { return .NO }
    let request = unsafe HTTPRequest(
        path: page,
        arguments: arguments(of: connection),
        accept: header("Accept", of: connection),
        lastEventID: header("Last-Event-ID", of: connection)
    )
    switch router.answer(to: request) {
    case .response(let response):
        return unsafe queue(response, on: connection)
    case .stream where verb == "HEAD":
        let empty = HTTPResponse(status: 200, contentType: HTTPStream.contentType, body: [])
        return unsafe queue(empty, on: connection)
    case .stream(let accept):
        guard let stream = unsafe router.open.take(connection) else { return .NO }
        unsafe state.pointee = unsafe handedOver
        accept(stream)
        return .YES
    }
}

/// The query's arguments, in order.
private func arguments(of connection: OpaquePointer) -> [HTTPArgument] {
    var list: [HTTPArgument] = []
    unsafe withUnsafeMutablePointer(to: &list) { pointer in
        _ = unsafe MHD_get_connection_values_n(
            connection,
            .GET_ARGUMENT_KIND,
            { list, _, name, nameCount, value, valueCount in
                let name = unsafe UnsafeRawBufferPointer(start: name, count: nameCount)
                let value = unsafe UnsafeRawBufferPointer(start: value, count: valueCount)
                let argument = HTTPArgument(
                    name: unsafe String(decoding: name, as: UTF8.self),
                    value: unsafe String(validating: value, as: UTF8.self)
                )
                unsafe list?.assumingMemoryBound(to: [HTTPArgument].self).pointee.append(argument)
                return .YES
            },
            pointer
        )
    }
    return list
}

private func announcesBody(_ connection: OpaquePointer) -> Bool {
    if unsafe header("Transfer-Encoding", of: connection) != nil { return true }
    let length = unsafe header("Content-Length", of: connection)
    return length != nil && length != "0"
}

private func header(_ name: String, of connection: OpaquePointer) -> String? {
    guard
        let value = unsafe MHD_lookup_connection_value(connection, .HEADER_KIND, name)
    else { return nil }
    return unsafe String(cString: value)
}

private func queue(_ response: HTTPResponse, on connection: OpaquePointer) -> MHD_Result {
    var body = response.body
    let created = unsafe body.withUnsafeMutableBytes { bytes in
        unsafe MHD_create_response_from_buffer(bytes.count, bytes.baseAddress, .RESPMEM_MUST_COPY)
    }
    guard let created = unsafe created else { return .NO }
    defer { unsafe MHD_destroy_response(created) }
    unsafe MHD_add_response_header(created, "Content-Type", response.contentType)
    unsafe MHD_add_response_header(created, "Cache-Control", "no-store")
    unsafe MHD_add_response_header(created, "X-Content-Type-Options", "nosniff")
    for header in response.headers {
        unsafe MHD_add_response_header(created, header.name, header.value)
    }
    return unsafe MHD_queue_response(connection, response.status, created)
}
