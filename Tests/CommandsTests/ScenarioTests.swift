import Foundation
import Testing

@testable import Commands

/// The combo machine's rules as short stories, from records to commands.
struct ScenarioTests {
    /// A story: gifts as `milliseconds user [field=value …]`, and the commands that they give, as
    /// `command combo from>count at`, all in milliseconds of the story.
    struct Scenario: Sendable, CustomTestStringConvertible {
        var name: String
        var set: [String] = []
        var gifts: [String]
        var commands: [String]

        var testDescription: String { name }
    }

    /// Where the stories' time begins, epoch milliseconds.
    private static let start = 1_760_000_000_000

    private static let scenarios = [
        Scenario(
            name: "a gift shows, hides after 2 s and ends 3 s later",
            gifts: ["0 a"],
            commands: ["show 0 0>1 0", "hide 0 1>1 2000", "end 0 1>1 5000"]
        ),
        Scenario(
            name: "a gift exactly at the hide deadline updates",
            gifts: ["0 a", "2000 a"],
            commands: ["show 0 0>1 0", "update 0 1>2 2000", "hide 0 2>2 4000", "end 0 2>2 7000"]
        ),
        Scenario(
            name: "a gift a millisecond after the hide deadline resumes",
            gifts: ["0 a", "2001 a"],
            commands: [
                "show 0 0>1 0", "hide 0 1>1 2000", "show 0 1>2 2001 resumed", "hide 0 2>2 4001",
                "end 0 2>2 7001",
            ]
        ),
        Scenario(
            name: "a gift exactly at the end deadline resumes",
            gifts: ["0 a", "5000 a"],
            commands: [
                "show 0 0>1 0", "hide 0 1>1 2000", "show 0 1>2 5000 resumed", "hide 0 2>2 7000",
                "end 0 2>2 10000",
            ]
        ),
        Scenario(
            name: "a gift a millisecond after the end deadline starts a new combo at 1",
            gifts: ["0 a", "5001 a"],
            commands: [
                "show 0 0>1 0", "hide 0 1>1 2000", "end 0 1>1 5000", "show 1 0>1 5001",
                "hide 1 1>1 7001", "end 1 1>1 10001",
            ]
        ),
        Scenario(
            name: "the end timer from before a resume is void",
            gifts: ["0 a", "4000 a", "5500 a"],
            commands: [
                "show 0 0>1 0", "hide 0 1>1 2000", "show 0 1>2 4000 resumed",
                "update 0 2>3 5500", "hide 0 3>3 7500", "end 0 3>3 10500",
            ]
        ),
        Scenario(
            name: "users, rooms, recipients and gifts are combos of their own",
            gifts: ["0 a", "0 b", "0 a room_id=r", "0 a recipient_id=x", "0 a gift_id=g"],
            commands: [
                "show 0 0>1 0", "show 1 0>1 0", "show 2 0>1 0", "show 3 0>1 0", "show 4 0>1 0",
                "hide 0 1>1 2000", "hide 1 1>1 2000", "hide 2 1>1 2000", "hide 3 1>1 2000",
                "hide 4 1>1 2000", "end 0 1>1 5000", "end 1 1>1 5000", "end 2 1>1 5000",
                "end 3 1>1 5000", "end 4 1>1 5000",
            ]
        ),
        Scenario(
            name: "a batch counts as many as it says",
            gifts: ["0 a count=66", "1000 a count=1314"],
            commands: [
                "show 0 0>66 0", "update 0 66>1380 1000", "hide 0 1380>1380 3000",
                "end 0 1380>1380 6000",
            ]
        ),
        Scenario(
            name: "a duplicate changes nothing, not even a timer",
            gifts: ["0 a event_id=e", "1500 a event_id=e"],
            commands: ["show 0 0>1 0", "hide 0 1>1 2000", "end 0 1>1 5000"]
        ),
        Scenario(
            name: "a duplicate after the end is still known",
            gifts: ["0 a event_id=e", "9000 a event_id=e"],
            commands: ["show 0 0>1 0", "hide 0 1>1 2000", "end 0 1>1 5000"]
        ),
        Scenario(
            name: "a late gift counts at the clock",
            gifts: ["1000 a", "0 a"],
            commands: ["show 0 0>1 1000", "update 0 1>2 1000", "hide 0 2>2 3000", "end 0 2>2 6000"]
        ),
        Scenario(
            name: "a running total adds what is new, and nothing twice",
            gifts: [
                "0 a streak_id=s streak_count=3", "500 a streak_id=s streak_count=3",
                "1000 a streak_id=s streak_count=5",
            ],
            commands: ["show 0 0>3 0", "update 0 3>5 1000", "hide 0 5>5 3000", "end 0 5>5 6000"]
        ),
        Scenario(
            name: "an end marker alone only moves the clock",
            gifts: ["0 a", "2500 a streak_end=true"],
            commands: ["show 0 0>1 0", "hide 0 1>1 2000", "end 0 1>1 5000"]
        ),
        Scenario(
            name: "a gift that does not streak merges with nothing",
            gifts: ["0 a streakable=false", "100 a streakable=false"],
            commands: [
                "show 0 0>1 0", "show 1 0>1 100", "hide 0 1>1 2000", "hide 1 1>1 2100",
                "end 0 1>1 5000", "end 1 1>1 5100",
            ]
        ),
        Scenario(
            name: "held updates go out together, at the latest before the hide",
            set: ["combo.update.min.interval=1s"],
            gifts: ["0 a", "200 a", "400 a", "1900 a"],
            commands: [
                "show 0 0>1 0", "update 0 1>3 1000", "update 0 3>4 2000", "hide 0 4>4 3900",
                "end 0 4>4 6900",
            ]
        ),
        Scenario(
            name: "as the replaced client counted: one a message, a user is a key",
            set: ["combo.key=user", "combo.increment=one", "combo.hide.after=4300ms"],
            gifts: ["0 a gift_id=g count=10", "4300 a gift_id=h count=10"],
            commands: [
                "show 0 0>1 0", "update 0 1>2 4300", "hide 0 2>2 8600", "end 0 2>2 11600",
            ]
        ),
    ]

