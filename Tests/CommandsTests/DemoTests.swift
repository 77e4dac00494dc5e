import ComboCore
import Testing

@testable import Commands

struct DemoTests {
    private static func command(
        _ kind: String,
        _ sequence: Int,
        _ from: Int,
        _ count: Int,
        combo: String = "0-7",
        lane: Int = 0,
        resumed: Bool = false
    ) throws -> ParsedCommand {
        let text = """
            {"command":"\(kind)","id":"\(combo)#\(sequence)","combo_id":"\(combo)",\
            "seq":\(sequence),"user_id":"7","user_name":"\\u5c0f","gift_id":"g",\
            "from":\(from),"count":\(count),\
            "lane":\(lane),"at":\(sequence),"resumed":\(resumed),"new":[1]}
            """
        let command = unsafe Array(text.utf8).withUnsafeBytes { unsafe ParsedCommand($0) }
        return try #require(command)
    }

    @Test(
        arguments: [
            ("", 0), ("abc", 3), ("夜空", 4), ("ｶﾅ", 2), ("Ｗ", 2), ("한글", 4), ("e\u{301}", 1),
            ("\u{1100}\u{1161}\u{11A8}", 2), ("👍", 2), ("👍🏽", 2), ("👩‍👩‍👧", 2),
            ("🇹🇼", 2), ("❤️", 2),
            ("❤", 1),
            ("☕", 2), ("1️⃣", 2), ("ณัฐ", 2), ("ö", 1), ("\u{200D}", 0), ("│─", 2),
            ("。", 2), ("𠀀", 2),
            ("©", 1), ("©️", 2),
        ]
    )
    func `a text is as wide as terminals show it`(text: String, columns: Int) {
        #expect(columnWidth(of: text) == columns)
    }

    @Test func `a cut text fits and never splits a character`() {
        for name in GiftCatalogue.names {
            for columns in 0...24 {
                let text = cut(name, toColumns: columns)
                #expect(columnWidth(of: text) <= columns)
                #expect(text == name || text.isEmpty || name.hasPrefix(String(text.dropLast())))
            }
        }
    }

    @Test func `what would move the cursor is not shown`() {
        #expect(printable("a\u{1B}[2Jb\n\u{202E}c\u{85}") == "a [2Jb  c ")
        #expect(printable("👩‍👩‍👧 दे") == "👩‍👩‍👧 दे")
    }

    @Test func `the laws hold of a combo that hides, resumes and ends`() throws {
        var laws = CommandLaws()
        laws.observe(try Self.command("show", 1, 0, 1))
        laws.observe(try Self.command("update", 2, 1, 11))
        laws.observe(try Self.command("hide", 3, 11, 11))
        laws.observe(try Self.command("show", 4, 11, 12, resumed: true))
        laws.observe(try Self.command("hide", 5, 12, 12))
        laws.observe(try Self.command("end", 6, 12, 12))
        laws.observe(try Self.command("show", 1, 0, 5, combo: "1-2"))
        laws.finish(sent: 17)
        #expect(laws.breaches.isEmpty, "\(laws.breaches)")
        #expect((laws.begun, laws.ended, laws.live) == (2, 1, 1))
    }

    @Test(
        arguments: [
            [("update", 1, 0, 1, false)], [("show", 2, 0, 1, false)], [("show", 1, 1, 2, false)],
            [("show", 1, 0, 1, true)], [("end", 1, 0, 0, false)],
            [("show", 1, 0, 1, false), ("show", 2, 1, 2, true)],
            [("show", 1, 0, 1, false), ("update", 2, 0, 2, false)],
            [("show", 1, 0, 3, false), ("update", 2, 3, 2, false)],
            [("show", 1, 0, 1, false), ("end", 2, 1, 1, false)],
            [("show", 1, 0, 1, false), ("hide", 3, 1, 1, false)],
            [("show", 1, 0, 1, false), ("hide", 2, 1, 1, false), ("update", 3, 1, 2, false)],
        ]
    )
    func `a breach of the laws is found`(steps: [(String, Int, Int, Int, Bool)]) throws {
        var laws = CommandLaws()
        for (kind, sequence, from, count, resumed) in steps {
            laws.observe(try Self.command(kind, sequence, from, count, resumed: resumed))
        }
        #expect(!laws.breaches.isEmpty)
    }

    @Test func `a gift that was lost or counted twice is found`() throws {
        for sent: Int64 in [2, 4] {
            var laws = CommandLaws()
            laws.observe(try Self.command("show", 1, 0, 3))
            #expect(laws.breaches.isEmpty)
            laws.finish(sent: sent)
            #expect(laws.breaches.count == 1)
        }
    }

