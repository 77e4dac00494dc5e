import Foundation
import Testing

@testable import Commands

/// What one run of the program, inside the test's process, has said.
struct ProgramRun {
    var exitCode: ExitCode
    var output: String
    var errors: String

    init(_ arguments: [String], environment: [String: String] = [:]) throws {
        let folder = try TemporaryFolder()
        do {
            let context = CommandContext(
                output: try Output(path: folder.path("output")),
                errors: try Output(path: folder.path("errors")),
                environment: environment,
                machine: Machine(hostName: "host-1")
            )
            exitCode = run(arguments, context)
        }
        output = try String(contentsOfFile: folder.path("output"), encoding: .utf8)
        errors = try String(contentsOfFile: folder.path("errors"), encoding: .utf8)
    }
}

/// A folder that is removed with its owner.
final class TemporaryFolder {
    private let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory
            .appendingPathComponent("giftcombo-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    var path: String { url.path }

    func path(_ name: String) -> String {
        url.appendingPathComponent(name).path
    }

    /// Writes a file and returns its path.
    func file(_ name: String, _ content: some Sequence<UInt8>) throws -> String {
        let path = path(name)
        try Data(content).write(to: URL(fileURLWithPath: path))
        return path
    }

    func file(_ name: String, _ content: String) throws -> String {
        try file(name, Array(content.utf8))
    }
}
