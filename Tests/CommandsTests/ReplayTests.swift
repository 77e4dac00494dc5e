import Foundation
import Testing

@testable import Commands

struct ReplayTests {
    private let folder: TemporaryFolder
    private let good = """
        {"partition":0,"offset":0,"timestamp":1760000000000,"key":"7","value":{"user_id":"7"}}

        """

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func `totals go to standard error, commands to standard output`() throws {
        let path = try folder.file(
            "gifts",
            good + """
                {"partition":0,"offset":1,"timestamp":1760000000001,"key":"7","value":null}
                {"partition":0,"offset":2,"timestamp":1760000000002,"key":"7","value":"x"}
                {"partition":0,"offset":3,"timestamp":1760000000003,"key":"7","value":""}
                """
        )
        let run = try ProgramRun(["replay", path])
        #expect(run.exitCode == .success)
        #expect(run.output.split(separator: "\n").count == 3)
        #expect(
            run.errors == "giftcombo: records 4, show 1, update 0, hide 1, end 1, dead letters 2, "
                + "tombstones 1, duplicates 0, nothing added 0, end markers 0, late 0, clamped 0\n"
        )
    }

    @Test func `what could not be read goes to the dead letters with its reason`() throws {
        let path = try folder.file(
            "gifts",
            """
            {"partition":3,"offset":5,"timestamp":1,"key":"7","value":""}
            {"partition":3,"offset":6,"timestamp":1,"key":"8","value":{"user_id":"7"}}
            """
        )
        let letters = folder.path("letters")
        #expect(try ProgramRun(["replay", "--dead-letters", letters, path]).exitCode == .success)
        let lines = try String(contentsOfFile: letters, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 2)
        #expect(
            lines.first?.hasPrefix(
                "{\"partition\":3,\"offset\":5,\"error\":\"empty-value\",\"detail\":\""
            ) == true
        )
        let off = try ProgramRun([
            "replay", "--set=input.key.check=off", "--dead-letters", letters, path,
        ])
        #expect(off.exitCode == .success)
        #expect(
            try String(contentsOfFile: letters, encoding: .utf8).split(separator: "\n").count == 1
        )
    }

    @Test func `--set wins over a document's configuration`() throws {
        let document = try folder.file(
            "d.json",
            "{\"config\": {\"combo.hide.after\": \"5s\"}, \"records\": [\(good)]}"
        )
        let own = try Replayed([document])
        #expect(own.commands[1].fields["at"] == "1760000005000")
        let set = try Replayed(["--set", "combo.hide.after=1s", document])
        #expect(set.commands[1].fields["at"] == "1760000001000")
    }

    @Test func `a mistake in a document's configuration is told with the document`() throws {
        let path = try folder.file("d.json", "{\"config\": {\"combo.lane\": 1}, \"records\": []}")
        let run = try ProgramRun(["replay", path])
        #expect(run.exitCode == .usage)
        #expect(
            run.errors
                == "giftcombo: combo.lane (config in \(path)): no such key; nearest: combo.lanes\n"
        )
    }

    @Test func `a bad line ends the replay with its place, after what came before it`() throws {
        let path = try folder.file("gifts", good + good)
        let run = try ProgramRun(["replay", path])
        #expect(run.exitCode == .failure)
        #expect(run.output.hasPrefix("{\"command\":\"show\""))
        #expect(run.output.split(separator: "\n").count == 1)
        #expect(run.errors.hasPrefix("giftcombo: \(path):2: offset 0 of partition 0 does not rise"))
    }

    @Test func `a dead-letter file that can't be written is a failure`() throws {
        let path = try folder.file("gifts", good.replacing("{\"user_id\":\"7\"}", with: "\"\""))
        let full = try ProgramRun(["replay", "--dead-letters", "/dev/full", path])
        #expect(full.exitCode == .failure)
        #expect(full.errors == "giftcombo: /dev/full: No space left on device\n")
        let nowhere = try ProgramRun(["replay", "--dead-letters", "/nowhere/x", path])
        #expect(nowhere.exitCode == .failure)
    }

    @Test func `--print-config prints the configuration and replays nothing`() throws {
        let path = try folder.file("gifts", good)
        let run = try ProgramRun(
            ["replay", "--print-config", path],
            environment: ["GIFTCOMBO_COMBO_LANES": "3"]
        )
        #expect(run.exitCode == .success)
        #expect(
            run.output.contains("# environment variable GIFTCOMBO_COMBO_LANES\ncombo.lanes=3\n")
        )
        #expect(!run.output.contains("\"command\""))
    }
}
