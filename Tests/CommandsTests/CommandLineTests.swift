import Foundation
import Glibc
import Testing

@testable import Commands

struct CommandLineTests {
    private let sample = Subcommand(
        name: "sample",
        summary: "try",
        operands: "FILE…",
        operandCount: 1...2,
        options: Subcommand.Option.configuration,
        details: ""
    ) { _, _ throws(CommandFailure) in }

    @Test func `options and operands stand in any order`() throws {
        let parsed = try sample.parse([
            "a", "--set", "x=1", "-c", "file", "--set=y=2", "--print-config", "b",
        ])
        #expect(parsed?.operands == ["a", "b"])
        #expect(parsed?.values(of: "set") == ["x=1", "y=2"])
        #expect(parsed?.value(of: "config") == "file")
        #expect(parsed?.has("print-config") == true)
        #expect(parsed?.has("dead-letters") == false)
    }

    @Test func `what stands behind two dashes, and a dash alone, are operands`() throws {
        #expect(try sample.parse(["--", "--set", "-h"])?.operands == ["--set", "-h"])
        #expect(try sample.parse(["-"])?.operands == ["-"])
        #expect(try sample.parse(["-cfile", "a"])?.value(of: "config") == "file")
        #expect(try sample.parse(["--set", "-x", "a"])?.values(of: "set") == ["-x"])
    }

    @Test func `help wins over mistakes`() throws {
        #expect(try sample.parse(["--nonsense", "--help"]) == nil)
        #expect(try sample.parse(["-h"]) == nil)
    }

    @Test(
        arguments: [
            (["a", "--sett=1"], "no option --sett; nearest: --set"),
            (["a", "--halp"], "no option --halp; nearest: --help"),
            (["a", "-x"], "no option -x"),
            (["a", "--set"], "--set KEY=VALUE: the value is missing"),
            (["a", "-c", "1", "-c", "2"], "-c, --config FILE is given twice"),
            (["a", "--print-config=yes"], "--print-config takes no value"),
            ([], "FILE… is missing"),
            (["a", "b", "c"], "unexpected argument \"c\""),
        ]
    )
    func `wrong usage is told with the way to help`(arguments: [String], message: String) {
        let failure = #expect(throws: CommandFailure.self) { try sample.parse(arguments) }
        #expect(failure?.exitCode == .usage)
        #expect(
            failure?.messages == [
                "sample: \(message)", "`giftcombo sample --help` lists its options",
            ]
        )
    }

    @Test func `help is printed for the program, every subcommand and the configuration`() throws {
        for arguments in [["--help"], ["-h"], ["help"]] {
            let run = try ProgramRun(arguments)
            #expect(run.exitCode == .success)
            #expect(run.errors.isEmpty)
            for command in subcommands {
                #expect(run.output.contains("  \(command.name) "))
            }
            for code in ExitCode.allCases {
                #expect(run.output.contains("  \(code.rawValue) "))
            }
        }
        for command in subcommands {
            let run = try ProgramRun([command.name, "--help"])
            #expect(run.exitCode == .success)
            #expect(run.output == command.helpText)
            #expect(try ProgramRun(["help", command.name]).output == run.output)
            for option in command.options {
                #expect(run.output.contains("--\(option.name)"))
            }
        }
        let config = try ProgramRun(["help", "config"])
        for key in ConfigurationTable.keys {
            #expect(config.output.contains("\n\(key.name) (default: "))
            #expect(config.output.contains(key.meaning))
        }
    }

    @Test func `help stays within a terminal's 100 columns`() throws {
        for arguments in [["--help"], ["replay", "--help"]] {
            for line in try ProgramRun(arguments).output.split(separator: "\n") {
                #expect(line.count <= 100, "\(line)")
            }
        }
    }

    @Test func `the version is printed`() throws {
        #expect(try ProgramRun(["--version"]).output == "giftcombo \(programVersion)\n")
    }

    @Test(
        arguments: [
            ([], "giftcombo: a subcommand is missing; `giftcombo --help` lists them\n"),
            (
                ["replya"],
                "giftcombo: no subcommand replya; nearest: replay; "
                    + "`giftcombo --help` lists them\n"
            ),
            (
                ["help", "nonsense"],
                "giftcombo: no subcommand nonsense; `giftcombo --help` lists them\n"
            ),
            (["help", "config", "x"], "giftcombo: help config: unexpected argument \"x\"\n"),
        ]
    )
    func `an unknown subcommand is wrong usage`(arguments: [String], message: String) throws {
        let run = try ProgramRun(arguments)
        #expect(run.exitCode == .usage)
        #expect(run.errors == message)
        #expect(run.output.isEmpty)
    }

    @Test func `a reader that goes away ends the output quietly`() throws {
        signal(SIGPIPE, SIG_IGN)
        var ends: [Int32] = [0, 0]
        #expect(unsafe pipe(&ends) == 0)
        close(ends[0])
        let output = Output(standard: ends[1])
        output.write(String(repeating: "x", count: 100_000))
        #expect(output.failure == .readerGone)
        let folder = try TemporaryFolder()
        do {
            let context = CommandContext(
                output: output,
                errors: try Output(path: folder.path("errors")),
                environment: [:],
                machine: Machine(hostName: "host-1")
            )
            #expect(run(["--help"], context) == .success)
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path("errors"))).isEmpty)
        close(ends[1])
    }

    @Test func `a full disk is a failure`() throws {
        let folder = try TemporaryFolder()
        do {
            let context = CommandContext(
                output: try Output(path: "/dev/full"),
                errors: try Output(path: folder.path("errors")),
                environment: [:],
                machine: Machine(hostName: "host-1")
            )
            #expect(run(["--help"], context) == .failure)
        }
        #expect(
            try String(contentsOfFile: folder.path("errors"), encoding: .utf8)
                == "giftcombo: standard output: No space left on device\n"
        )
    }

    @Test func `configuration mistakes are wrong usage, a line each`() throws {
        let run = try ProgramRun([
            "replay", "/dev/null", "--set", "combo.lanes=0", "--set", "combo.memory=1",
        ])
        #expect(run.exitCode == .usage)
        #expect(run.errors.split(separator: "\n").count == 2)
        #expect(run.errors.split(separator: "\n").allSatisfy { $0.hasPrefix("giftcombo: combo.") })
    }
}