    private static func recording(_ gifts: [String]) -> String {
        gifts.enumerated().map { offset, gift in
            let words = gift.split(separator: " ")
            let time = start + (Int(words[0]) ?? 0)
            let fields = words.dropFirst(2).map { word in
                let parts = word.split(separator: "=")
                let isBare = Int(parts[1]) != nil || parts[1] == "true" || parts[1] == "false"
                return "\"\(parts[0])\":" + (isBare ? "\(parts[1])" : "\"\(parts[1])\"")
            }
            let value = (["\"user_id\":\"\(words[1])\""] + fields).joined(separator: ",")
            return "{\"partition\":0,\"offset\":\(offset),\"timestamp\":\(time),"
                + "\"key\":\"\(words[1])\",\"value\":{\(value)}}\n"
        }
        .joined()
    }

    private static func story(_ command: ComparableCommand) -> String {
        let fields = command.fields
        let combo = fields["combo_id", default: ""].drop { $0 != "-" }.dropFirst()
        let at = (Int(fields["at", default: ""]) ?? 0) - start
        return "\(fields["command", default: ""]) \(combo) "
            + "\(fields["from", default: ""])>\(fields["count", default: ""]) \(at)"
            + (fields["resumed"] == "1" ? " resumed" : "")
    }

    @Test(arguments: scenarios)
    func `a story gives its commands`(scenario: Scenario) throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("story", ScenarioTests.recording(scenario.gifts))
        let replayed = try Replayed(scenario.set.flatMap { ["--set", $0] } + [path])
        #expect(replayed.commands.map { ScenarioTests.story($0) } == scenario.commands)
        #expect(replayed.deadLetters.isEmpty)
    }

    @Test func `each partition has its own clock and its own combos`() throws {
        let folder = try TemporaryFolder()
        func record(_ partition: Int, _ offset: Int, _ time: Int) -> String {
            "{\"partition\":\(partition),\"offset\":\(offset),"
                + "\"timestamp\":\(ScenarioTests.start + time),"
                + "\"key\":\"a\",\"value\":{\"user_id\":\"a\"}}\n"
        }
        let path = try folder.file(
            "story",
            record(1, 7, 0) + record(0, 0, 60_000) + record(1, 8, 1)
        )
        let replayed = try Replayed([path])
        let ids = replayed.commands.map { $0.fields["id"] }
        #expect(ids == ["1-7#1", "0-0#1", "1-7#2", "0-0#2", "0-0#3", "1-7#3", "1-7#4"])
    }
}
