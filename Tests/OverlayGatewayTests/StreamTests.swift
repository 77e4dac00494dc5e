import StreamPorts
import Telemetry
import Testing

@testable import OverlayGateway

struct StreamTests {
    @Test func `a stream begins with the snapshot, and commands follow`() throws {
        let fixture = try GatewayFixture()
        fixture.topic.write(GatewayFixture.live(), timestamp: GatewayFixture.now)
        #expect(try fixture.await("/readyz") { $0.status == 200 })
        let reader = try fixture.open("/events?room=r")
        #expect(reader.read { $0.snapshot != nil })
        #expect(reader.status == 200 && reader.text.contains("\r\nContent-Type: text/event-stream"))
        #expect(reader.text.contains("\r\nCache-Control: no-store"))
        #expect(reader.body.hasPrefix("retry: 1000\n\nevent: snapshot\nid: \ndata: "))
        let snapshot = try #require(reader.snapshot)
        #expect(snapshot.hasPrefix("{\"room\":\"r\",\"now\":1") && snapshot.contains("0-0#1"))
        fixture.topic.write(GatewayFixture.live("update", sequence: 2))
        fixture.topic.write(GatewayFixture.live("update", room: "other", combo: "0-5"))
        fixture.topic.write(GatewayFixture.live("end", sequence: 3))
        #expect(reader.read { $0.commands.count == 2 })
        #expect(reader.commands == ["0-0#2", "0-0#3"])
        #expect(reader.events.last?["data"]?.hasPrefix("{\"command\":\"end\"") == true)
    }

    @Test func `a stream resumes behind the last command that its client knows`() throws {
        let fixture = try GatewayFixture()
        let first = try fixture.open("/events?room=r")
        #expect(first.read { $0.snapshot != nil })
        for sequence in 1...5 as ClosedRange<Int64> {
            fixture.topic.write(GatewayFixture.live("update", sequence: sequence))
        }
        #expect(first.read { $0.commands.count == 5 })
        first.close()
        let resumed = try fixture.open("/events?room=r", headers: ["Last-Event-ID: 0-0#3"])
        #expect(resumed.read { $0.commands.count == 2 })
        #expect(resumed.commands == ["0-0#4", "0-0#5"] && resumed.snapshot == nil)
        let asked = try fixture.open("/events?room=r&last=0-0%235")
        fixture.topic.write(GatewayFixture.live("update", sequence: 6))
        #expect(asked.read { $0.commands.count == 1 })
        #expect(asked.commands == ["0-0#6"] && asked.snapshot == nil)
        for unknown in ["0-0#7", "1-0#1", "nonsense", ""] {
            let reader = try fixture.open("/events?room=r", headers: ["Last-Event-ID: \(unknown)"])
            #expect(reader.read { $0.snapshot != nil }, "\(unknown)")
            #expect(reader.events[1]["id"] == "0-0#6")
        }
    }

    @Test(arguments: ["", "民/..", "a b&c=d#e?f+%", "\u{202E}x", "é", "e\u{301}", "a\\\"b"])
    func `any id is a room's`(room: String) throws {
        let fixture = try GatewayFixture()
        let escaped = room.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        fixture.topic.write(
            GatewayFixture.live(room: escaped),
            timestamp: GatewayFixture.now
        )
        let path = RoomLink.path(of: RoomID(room), signer: nil)
        let query = path.drop { $0 != "?" }
        let reader = try fixture.open("/events\(query)")
        #expect(reader.read { $0.snapshot?.contains("0-0#1") == true })
        #expect(reader.snapshot?.hasPrefix("{\"room\":\"\(escaped)\",") == true)
        #expect(try fixture.get("/state\(query)").body.contains("0-0#1"))
    }

    @Test func `a client that comes too early waits for the topic`() throws {
        let fixture = try GatewayFixture(partitions: nil)
        #expect(try fixture.await("/readyz") { $0.body.contains("there is no topic") })
        #expect(try fixture.get("/livez").status == 200)
        let reader = try fixture.open("/events?room=r")
        #expect(reader.read { $0.body.hasPrefix("retry: ") })
        #expect(reader.snapshot == nil)
        fixture.topic.change { $0.partitions = [[], []] }
        fixture.topic.write(GatewayFixture.live(), partition: 1, timestamp: GatewayFixture.now)
        #expect(reader.read { $0.snapshot?.contains("0-0#1") == true || !$0.commands.isEmpty })
        #expect(try fixture.await("/readyz") { $0.status == 200 })
        #expect(fixture.log.count { $0.contains("waiting-for-topic") } == 1)
    }

