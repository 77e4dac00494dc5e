import Foundation
import Synchronization
import Testing

@testable import Telemetry

struct LoggerTests {
    /// A clock that is moved by hand, and the lines that were written.
    private final class Desk: Sendable {
        let now = Mutex<Int64>(1_767_225_600_000)
        let lines = Mutex<[String]>([])

        func logger(
            _ format: LogFormat = .text,
            _ level: LogLevel = .info,
            secrets: [String] = []
        ) -> Logger {
            Logger(
                format: format,
                minimumLevel: level,
                redactor: Redactor(secretValues: secrets),
                clock: LogClock(
                    wallMilliseconds: { self.now.withLock { $0 } },
                    monotonicMilliseconds: { self.now.withLock { $0 } }
                ),
                sink: { line in self.lines.withLock { $0.append(line) } }
            )
        }

        func advance(_ milliseconds: Int64) {
            now.withLock { $0 += milliseconds }
        }

        var written: [String] { lines.withLock { $0 } }
    }

    private let desk = Desk()

    @Test func `a line is a time, a level, an event and its fields`() {
        desk.logger().info("ready", ["partitions": "0,1"])
        #expect(desk.written == ["2026-01-01T00:00:00.000Z info  ready partitions=0,1\n"])
    }

    @Test func `JSON lines hold the same, with numbers and truths as such`() throws {
        desk.logger(.json).warning(
            "trouble",
            ["broker": "a \"b\"\n\u{1B}[31m", "tries": 3, "fatal": false]
        )
        let line = try #require(desk.written.first)
        #expect(line.hasSuffix("}\n") && line.dropLast().contains("\n") == false)
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        #expect(object?["time"] as? String == "2026-01-01T00:00:00.000Z")
        #expect(object?["level"] as? String == "warning")
        #expect(object?["event"] as? String == "trouble")
        #expect(object?["broker"] as? String == "a \"b\"\n\u{1B}[31m")
        #expect(object?["tries"] as? Int == 3)
        #expect(object?["fatal"] as? Bool == false)
    }

    @Test(arguments: [
        ("plain", "plain"), ("贈🎁", "贈🎁"), ("", #""""#), ("a b", #""a b""#), ("a=b", #""a=b""#),
        ("a\"b", #""a\"b""#), ("a\\b", #""a\\b""#), ("a\r\nb\t", #""a\r\nb\t""#),
        ("\u{0}\u{7F}\u{85}\u{2028}", #""\u0000\u007f\u0085\u2028""#),
    ])
    func `a field's text can't break the line`(text: String, printed: String) {
        desk.logger().info("x", ["field": .text(text)])
        #expect(desk.written == ["2026-01-01T00:00:00.000Z info  x field=\(printed)\n"])
    }

    @Test func `levels below the least one are neither written nor computed`() {
        let logger = desk.logger(.text, .warning)
        let fields = { () -> LogFields in
            Issue.record("computed")
            return [:]
        }
        logger.debug("a", fields())
        logger.info("b", fields())
        logger.warning("c")
        logger.error("d")
        #expect(desk.written.map { $0.dropFirst(25) } == ["warning c\n", "error d\n"])
    }

    @Test func `fields of the context stand first`() {
        desk.logger().with(["worker": 1]).with(["partition": 7]).info("lost", ["after": "2s"])
        #expect(desk.written[0].hasSuffix("lost worker=1 partition=7 after=2s\n"))
    }

    @Test func `equal lines within the window are counted, not written`() {
        let logger = desk.logger()
        for _ in 0..<5 {
            logger.error("broker-down", ["address": "10.0.0.1:9092"])
            desk.advance(1_000)
        }
        logger.error("broker-down", ["address": "10.0.0.2:9092"])
        desk.advance(5_000)
        logger.error("broker-down", ["address": "10.0.0.1:9092"])
        #expect(
            desk.written.map { $0.dropFirst(25) } == [
                "error broker-down address=10.0.0.1:9092\n",
                "error broker-down address=10.0.0.2:9092\n",
                "error broker-down address=10.0.0.1:9092 repeated=4\n",
            ]
        )
    }

    @Test func `lines with one repeat key are counted together`() {
        let logger = desk.logger()
        logger.warning("produce", ["attempt": 1], repeatKey: "produce")
        logger.warning("produce", ["attempt": 2], repeatKey: "produce")
        logger.warning("produce", ["attempt": 3], repeatKey: "produce")
        logger.drain()
        #expect(
            desk.written.map { $0.dropFirst(25) } == [
                "warning produce attempt=1\n", "warning produce attempt=3 repeated=1\n",
            ]
        )
        logger.drain()
        #expect(desk.written.count == 2)
    }

    @Test func `a line that was held back has the time of its event`() {
        let logger = desk.logger()
        logger.warning("retried", ["attempt": 1], repeatKey: "retried")
        desk.advance(1_000)
        logger.warning("retried", ["attempt": 2], repeatKey: "retried")
        desk.advance(5_000)
        logger.drain()
        #expect(
            desk.written.map { $0.dropFirst(17).prefix(6) } == ["00.000", "01.000"]
        )
    }

