import Synchronization
import Telemetry
import Testing

@testable import AdminServer

struct AdminServerTests {
    /// Eight megabytes, more than the sockets' buffers hold.
    private static let large = [UInt8](repeating: 0x78, count: 8 << 20)

    private func server(
        _ change: (inout ServerLimits) -> Void = { _ in }
    ) throws -> AdminServer {
        var limits = ServerLimits()
        change(&limits)
        return try AdminServer(
            listen: ListenAddress("127.0.0.1:0"),
            routes: [
                "/": { _ in .text(200, "hello\n") },
                "/accept": { .text(200, $0.accept ?? "none") },
                "/large": { _ in
                    HTTPResponse(status: 200, contentType: "text/plain", body: Self.large)
                },
            ],
            limits: limits
        )
    }

    private func answer(
        _ server: AdminServer,
        _ method: String,
        _ path: String,
        headers: [String] = []
    ) throws -> Answer? {
        try Client(port: server.address.port).request(method, path, headers: headers)
    }

    @Test func `a page is served, and its query ignored`() throws {
        let server = try server()
        for path in ["/", "/?a=b", "/?"] {
            let answer = try answer(server, "GET", path)
            #expect(answer?.status == 200 && answer?.text == "hello\n")
            #expect(answer?.headers["content-type"] == "text/plain; charset=utf-8")
            #expect(answer?.headers["cache-control"] == "no-store")
        }
    }

    @Test func `HEAD gives the headers alone`() throws {
        let server = try server()
        let client = try Client(port: server.address.port)
        for _ in 0..<2 {
            let answer = client.request("HEAD", "/")
            #expect(answer?.status == 200 && answer?.body.isEmpty == true)
            #expect(answer?.headers["content-length"] == "6")
        }
        #expect(client.request("GET", "/")?.text == "hello\n")
    }

