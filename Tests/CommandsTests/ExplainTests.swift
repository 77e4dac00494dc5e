import Foundation
import Testing

@testable import Commands
import ComboCore
import ComboWire

struct ExplainTests {
    /// A recording of one user's partition: (timestamp, value).
    private func recording(_ records: [(Int64, String)], key: String = "7") -> String {
        records.enumerated().map { offset, record in
            "{\"partition\":3,\"offset\":\(offset),\"timestamp\":\(record.0),\"key\":\"\(key)\","
                + "\"value\":\(record.1)}\n"
        }.joined()
    }

    /// What a story of these records says, without its times.
    private func story(_ records: [(Int64, String)], _ options: String...) throws -> [String] {
        let folder = try TemporaryFolder()
        let path = try folder.file("records.ndjson", recording(records))
        let run = try ProgramRun(["explain", "--user", "7"] + options + [path])
        #expect(run.errors == "")
        #expect(run.exitCode == .success)
        let time = #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z  /#
        return run.output.split(separator: "\n").map { String($0.replacing(time, with: "")) }
    }

    @Test func `a combo that hides, goes on and ends is told step by step`() throws {
        let told = try story([
            (1_000, #"{"user_id":"7","user_name":"Ana","gift_id":"rose","event_id":"a"}"#),
            (1_500, #"{"user_id":"7","gift_id":"rose","event_id":"a"}"#),
            (4_500, #"{"user_id":"7","gift_id":"rose","count":10}"#),
        ])
        #expect(
            told == [
                "user 7 (Ana)",
                "no room, gift rose, partition 3",
                "  combo 3-0",
                "    offset 3-0  gift, event a: x1, a combo begins  [show #1]",
                "    offset 3-1  gift, event a: a duplicate, that event has counted already: "
                    + "nothing changes",
                "    no gift for 2 s: hidden, x1 is kept  [hide #2]",
                "    offset 3-2  gift of 10: x11, the hidden combo goes on, 1.5 s after it hid  "
                    + "[show #3]",
                "    no gift for 2 s: hidden, x11 is kept  [hide #4]",
                "    none for 3 s more: over, x11 in all  [end #5]",
            ]
        )
    }

    @Test func `why a count restarted is told, with the time that was missing`() throws {
        let told = try story([(1_000, #"{"user_id":7}"#), (6_001, #"{"user_id":7}"#)])
        #expect(
            told.contains(
                "    offset 3-1  gift: x1, a new combo, for the last one had ended at x1 "
                    + "1 ms before: the count starts again  [show #1]"
            )
        )
    }

    @Test func `late gifts, totals that add nothing and dead letters have their reason`() throws {
        let told = try story([
            (9_000, #"{"user_id":"7","streak_id":"s","streak_count":5}"#),
            (8_200, #"{"user_id":"7","streak_id":"s","streak_count":6}"#),
            (9_300, #"{"user_id":"7","streak_id":"s","streak_count":4}"#),
            (9_400, #"{"user_id":"8"}"#),
            (9_500, #"{"user_id":"7","count":0}"#),
        ])
        let late = try #require(told.first { $0.contains("offset 3-1 ") })
        #expect(late.contains("running total of streak s: 6: x6; dated 1970-01-01T00:00:08.200Z"))
        #expect(late.contains("800 ms behind the partition's clock: counted at the clock"))
        #expect(told.contains { $0.contains("offset 3-2 ") && $0.contains("nothing changes") })
        #expect(told.contains { $0.contains("offset 3-3 ") && $0.contains("key-mismatch") })
        #expect(told.contains { $0.contains("offset 3-4 ") && $0.contains("out-of-range") })
    }

    @Test func `a room, a gift and a time choose what is told`() throws {
        let records: [(Int64, String)] = [
            (1_000, #"{"user_id":"7","room_id":"r1","gift_id":"rose"}"#),
            (1_100, #"{"user_id":"7","room_id":"r2","gift_id":"rose"}"#),
            (90_000, #"{"user_id":"7","room_id":"r1","gift_id":"tea"}"#),
        ]
        let titles = { (told: [String]) in told.filter { $0.contains("partition") } }
        #expect(try titles(story(records)).count == 3)
        #expect(
            try titles(story(records, "--room", "r2")) == ["room r2, gift rose, partition 3"]
        )
        #expect(try titles(story(records, "--gift", "tea")) == ["room r1, gift tea, partition 3"])
        #expect(
            try titles(story(records, "--since", "80000")) == ["room r1, gift tea, partition 3"]
        )
        #expect(try story(records, "--room", "r9").last == "no gifts of this user were found")
    }

    @Test func `names can't drive the terminal`() throws {
        let told = try story([
            (1_000, #"{"user_id":"7","user_name":"\u001b[2JAna","gift_id":"a\u202eb"}"#)
        ])
        #expect(told[0] == "user 7 ( [2JAna)")
        #expect(told[1] == "no room, gift a b, partition 3")
    }

    @Test func `a user is needed, and a time that is one`() throws {
        #expect(try ProgramRun(["explain", "-"]).exitCode == .usage)
        let run = try ProgramRun(["explain", "--user", "7", "--since", "noon", "-"])
        #expect(run.exitCode == .usage)
        #expect(run.errors.contains("--since noon"))
    }

    // MARK: - What was published

    private var configuration: Configuration {
        var configuration = Configuration()
        configuration.input.maxBytes = 1_000
        return configuration
    }

    private func published(_ lines: [String]) throws -> PublishedCommands {
        var published = PublishedCommands()
        for line in lines {
            let command = unsafe Array(line.utf8).withUnsafeBytes { unsafe ParsedCommand($0) }
            published.add(try #require(command))
        }
        return published
    }

    private func process(_ story: UserStory, _ offset: Int64, at timestamp: Int64, _ value: String)
    {
        unsafe Array("7".utf8).withUnsafeBytes { key in
            unsafe Array(value.utf8).withUnsafeBytes { value in
                let record = unsafe InputRecord(
                    offset: offset,
                    timestamp: timestamp,
                    key: key,
                    value: value
                )
                story.process(partition: 3, record)
            }
        }
    }

    /// The wall clock hid a combo at 3,000, and then came a gift that is dated 2,900.
    @Test func `where the wall clock had a say, what was published decides`() throws {
        func command(_ kind: String, _ sequence: Int, _ counts: (Int, Int), _ at: Int) -> String {
            "{\"command\":\"\(kind)\",\"combo_id\":\"3-0\",\"id\":\"3-0#\(sequence)\","
                + "\"seq\":\(sequence),\"from\":\(counts.0),\"count\":\(counts.1),\"lane\":1,"
                + "\"at\":\(at),\"resumed\":\(sequence == 3),\"user_id\":\"7\"}"
        }
        let published = try published([
            command("show", 1, (0, 1), 1_000), command("hide", 2, (1, 1), 3_000),
            command("show", 3, (1, 2), 3_001), command("hide", 4, (2, 2), 5_001),
        ])
        let story = UserStory(configuration, user: "7", published: published)
        process(story, 0, at: 1_000, #"{"user_id":"7"}"#)
        process(story, 1, at: 2_900, #"{"user_id":"7"}"#)
        story.finish(partition: 3, at: .zero)
        let commands = story.chapters[0].events.compactMap(\.command)
        #expect(commands.map(\.kind) == [.show, .hide, .show, .hide])
        #expect(commands.map(\.at) == [1_000, 3_000, 3_001, 5_001])
        #expect(commands.allSatisfy { published.command("3-0", $0.sequence) == $0 })
    }

    @Test func `what was not published, or otherwise, is marked`() throws {
        let published = try published([
            "{\"command\":\"show\",\"combo_id\":\"3-0\",\"id\":\"3-0#1\",\"seq\":1,\"from\":0,"
                + "\"count\":5,\"lane\":1,\"at\":1000,\"user_id\":\"7\"}"
        ])
        let story = UserStory(configuration, user: "7", published: published)
        for offset in 0..<3 as Range<Int64> {
            process(story, offset, at: 1_000 + offset, #"{"user_id":"7"}"#)
        }
        let text = StoryText(
            story: story,
            published: published,
            choice: StoryText.Choice(),
            committed: [3: 2]
        ).lines
        try #require(text.count == 6)
        #expect(text[2].contains("[show #1, published as show x5 at 1970-01-01T00:00:01.000Z]"))
        #expect(text[3].hasSuffix("[update #2, not published]"))
        #expect(text[4].hasSuffix("[update #3, not processed yet]"))
        #expect(text[5] == "    now: displayed at x3")
    }

    private static let spans: [(Int64, String)] = [
        (0, "0 ms"), (812, "812 ms"), (2_000, "2 s"), (1_500, "1.5 s"), (62_050, "62.05 s"),
    ]

    @Test(arguments: spans)
    func `a span of time is told exactly`(milliseconds: Int64, text: String) {
        #expect(span(milliseconds) == text)
    }
}