    @Test func `nothing secret is written, whichever way it comes`() {
        for format in LogFormat.allCases {
            let logger = desk.logger(format, secrets: ["hunter2", "hunter2-long", "", "4711"])
            logger.info("start", ["sasl.password": "abc", "kafka.ssl.key.Password": "def"])
            logger.info("start", ["pin": 4711, "token": true])
            logger.error(
                "client",
                ["detail": "login of bob with hunter2-long refused: hunter2hunter2"]
            )
            logger.error("hunter2", [:], repeatKey: "hunter2")
        }
        let all = desk.written.joined()
        for secret in ["hunter", "-long", "abc", "def", "4711", "true"] {
            #expect(!all.contains(secret))
        }
        #expect(all.contains(#"detail="login of bob with *** refused: ******""#))
    }

    @Test func `lines of many threads are whole`() async {
        let logger = desk.logger()
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<8 as Range<Int64> {
                group.addTask {
                    for step in 0..<100 as Range<Int64> {
                        logger.info("x", ["worker": .integer(worker), "step": .integer(step)])
                    }
                }
            }
        }
        #expect(desk.written.count == 800)
        #expect(Set(desk.written).count == 800)
        #expect(desk.written.allSatisfy { $0.hasSuffix("\n") })
    }

    @Test func `times are those of a calendar`() {
        let seed = UInt64.random(in: 0 ... .max)
        print("calendar seed \(seed)")
        var random = SplitMix(state: seed)
        // Foundation's calendar is Julian before 1582; ours goes on, so the oracle starts later.
        let range = Int64(-12_000_000_000_000)...253_402_300_799_999
        let edges: [Int64] = [
            0, -1, 951_782_400_000, 951_868_800_000, 4_107_542_399_999, 4_107_542_400_000,
            253_402_300_799_999,
        ]
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        for moment in edges + (0..<2_000).map({ _ in Int64.random(in: range, using: &random) }) {
            // A quarter of a millisecond on, as a Date's fraction is cut off and not exact.
            let date = Date(timeIntervalSince1970: (Double(moment) + 0.25) / 1_000)
            #expect(utcTimestamp(milliseconds: moment) == date.formatted(style), "seed \(seed)")
        }
    }
}

struct RepeatLimiterTests {
    private func event(_ name: String, _ number: Int) -> LogEvent {
        LogEvent(level: .info, name: name, fields: ["n": .integer(Int64(number))])
    }

    @Test func `an event at the end of the window opens the next one`() {
        var limiter = RepeatLimiter(windowMilliseconds: 100, capacity: 4)
        #expect(limiter.admit(event("a", 1), key: "a", now: 0).map(\.repeated) == [0])
        #expect(limiter.admit(event("a", 2), key: "a", now: 99).isEmpty)
        #expect(limiter.admit(event("a", 3), key: "a", now: 100).map(\.repeated) == [1])
        #expect(limiter.admit(event("a", 4), key: "a", now: 199).isEmpty)
    }

    @Test func `a key that makes room gives out what it held back`() {
        var limiter = RepeatLimiter(windowMilliseconds: 100, capacity: 2)
        _ = limiter.admit(event("a", 1), key: "a", now: 0)
        _ = limiter.admit(event("a", 2), key: "a", now: 1)
        _ = limiter.admit(event("b", 3), key: "b", now: 2)
        let admitted = limiter.admit(event("c", 4), key: "c", now: 3)
        #expect(admitted.map(\.event) == [event("a", 2), event("c", 4)])
        #expect(admitted.map(\.repeated) == [0, 0])
    }

    @Test func `every event is printed or counted, and each key is printed at most once a window`()
    {
        let seed = UInt64.random(in: 0 ... .max)
        print("limiter seed \(seed)")
        var random = SplitMix(state: seed)
        var limiter = RepeatLimiter(windowMilliseconds: 50, capacity: 8)
        var now: Int64 = 0
        var happened = 0
        var accounted = 0
        var lastPrinted: [String: Int64] = [:]
        for number in 0..<5_000 {
            now += Int64.random(in: 0...10, using: &random)
            let name = "k\(Int.random(in: 0..<8, using: &random))"
            happened += 1
            let admitted = limiter.admit(event(name, number), key: name, now: now)
            accounted += admitted.reduce(0) { $0 + 1 + $1.repeated }
            for one in admitted {
                let last = lastPrinted.updateValue(now, forKey: one.event.name)
                #expect(last.map { now - $0 >= 50 } ?? true, "seed \(seed)")
            }
        }
        accounted += limiter.drain().reduce(0) { $0 + 1 + $1.repeated }
        #expect(accounted == happened, "seed \(seed)")
    }
}
