import ComboWire
import Testing

@testable import Commands

struct OverlayTests {
    private static let key = "overlay.key=0123456789abcdef"

    @Test func `links are signed where there is a key`() throws {
        let open = try ProgramRun(["overlay", "--link", "a/b é"])
        #expect(open.output == "http://127.0.0.1:9465/overlay?room=a%2Fb%20%C3%A9\n")
        let signed = try ProgramRun(["overlay", "--link", "a/b é", "--set", Self.key])
        // printf 'room:a/b é' | openssl dgst -sha256 -hmac 0123456789abcdef
        #expect(
            signed.output == "http://127.0.0.1:9465/overlay?room=a%2Fb%20%C3%A9&sig="
                + "5f969ededd9f23b5f05e88c2cf7e97855f9d2bde8cd92b9d5ec892477a72bc87\n"
        )
        let nameless = try ProgramRun(["overlay", "--link", ""])
        #expect(nameless.output == "http://127.0.0.1:9465/overlay?room=\n")
        let index = try ProgramRun(
            ["overlay", "--index-link", "--set", Self.key, "--set", "overlay.listen=[::1]:80"]
        )
        #expect(index.output.hasPrefix("http://[::1]:80/?sig="))
    }

    @Test func `the key is shown to no one, and a short one is refused`() throws {
        let shown = try ProgramRun(["overlay", "--print-config", "--set", Self.key])
        #expect(shown.output.contains("overlay.key=****") && !shown.output.contains("0123456789"))
        let short = try ProgramRun(["overlay", "--link", "r", "--set", "overlay.key=tooShort"])
        #expect(short.exitCode == .usage)
        #expect(short.errors.contains("overlay.key") && !short.errors.contains("tooShort"))
    }

    @Test func `a load's commands are commands, and known again by their ids`() throws {
        var plan = OverlayLoadPlan()
        plan.base = 1_760_000_000_000
        #expect((0..<plan.rooms).reduce(0) { $0 + plan.total(ofRoom: $1) } == plan.total)
        for number in [0, 1, 5, 6, 1_234] {
            let json = plan.json(number, room: 7, at: 1_760_000_000_123)
            unsafe try json.withUnsafeBytes { bytes in
                let command = try #require(unsafe ReceivedCommand(bytes))
                #expect(command.roomID == Array(plan.roomID(7).utf8))
                #expect(unsafe plan.time(ofJSON: bytes) == 1_760_000_000_123)
                let id = Array(command.id.description.utf8)
                #expect(unsafe id.withUnsafeBytes { unsafe plan.number(ofID: $0) } == number)
            }
        }
        for id in ["", "7-1#1", "7-1760000000000#7", "7-1760000000000#0", "7-1760000000000", "x"] {
            let found = unsafe Array(id.utf8).withUnsafeBytes { unsafe plan.number(ofID: $0) }
            #expect(found == nil, "\(id)")
        }
    }

    @Test func `latencies are told by their share`() {
        var latencies = LatencyCounts()
        #expect(latencies.quantile(perThousand: 990) == 0)
        for latency in 1...100 as ClosedRange<Int64> { latencies.note(latency) }
        #expect(latencies.quantile(perThousand: 500) == 50)
        #expect(latencies.quantile(perThousand: 990) == 99)
        #expect(latencies.quantile(perThousand: 1_000) == 100)
        latencies.note(1 << 40)
        #expect(latencies.quantile(perThousand: 1_000) == 10_000)
    }
}
