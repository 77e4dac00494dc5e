import Synchronization
import Testing

@testable import AdminServer

struct StreamTests {
    /// Streams that were handed over.
    private final class Taken: Sendable {
        let streams = Mutex<[HTTPStream]>([])

        /// The next one; nil: none comes within 20 s.
        func next() -> HTTPStream? {
            let end = ContinuousClock.now + .seconds(20)
            while ContinuousClock.now < end {
                let stream = streams.withLock { $0.isEmpty ? nil : $0.removeFirst() }
                if let stream { return stream }
            }
            return nil
        }
    }

    private let taken = Taken()

    private func server(streams: UInt32 = 10) throws -> AdminServer {
        var limits = ServerLimits()
        limits.streams = streams
        return try AdminServer(
            listen: ListenAddress("127.0.0.1:0"),
            routes: [
                "/": { _ in .text(200, "hello\n") },
                "/arguments": { request in
                    let list = request.arguments.map { "\($0.name)=\($0.value ?? "?")" }
                    return .text(200, list.joined(separator: "|"))
                },
            ],
            streams: [
                "/stream": { [taken] request in
                    guard request.argument("wanted") != nil else {
                        return .response(.text(400, "no\n"))
                    }
                    return .stream { stream in taken.streams.withLock { $0.append(stream) } }
                }
            ],
            limits: limits
        )
    }

    private func open(_ server: AdminServer) throws -> Client {
        let client = try Client(port: server.address.port)
        client.send(Array("GET /stream?wanted HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
        return client
    }

    private func send(_ text: String, on stream: HTTPStream) -> HTTPStream.Sent {
        unsafe Array(text.utf8).withUnsafeBytes { unsafe stream.send($0) }
    }

    @Test func `who takes a stream writes its answer, until it is closed`() throws {
        let server = try server()
        let client = try open(server)
        let stream = try #require(taken.next())
        #expect(send("one", on: stream) == .bytes(3))
        #expect(client.receive { $0 == Array("one".utf8) } == Array("one".utf8))
        // The server goes on meanwhile.
        #expect(try Client(port: server.address.port).request("GET", "/")?.status == 200)
        #expect(send("two", on: stream) == .bytes(3))
        stream.close()
        stream.close()
        #expect(client.receive() == Array("two".utf8))
    }

    @Test func `a stream that is refused is a page`() throws {
        let server = try server()
        let client = try Client(port: server.address.port)
        #expect(client.request("GET", "/stream")?.status == 400)
        #expect(client.request("POST", "/stream?wanted")?.status == 405)
        let head = try Client(port: server.address.port).request("HEAD", "/stream?wanted")
        #expect(head?.status == 200 && head?.headers["content-type"] == "text/event-stream")
        #expect(taken.streams.withLock { $0.isEmpty })
    }

    @Test func `the end of the server closes the streams that are open, and those closed later`()
        throws
    {
        let server = try server()
        let clients = try (0..<5).map { _ in try open(server) }
        let streams = try (0..<5).map { _ in try #require(taken.next()) }
        streams[0].close()
        server.stop()
        for stream in streams { stream.close() }
        for client in clients { #expect(client.receive().isEmpty) }
    }

    @Test func `a stream that nobody keeps is closed`() throws {
        let server = try server()
        let client = try open(server)
        #expect(taken.next() != nil)
        #expect(client.receive().isEmpty)
        server.stop()
    }

    @Test func `a client that has gone is noticed by who writes`() throws {
        let server = try server()
        var client: Client? = try open(server)
        let stream = try #require(taken.next())
        #expect(client != nil)
        client = nil
        let end = ContinuousClock.now + .seconds(20)
        var sent = HTTPStream.Sent.bytes(1)
        while sent != .gone, ContinuousClock.now < end { sent = send("x", on: stream) }
        #expect(sent == .gone)
        stream.close()
    }

    @Test func `streams opened and closed at random leave the server as it was`() throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("streams seed \(seed)")
        var random = SplitMix(state: seed)
        let server = try server(streams: 40)
        var open: [(client: Client?, stream: HTTPStream)] = []
        for _ in 0..<400 {
            if open.count < 20 && Bool.random(using: &random) || open.isEmpty {
                let client = try self.open(server)
                open.append((client, try #require(taken.next())))
            } else {
                let index = Int.random(in: open.indices, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: open[index].client = nil
                case 1: _ = send("x", on: open[index].stream)
                default: open.remove(at: index).stream.close()
                }
            }
        }
        #expect(try Client(port: server.address.port).request("GET", "/")?.status == 200)
        server.stop()
    }

    @Test(arguments: [
        ("", ""), ("?a=b", "a=b"), ("?a=1&b=&c&a=2", "a=1|b=|c=|a=2"),
        ("?r=%E6%B0%91%2F..%20%26%3D%23", "r=民/.. &=#"), ("?r=a+b", "r=a b"),
        ("?r=%FF", "r=?"), ("?r=%C3", "r=?"), ("?r=%zz", "r=%zz"), ("?r=a%00b", "r=a\0b"),
    ])
    func `a query's arguments are decoded`(query: String, expected: String) throws {
        let server = try server()
        let client = try Client(port: server.address.port)
        #expect(client.request("GET", "/arguments\(query)")?.text == expected)
    }
}