    @Test(arguments: ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "BREW", "get"])
    func `other methods are refused with those that are allowed`(method: String) throws {
        let server = try server()
        let answer = try answer(server, method, "/")
        #expect(answer?.status == 405)
        #expect(answer?.headers["allow"] == "GET, HEAD")
    }

    @Test(arguments: ["/nothing", "//", "/../etc/passwd", "/%2e%2e", "/%ff%fe", "/index.html"])
    func `unknown paths are not found`(path: String) throws {
        let server = try server()
        #expect(try answer(server, "GET", path)?.status == 404)
        #expect(try answer(server, "POST", path)?.status == 404)
    }

    @Test(arguments: ["Content-Length: 5", "Transfer-Encoding: chunked"])
    func `a request with a body is refused before the body is read`(header: String) throws {
        let server = try server()
        #expect(try answer(server, "GET", "/", headers: [header])?.status == 413)
        #expect(try answer(server, "GET", "/", headers: ["Content-Length: 0"])?.status == 200)
    }

    @Test func `the Accept header reaches the page`() throws {
        let server = try server()
        #expect(try answer(server, "GET", "/accept")?.text == "none")
        let asked = try answer(server, "GET", "/accept", headers: ["Accept: a/b;q=1"])
        #expect(asked?.text == "a/b;q=1")
    }

    @Test func `headers over the limit are refused`() throws {
        let server = try server()
        let long = "X: " + String(repeating: "x", count: 20_000)
        let status = try answer(server, "GET", "/", headers: [long])?.status
        #expect(status == 431 || status == 413 || status == nil)
        #expect(try answer(server, "GET", "/")?.status == 200)
    }

    @Test func `a thousand garbage requests leave the server as it was`() throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("garbage seed \(seed)")
        var random = SplitMix(state: seed)
        let server = try server()
        let whole = Array("GET /?x HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n".utf8)
        for number in 0..<1_000 {
            var bytes = whole
            if number % 2 == 0 {
                bytes = (0..<Int.random(in: 1...600, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
            } else {
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    let index = Int.random(in: 0..<bytes.count, using: &random)
                    bytes[index] = UInt8.random(in: 0...255, using: &random)
                }
            }
            let client = try Client(port: server.address.port)
            client.send(bytes)
            client.finishSending()
            if number % 100 == 0 {
                #expect(try answer(server, "GET", "/")?.text == "hello\n", "seed \(seed)")
            }
        }
        #expect(try answer(server, "GET", "/")?.text == "hello\n", "seed \(seed)")
    }

    @Test func `a client that never sends loses its connection`() throws {
        let server = try server { $0.idleSeconds = 1 }
        let silent = try Client(port: server.address.port)
        let half = try Client(port: server.address.port)
        half.send(Array("GET / HTTP/1.1\r\nHost".utf8))
        #expect(try answer(server, "GET", "/")?.status == 200)
        // Ends when the server closes; libmicrohttpd may say why before it does.
        #expect(silent.receive().isEmpty)
        _ = half.receive()
    }

    @Test func `a client that never reads holds up nobody`() throws {
        let server = try server { $0.idleSeconds = 1 }
        let deaf = try Client(port: server.address.port, receiveBytes: 4_096)
        deaf.send(Array("GET /large HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
        #expect(try answer(server, "GET", "/")?.status == 200)
        #expect(try answer(server, "GET", "/large")?.body.count == Self.large.count)
        server.stop()
    }

    @Test func `clients that leave in the middle of a request free their connections at once`()
        throws
    {
        let server = try server { $0.connections = 4 }
        let time = try ContinuousClock().measure {
            for _ in 0..<20 {
                let client = try Client(port: server.address.port)
                client.send(Array("GET / HT".utf8))
                client.finishSending()
                #expect(client.receive().isEmpty)
            }
            #expect(try answer(server, "GET", "/")?.status == 200)
        }
        // The idle time-out is 10 s.
        #expect(time < .seconds(5))
    }

    @Test func `clients over the connection limit wait until one is free`() throws {
        let server = try server {
            $0.connections = 4
            $0.idleSeconds = 1
        }
        let silent = try (0..<4).map { _ in try Client(port: server.address.port) }
        #expect(try answer(server, "GET", "/")?.status == 200)
        #expect(silent.count == 4)
    }

    @Test func `many clients at once are all served`() async throws {
        let server = try server()
        let port = server.address.port
        let served = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    guard let client = try? Client(port: port) else { return 0 }
                    return (0..<50).count { _ in client.request("GET", "/")?.text == "hello\n" }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(served == 800)
    }

    @Test func `stopping closes connections that are open, whatever they are at`() throws {
        let server = try server()
        let kept = try Client(port: server.address.port)
        #expect(kept.request("GET", "/")?.status == 200)
        let silent = try Client(port: server.address.port)
        let deaf = try Client(port: server.address.port, receiveBytes: 4_096)
        deaf.send(Array("GET /large HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
        #expect(try answer(server, "GET", "/")?.status == 200)
        let clock = ContinuousClock()
        let time = clock.measure { server.stop() }
        #expect(time < .seconds(5))
        #expect(kept.receive().isEmpty)
        #expect(silent.receive().isEmpty)
        server.stop()
        #expect(throws: ClientError.self) { try Client(port: server.address.port) }
    }
}

struct WorkerRoutesTests {
    private final class Health: HealthSource {
        let live = Mutex(HealthReport(ok: true, reason: ""))
        let ready = Mutex(HealthReport(ok: false, reason: "no broker at 127.0.0.1:9092 yet"))

        func livez() -> HealthReport { live.withLock { $0 } }
        func readyz() -> HealthReport { ready.withLock { $0 } }
        func partitionsJSON() -> String { "[{\"partition\":0}]" }
    }

    private let registry = MetricRegistry()
    private let health = Health()
    private let worker = WorkerMetrics()

    private func get(_ path: String, accept: String? = nil) throws -> Answer {
        let server = try AdminServer(
            listen: ListenAddress("127.0.0.1:0"),
            routes: workerRoutes(registry: registry, health: health)
        )
        let headers = accept.map { ["Accept: \($0)"] } ?? []
        let client = try Client(port: server.address.port)
        return try #require(client.request("GET", path, headers: headers))
    }

    @Test func `probes answer 200 or 503 with the reason`() throws {
        #expect(try get("/livez").status == 200)
        #expect(try get("/livez").text == "ok\n")
        let waiting = try get("/readyz")
        #expect(waiting.status == 503)
        #expect(waiting.text == "no broker at 127.0.0.1:9092 yet\n")
        health.live.withLock { $0 = HealthReport(ok: false, reason: "") }
        health.ready.withLock { $0 = HealthReport(ok: true, reason: "2 partitions") }
        #expect(try get("/livez").status == 503)
        #expect(try get("/livez").text == "not ok\n")
        #expect(try get("/readyz").text == "2 partitions\n")
    }

    @Test func `metrics come in the form that is asked for`() throws {
        registry.register(worker)
        worker.commands.add(3, .end)
        let classic = try get("/metrics")
        #expect(classic.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
        #expect(classic.text.contains("\ngiftcombo_commands_total{kind=\"end\"} 3\n"))
        let open = try get("/metrics", accept: "application/openmetrics-text; version=1.0.0")
        #expect(
            open.headers["content-type"]
                == "application/openmetrics-text; version=1.0.0; charset=utf-8"
        )
        #expect(open.text.hasSuffix("\n# EOF\n"))
    }

    @Test func `partitions are JSON, and the index names every page`() throws {
        let partitions = try get("/partitions")
        #expect(partitions.headers["content-type"] == "application/json")
        #expect(partitions.text == "[{\"partition\":0}]\n")
        let index = try get("/").text
        for path in workerRoutes(registry: registry, health: health).keys where path != "/" {
            #expect(index.contains(path))
            #expect(try get(path).status != 404)
        }
    }

    @Test func `scrapes run while a worker counts and partitions come and go`() async throws {
        let server = try AdminServer(
            listen: ListenAddress("127.0.0.1:0"),
            routes: workerRoutes(registry: registry, health: health)
        )
        registry.register(worker)
        let port = server.address.port
        let scrapes = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    guard let client = try? Client(port: port) else { return 0 }
                    return (0..<25).count { _ in
                        client.request("GET", "/metrics")?.status == 200
                    }
                }
            }
            for number in 0..<100 as Range<Int32> {
                let partition = PartitionMetrics(topic: "t", partition: number % 5)
                registry.register(partition)
                partition.recordsIn.increment()
                worker.commands.add(1, .show)
                registry.retire(partition)
            }
            return await group.reduce(0, +)
        }
        #expect(scrapes == 100)
        #expect(worker.commands.value(.show) == 100)
    }
}

/// The splitmix64 generator: small, and the same on every machine.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
