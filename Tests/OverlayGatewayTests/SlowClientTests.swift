import Testing

@testable import OverlayGateway

struct SlowClientTests {
    @Test func `a client that does not read is dropped, and resumes with a snapshot`() throws {
        let fixture = try GatewayFixture { $0.logBytes = 50_000 }
        let slow = try fixture.open("/events?room=r", receiveBytes: 4_096)
        let quick = try fixture.open("/events?room=r")
        #expect(slow.read { $0.snapshot != nil } && quick.read { $0.snapshot != nil })
        let name = String(repeating: "x", count: 10_000)
        var written = 0
        // More than the kernel's buffers and the log hold together.
        for batch in 0..<20 {
            for _ in 0..<4 {
                written += 1
                fixture.topic.write(
                    GatewayFixture.live("update", sequence: Int64(written), name: name)
                )
            }
            #expect(quick.read { $0.commands.count >= written }, "batch \(batch)")
        }
        let dropped = "giftcombo_overlay_clients_dropped_total{reason=\"slow\"} 1\n"
        #expect(try fixture.await("/metrics") { $0.body.contains(dropped) })
        _ = slow.readToEnd()
        #expect(slow.isClosed && slow.commands.count < written)
        let last = try #require(slow.commands.last)
        let again = try fixture.open("/events?room=r", headers: ["Last-Event-ID: \(last)"])
        #expect(again.read { $0.snapshot?.contains("0-0#\(written)") == true })
        #expect(quick.commands == (1...written).map { "0-0#\($0)" })
    }

    @Test func `a client that takes nothing for long is dropped, whatever its room does`() throws {
        let fixture = try GatewayFixture {
            $0.stallMilliseconds = 100
            $0.lookMilliseconds = 10
        }
        let name = String(repeating: "x", count: 60_000)
        for combo in 0..<4 {
            let json = GatewayFixture.live(combo: "0-\(combo)", name: name)
            fixture.topic.write(json, timestamp: GatewayFixture.now)
        }
        // Its snapshot alone is more than the kernel holds.
        let slow = try fixture.open("/events?room=r", receiveBytes: 4_096)
        let dropped = "giftcombo_overlay_clients_dropped_total{reason=\"slow\"} 1\n"
        #expect(try fixture.await("/metrics") { $0.body.contains(dropped) })
        _ = slow.readToEnd()
        #expect(slow.isClosed)
    }

    @Test func `one client too many is told to come back, and may when another has left`() throws {
        let fixture = try GatewayFixture(clients: 2) { $0.lookMilliseconds = 10 }
        let readers = try (0..<2).map { _ in try fixture.open("/events?room=r") }
        for reader in readers { #expect(reader.read { $0.snapshot != nil }) }
        let third = try fixture.get("/events?room=r")
        #expect(third.status == 503 && third.text.contains("\r\nRetry-After: 5"))
        #expect(try fixture.get("/state?room=r").status == 200)
        readers[0].close()
        #expect(
            try fixture.await("/metrics") { $0.body.contains("giftcombo_overlay_clients 1\n") }
        )
        let fourth = try fixture.open("/events?room=r")
        #expect(fourth.read { $0.snapshot != nil })
        #expect(
            try fixture.get("/metrics").body
                .contains("giftcombo_overlay_clients_dropped_total{reason=\"full\"} 1\n")
        )
    }

    @Test func `a silent stream says something now and then`() throws {
        let fixture = try GatewayFixture { $0.heartbeatMilliseconds = 50 }
        let reader = try fixture.open("/events?room=r")
        #expect(reader.read { $0.body.hasSuffix("\n\n:\n\n:\n\n") })
    }

    @Test func `so does one that waits for the topic`() throws {
        let fixture = try GatewayFixture(partitions: nil) { $0.heartbeatMilliseconds = 50 }
        let reader = try fixture.open("/events?room=r")
        #expect(reader.read { $0.body.hasSuffix("retry: 1000\n\n:\n\n:\n\n") })
    }

    @Test func `its end closes every stream`() throws {
        let fixture = try GatewayFixture()
        let readers = try (0..<20).map { try fixture.open("/events?room=\($0 % 3)") }
        for reader in readers { #expect(reader.read { $0.snapshot != nil }) }
        #expect(fixture.stop())
        for reader in readers {
            _ = reader.readToEnd()
            #expect(reader.isClosed)
        }
    }
}
