import Glibc
import Testing

@testable import AdminServer

struct ListenAddressTests {
    @Test(arguments: [
        ("127.0.0.1:9464", "127.0.0.1", 9464 as UInt16),
        ("localhost:0", "localhost", 0),
        ("[::1]:65535", "::1", 65_535),
        (":9464", "", 9464),
    ])
    func `an address is a host and a port`(text: String, host: String, port: UInt16) throws {
        let address = try ListenAddress(text)
        #expect(address == ListenAddress(host: host, port: port))
        #expect(address.description == text)
    }

    @Test(arguments: [
        "", "localhost", "9464", "localhost:", "localhost:http", "localhost:65536",
        "localhost:-1", "localhost:+1", "::1:9464", "localhost: 9464",
    ])
    func `anything else is refused with the way to write it`(text: String) {
        let error = #expect(throws: AdminServerError.self) { try ListenAddress(text) }
        guard case .malformed = error?.problem else {
            Issue.record("malformed was expected")
            return
        }
        #expect(error?.description.contains("can't listen on \(text): ") == true)
        #expect(error?.description.contains("write host:port") == true)
    }

    @Test func `a free port is taken and told`() throws {
        let server = try AdminServer(listen: ListenAddress("127.0.0.1:0"), routes: [:])
        #expect(server.address.port != 0 && server.address.host == "127.0.0.1")
        server.stop()
    }

    @Test func `a port in use is told with the address and what to do`() throws {
        let server = try AdminServer(listen: ListenAddress("127.0.0.1:0"), routes: [:])
        let error = #expect(throws: AdminServerError.self) {
            try AdminServer(listen: server.address, routes: [:])
        }
        #expect(error?.problem == .portInUse)
        #expect(error?.description.contains("127.0.0.1:\(server.address.port)") == true)
        #expect(error?.description.contains("stop the other process") == true)
    }

    @Test func `the port is free again after a stop`() throws {
        let server = try AdminServer(listen: ListenAddress("127.0.0.1:0"), routes: [:])
        let client = try Client(port: server.address.port)
        #expect(client.request("GET", "/")?.status == 404)
        server.stop()
        let again = try AdminServer(listen: server.address, routes: [:])
        #expect(again.address == server.address)
    }

    @Test func `a host that has no address is told`() throws {
        let error = #expect(throws: AdminServerError.self) {
            try AdminServer(listen: ListenAddress("no-such-host.invalid:0"), routes: [:])
        }
        guard case .unresolvable = error?.problem else {
            Issue.record("unresolvable was expected, not \(String(describing: error))")
            return
        }
        #expect(error?.address == "no-such-host.invalid:0")
    }

    @Test func `another machine's address is told`() throws {
        let error = #expect(throws: AdminServerError.self) {
            try AdminServer(listen: ListenAddress("192.0.2.1:0"), routes: [:])
        }
        #expect(error?.problem == .notOurs)
    }

    @Test(.enabled(if: geteuid() != 0, "the superuser may bind any port"))
    func `a port that needs rights is told`() throws {
        let error = #expect(throws: AdminServerError.self) {
            try AdminServer(listen: ListenAddress("127.0.0.1:1"), routes: [:])
        }
        #expect(error?.problem == .notPermitted)
    }

    @Test(arguments: ["localhost:0", ":0", "127.0.0.1:0"])
    func `names and all addresses can be listened on`(text: String) throws {
        let server = try AdminServer(listen: ListenAddress(text), routes: [:])
        #expect(server.address.port != 0)
        if text != "localhost:0" {
            let client = try Client(port: server.address.port)
            #expect(client.request("GET", "/")?.status == 404)
        }
    }

    @Test(.enabled(if: hasIPv6, "this machine has no IPv6 loopback"))
    func `an IPv6 address can be listened on`() throws {
        let server = try AdminServer(listen: ListenAddress("[::1]:0"), routes: [:])
        #expect(server.address.description == "[::1]:\(server.address.port)")
        let other = #expect(throws: AdminServerError.self) {
            try AdminServer(listen: server.address, routes: [:])
        }
        #expect(other?.problem == .portInUse)
    }
}

/// Tried with a socket of its own, not with what is tested.
private let hasIPv6: Bool = {
    let descriptor = socket(AF_INET6, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    address.sin6_addr = in6addr_loopback
    return unsafe withUnsafeBytes(of: &address) { bytes in
        unsafe bind(
            descriptor,
            bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self),
            socklen_t(bytes.count)
        )
    } == 0
}()
