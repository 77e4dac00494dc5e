import Foundation
import Testing

@testable import Commands

struct GenerateTests {
    private static func lines(_ options: [String]) throws -> ProgramRun {
        try ProgramRun(["generate"] + options)
    }

    private static func objects(_ run: ProgramRun) throws -> [[String: Any]] {
        try run.output.split(separator: "\n").map { line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
            return try #require(object as? [String: Any])
        }
    }

    /// Values of Kafka's own `UtilsTest.testMurmur2`, and of Java's `Utils.murmur2` at other
    /// lengths.
    @Test(
        arguments: [
            ("21", -973_932_308), ("foobar", -790_332_482),
            ("a-little-bit-long-string", -985_981_536),
            ("a-little-bit-longer-string", -1_486_304_829),
            ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58_897_971),
            ("abc", 479_470_107),
        ] as [(String, Int32)]
    )
    func `a key's hash is that of Java's client`(key: String, hash: Int32) {
        #expect(Murmur2.hash(Array(key.utf8)) == hash)
    }

    @Test func `a partition is never negative`() {
        #expect(Murmur2.hash(Array("21".utf8)) < 0)
        #expect(Murmur2.partition(ofKey: Array("21".utf8), partitions: 4) == 0)
        #expect(Murmur2.partition(ofKey: Array("abc".utf8), partitions: 4) == 3)
    }

    /// The first numbers of the published generator from seed 1234567.
    @Test func `random numbers are those of SplitMix64`() {
        var random = SplitMix64(seed: 1_234_567)
        let numbers = (0..<3).map { _ in random.next() }
        #expect(
            numbers == [
                6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
            ]
        )
    }

    @Test(
        arguments: [
            ("1", 10_000), ("0.5", 5_000), ("2.25%", 22_500), ("100", 1_000_000), ("0.0001", 1),
            ("101", nil), ("", nil), (".5", nil), ("1.", nil), ("-1", nil), ("0.00001", nil),
        ] as [(String, Int?)]
    )
    func `a share is read from a percentage`(text: String, millionths: Int?) {
        #expect(Share(percent: text)?.millionths == millionths)
    }

    @Test func `the same seed gives the same bytes, another one others`() throws {
        let options = ["--events", "3000", "--duplicates", "5", "--late", "5", "--unreadable", "5"]
        let first = try Self.lines(options + ["--seed", "7"])
        #expect(first.exitCode == .success)
        #expect(try Self.lines(options + ["--seed", "7"]).output == first.output)
        #expect(try Self.lines(options + ["--seed", "8"]).output != first.output)
    }

    /// A change of these bytes is a change for everyone who has kept figures of a seed.
    @Test func `the bytes of a seed are the same on every machine`() throws {
        let run = try Self.lines(["--events", "1000", "--seed", "1"])
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in run.output.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        #expect(hash == 1_393_873_646_369_444_414, "FNV-1a of the output")
    }

    @Test func `lines have the partitions of their keys and offsets that count from 0`() throws {
        let run = try Self.lines(["--events", "2000", "--partitions", "3", "--unreadable", "2"])
        var next = [0, 0, 0]
        for object in try Self.objects(run) {
            let partition = try #require(object["partition"] as? Int)
            let key = try #require(object["key"] as? String)
            #expect(partition == Int(Murmur2.partition(ofKey: Array(key.utf8), partitions: 3)))
            #expect(object["offset"] as? Int == next[partition])
            next[partition] += 1
        }
        #expect(next.reduce(0, +) == 2000)
    }

    @Test func `lines can be replayed, and only what was asked to be unreadable is`() throws {
        let folder = try TemporaryFolder()
        for (share, hasRefusals) in [("0", false), ("10", true)] {
            let run = try Self.lines(["--events", "2000", "--unreadable", share])
            let file = try folder.file("gifts", run.output)
            let dead = folder.path("dead")
            let replay = try ProgramRun(["replay", "--dead-letters", dead, file])
            #expect(replay.exitCode == .success)
            #expect(try String(contentsOfFile: dead, encoding: .utf8).isEmpty != hasRefusals)
        }
    }

    @Test func `events come as often as the density says, from the start on`() throws {
        let run = try Self.lines(["--duration", "8s", "--density", "500"])
        let seconds = try Self.objects(run).map { object -> Int in
            let time = try #require(object["timestamp"] as? Int)
            return (time - 1_760_000_000_000) / 1000
        }
        for second in 0..<8 {
            let count = seconds.count { $0 == second }
            #expect((350...650).contains(count), "second \(second): \(count)")
        }
        #expect(seconds.allSatisfy { (0..<8).contains($0) })
    }

    @Test func `duplicates repeat an event id, late ones have an earlier timestamp`() throws {
        let plain = try Self.objects(Self.lines(["--events", "2000"]))
        let mixed = try Self.objects(
            Self.lines(["--events", "2000", "--duplicates", "10", "--late", "10"])
        )
        func repeats(_ objects: [[String: Any]]) -> Int {
            let ids = objects.compactMap { ($0["value"] as? [String: Any])?["event_id"] as? String }
            return ids.count - Set(ids).count
        }
        func backward(_ objects: [[String: Any]]) -> Int {
            let times = objects.compactMap { $0["timestamp"] as? Int }
            return zip(times, times.dropFirst()).count { $0 > $1 }
        }
        #expect(repeats(plain) == 0)
        #expect(backward(plain) == 0)
        #expect((100...300).contains(repeats(mixed)))
        #expect(backward(mixed) > 100)
    }

    @Test(
        arguments: [
            (["--rate", "fast"], "--rate \"fast\" is not allowed"),
            (["--duplicates", "120"], "--duplicates \"120\" is not allowed"),
            (["--from", "x"], "--from needs --topic"),
            (["--topic", "t", "--partitions", "3"], "--partitions can't go with --topic"),
            (["--topic", "t", "--rate", "0"], "needs --events or --duration"),
            (["--topic", "t", "--from", "x", "--seed", "1"], "--seed can't go with --from"),
            (["--topic", "t"], "kafka.bootstrap.servers is required"),
            (["--sede", "1"], "nearest: --seed"),
        ]
    )
    func `wrong usage is told`(options: [String], message: String) throws {
        let run = try Self.lines(options)
        #expect(run.exitCode == .usage)
        #expect(run.output.isEmpty)
        #expect(run.errors.contains(message), "\(run.errors)")
    }

    @Test func `totals are told at the end`() throws {
        let run = try Self.lines(["--events", "10"])
        #expect(run.errors.contains("10 records in"))
        #expect(run.errors.contains("0 failed, seed 1"))
    }
}