    @Test func `a row stays in its place from show to end`() throws {
        var rows = LaneRows(lanes: 2)
        rows.resize(rows: 2)
        rows.apply(try Self.command("show", 1, 0, 1, combo: "0-1", lane: 1), now: 1)
        rows.apply(try Self.command("show", 1, 0, 1, combo: "0-2", lane: 1), now: 2)
        rows.apply(try Self.command("hide", 2, 1, 1, combo: "0-1", lane: 1), now: 3)
        #expect(rows.lanes[0] == [nil, nil])
        #expect(rows.lanes[1].map { $0?.isHidden } == [true, false])
        rows.apply(
            try Self.command("show", 3, 1, 2, combo: "0-1", lane: 1, resumed: true),
            now: 4
        )
        #expect(rows.lanes[1][0]?.isResumed == true)
        #expect(rows.lanes[1][0]?.sender == "小")
        rows.apply(try Self.command("end", 4, 2, 2, combo: "0-1", lane: 1), now: 5)
        #expect(rows.lanes[1].map { $0?.comboID } == [nil, "0-2"])
    }

    @Test func `a full lane gives up the hidden row that was quiet for longest`() throws {
        var rows = LaneRows(lanes: 1)
        rows.resize(rows: 3)
        for number in 1...3 {
            rows.apply(try Self.command("show", 1, 0, 1, combo: "0-\(number)"), now: Int64(number))
        }
        rows.apply(try Self.command("hide", 2, 1, 1, combo: "0-3"), now: 4)
        rows.apply(try Self.command("hide", 2, 1, 1, combo: "0-2"), now: 5)
        rows.apply(try Self.command("show", 1, 0, 1, combo: "0-4"), now: 6)
        #expect(rows.lanes[0].map { $0?.comboID } == ["0-1", "0-2", "0-4"])
        // The one that lost its row has none until it is shown again.
        rows.apply(try Self.command("end", 3, 1, 1, combo: "0-3"), now: 7)
        #expect(rows.lanes[0].map { $0?.comboID } == ["0-1", "0-2", "0-4"])
        rows.resize(rows: 1)
        rows.apply(try Self.command("end", 3, 1, 1, combo: "0-4"), now: 8)
        #expect(rows.lanes[0].map { $0?.comboID } == ["0-1"])
    }

    @Test(arguments: [(24, 80), (10, 44), (1, 1), (60, 200), (6, 26)])
    func `a frame fits into its terminal`(rows height: Int, columns: Int) throws {
        var rows = LaneRows(lanes: 2)
        rows.resize(rows: DemoScreen.rows(inHeight: height))
        for number in 0..<40 {
            rows.apply(
                try Self.command("show", 1, 0, 1 << number, combo: "0-\(number)", lane: number % 2),
                now: 0
            )
        }
        let screen = DemoScreen(isColoured: false)
        let frame = screen.frame(rows, DemoFigures(), size: (height, columns))
        #expect(!frame.contains(/\u{1B}\[[0-9;]*m/))
        let lines = frame.matches(of: /\u{1B}\[(\d+);1H/).compactMap { Int($0.output.1) }
        #expect(lines == Array(1...min(height, max(height, 6))))
        for match in frame.matches(of: /\u{1B}\[(\d+)G([^\u{1B}]*)/) {
            let column = try #require(Int(match.output.1))
            #expect(columns < 30 || column - 1 + columnWidth(of: match.output.2) <= columns)
        }
    }

    @Test func `a comparison finds what differs, what is missing and what is too much`() {
        func record(_ time: Int64, _ name: String) -> GeneratedRecord {
            var record = GeneratedRecord()
            record.timestamp = time
            record.key = Array("7".utf8)
            record.value = Array(#"{"user_id":"7","user_name":"\#(name)"}"#.utf8)
            return record
        }
        func take(_ text: String, into comparison: ReplayComparison) {
            unsafe Array(text.utf8).withUnsafeBytes { bytes in
                guard let command = unsafe ParsedCommand(bytes) else { return }
                unsafe comparison.take(bytes, command)
            }
        }
        let shown = #"{"command":"show","id":"0-0#1","combo_id":"0-0","seq":1}"#
        let missing = ReplayComparison(partitions: 1, ComboConfiguration())
        missing.replay(record(1_000, "A"), partition: 0)
        missing.finish(clocks: [:])
        #expect(missing.differences.count == 1)
        #expect(missing.differences.allSatisfy { $0.contains("was not published") })
        let different = ReplayComparison(partitions: 1, ComboConfiguration())
        different.replay(record(1_000, "A"), partition: 0)
        take(shown, into: different)
        different.finish(clocks: [0: 1_000])
        #expect(different.differences.count == 1)
        let excess = ReplayComparison(partitions: 1, ComboConfiguration())
        take(shown, into: excess)
        excess.finish(clocks: [:])
        #expect(excess.differences.allSatisfy { $0.contains("is not in the replay") })
        #expect(excess.differences.count == 1)
    }

    @Test(
        arguments: [
            (["--rate", "0"], "integer from 1 to 2000"), (["--duration", "soon"], "--duration"),
            (["--slow", "--rate", "5"], "--rate can't go with --slow"),
            (["--set", "group.id=x"], "group.id"), (["x"], "unexpected argument"),
        ]
    )
    func `wrong usage is told`(options: [String], message: String) throws {
        let run = try ProgramRun(["demo"] + options)
        #expect(run.exitCode == .usage)
        #expect(run.errors.contains(message), "\(run.errors)")
    }
}