    @Test func `it is read as far back as combos live, and in new partitions from the start`()
        throws
    {
        let topic = FakeTopic(partitions: 2)
        let now: Int64 = 100_000
        for age in [40_000, 20_000, 14_000, 1_000] as [Int64] {
            topic.write("{}", timestamp: now - age)
        }
        let follower = TopicFollower(
            topic: "t",
            rewindMilliseconds: 15_000,
            limits: GatewayLimits(),
            log: Logger(sink: { _ in }),
            makeTail: { FakeTail(topic) }
        )
        var offsets: [Int64] = []
        for turn in 0..<5 as Range<Int64> {
            try follower.turn(waiting: 0, wall: now, now: turn) { offsets.append($0.offset) }
        }
        #expect(offsets == [2, 3] && follower.isLive)
        topic.change { $0.partitions?.append([]) }
        topic.write("{}", partition: 2, timestamp: 1)
        try follower.turn(waiting: 0, wall: now, now: 100_000) { offsets.append($0.offset) }
        #expect(offsets == [2, 3, 0])
    }

    @Test func `a client that is made anew goes on where its predecessor was`() throws {
        let topic = FakeTopic(partitions: 1)
        let follower = TopicFollower(
            topic: "t",
            rewindMilliseconds: 15_000,
            limits: GatewayLimits(),
            log: Logger(sink: { _ in }),
            makeTail: { FakeTail(topic) }
        )
        var offsets: [Int64] = []
        func turn(_ now: Int64) throws {
            try follower.turn(waiting: 0, wall: 0, now: now) { offsets.append($0.offset) }
        }
        for _ in 0..<3 { topic.write("{}") }
        for now in 0..<3 as Range<Int64> { try turn(now) }
        topic.change {
            $0.fatal = StreamError(.fatal, operation: "poll", code: "_FATAL", detail: "gone")
        }
        try turn(3)
        #expect(!follower.isLive && follower.notReady != nil)
        topic.write("{}")
        for now in [2_000, 2_001, 2_002] as [Int64] { try turn(now) }
        #expect(offsets == [0, 1, 2, 3] && follower.isLive)
    }

    @Test func `records that are no commands are skipped and counted`() throws {
        let fixture = try GatewayFixture { $0.commandBytes = 2_000 }
        #expect(try fixture.await("/readyz") { $0.status == 200 })
        let reader = try fixture.open("/events?room=r")
        #expect(reader.read { $0.snapshot != nil })
        for value in [nil, "", "{}", "{", "\u{FF}", "[1]"] { fixture.topic.write(value) }
        fixture.topic.write(GatewayFixture.live(name: String(repeating: "x", count: 2_000)))
        fixture.topic.write(GatewayFixture.live())
        fixture.topic.write(GatewayFixture.live())
        fixture.topic.write(GatewayFixture.live("update", sequence: 2))
        #expect(reader.read { $0.commands.count == 2 })
        #expect(reader.commands == ["0-0#1", "0-0#2"])
        let metrics = try fixture.get("/metrics").body
        for (reason, count) in [
            ("empty-value", 2), ("not-a-command", 4), ("too-large", 1), ("duplicate", 1),
        ] {
            let name = "giftcombo_overlay_records_skipped_total{reason=\"\(reason)\"}"
            #expect(metrics.contains("\(name) \(count)\n"))
        }
        #expect(metrics.contains("giftcombo_overlay_commands_in_total 2\n"))
        #expect(metrics.contains("giftcombo_overlay_commands_sent_total 2\n"))
        #expect(metrics.contains("giftcombo_overlay_clients 1\n"))
    }

    @Test func `line ends between the tokens of a command don't end its event`() throws {
        let fixture = try GatewayFixture()
        let reader = try fixture.open("/events?room=r")
        #expect(reader.read { $0.snapshot != nil })
        fixture.topic.write(GatewayFixture.live().replacing(",", with: "\r\n,\n\n"))
        #expect(reader.read { $0.commands.count == 1 })
        #expect(reader.events.last?["data"]?.hasSuffix("}") == true)
    }
}
