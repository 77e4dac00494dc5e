import ComboCore
import ComboWire
import Foundation
import Testing

@testable import Commands

struct BenchTests {
    private static func bytes(seed: UInt64, live: Int = 1_000) -> [UInt8] {
        var traffic = ComboTraffic(live: live, seed: seed)
        var block = RecordBlock()
        traffic.append(20_000, to: &block)
        return unsafe Array(block.bytes)
    }

    @Test func `the same seed gives the same workload, another one another`() {
        #expect(Self.bytes(seed: 7) == Self.bytes(seed: 7))
        #expect(Self.bytes(seed: 7) != Self.bytes(seed: 8))
    }

    @Test func `most records are gift events, a few come twice, late or can't be read`() throws {
        var traffic = ComboTraffic(live: 100, seed: 3)
        var block = RecordBlock()
        traffic.append(20_000, to: &block)
        var ids: Set<String> = []
        var (events, late) = (0, 0)
        for index in 0..<block.count {
            let record = block.record(index)
            let value = unsafe Data(record.value)
            guard let object = try? JSONSerialization.jsonObject(with: value) as? [String: Any],
                let id = object["event_id"] as? String
            else { continue }
            events += 1
            ids.insert(id)
            let sentAt = try #require(object["sent_at"] as? Int64)
            #expect((0...1_500).contains(sentAt - record.timestamp))
            late += sentAt > record.timestamp ? 1 : 0
            #expect(
                (object["user_id"] as? String).map { unsafe Array($0.utf8) == Array(record.key) }
                    == true
            )
        }
        #expect((5...50).contains(block.count - events), "unreadable, seed 3")
        #expect((100...300).contains(events - ids.count), "duplicates, seed 3")
        #expect((50...150).contains(late), "late, seed 3")
    }

    @Test(arguments: [200, 2_000])
    func `as many combos live as are asked for, within a tenth`(live: Int) {
        var options = EngineBenchmarkOptions()
        options.events = 4 * live
        options.rounds = 1
        options.measuresMemory = false
        let measured = EngineBenchmark.measure(live: live, options)
        #expect(abs(measured.live - live) < live / 10, "\(measured.live) of \(live), seed 1")
        #expect(measured.commands > measured.events)
    }

    @Test func `a measurement is one JSON object a line`() throws {
        let run = try ProgramRun([
            "bench", "engine", "--live", "500", "--live", "1000", "--events", "1000", "--rounds",
            "2",
            "--json",
        ])
        #expect(run.exitCode == .success, "\(run.errors)")
        let objects = try run.output.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
        #expect(objects.map { $0["live"] as? Int } == [500, 1_000])
        #expect(objects.allSatisfy { $0["events"] as? Int == 2_000 })
        #expect(objects.allSatisfy { ($0["bytes_per_live_combo"] as? Int ?? 0) > 0 })
        #expect(objects.allSatisfy { ($0["bytes_per_remembered_key"] as? Int ?? 0) > 0 })
    }

    @Test func `without rounds everything is prepared and nothing measured`() throws {
        let run = try ProgramRun([
            "bench", "engine", "--live", "50", "--events", "100", "--rounds", "0", "--only", "time",
        ])
        #expect(run.exitCode == .success)
        #expect(run.output.contains("nothing measured"))
    }

    @Test(arguments: [
        ["pipeline2"], ["engine", "--live", "0"], ["engine", "--only", "speed"], [],
    ])
    func `what can't be measured is wrong usage`(arguments: [String]) throws {
        let run = try ProgramRun(["bench"] + arguments)
        #expect(run.exitCode == .usage)
        #expect(run.output.isEmpty)
    }
}
