import Commands
import Foundation
import Testing

struct LayoutTests {
    @Test func `the top level holds what it is meant to and nothing else`() throws {
        let allowed: Set<String> = [
            "Package.swift", "Sources", "Tests", "deploy", "docker-compose.yml", "README.md",
        ]
        let names = try FileManager.default.contentsOfDirectory(atPath: PackageFolder.root.path)
        let breaches = names.filter { !allowed.contains($0) && !$0.hasPrefix(".") }
        expectNone(breaches.sorted())
    }

    @Test func `no line is wider than 100 columns`() {
        let paths = ["Package.swift"] + PackageFolder.scripts
        let files =
            PackageFolder.sources
            + paths.map { SourceFile(path: $0, text: PackageFolder.text(of: $0)) }
        let breaches = files.flatMap { file in
            file.lines.indices
                .filter { file.lines[$0].count > 100 }
                .map { "\(file.path):\($0 + 1): \(file.lines[$0].count) columns" }
        }
        expectNone(breaches)
    }

    @Test func `the README's table of keys is the table that parsing comes from`() {
        let table = ConfigurationText.markdownTable()
        #expect(
            PackageFolder.text(of: "README.md").contains("\n\n\(table)\n"),
            "put this into the README (`giftcombo help config --markdown` prints it):\n\(table)"
        )
    }

    private static let shellcheck = ["/usr/bin/shellcheck", "/usr/local/bin/shellcheck"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    @Test(.enabled(if: shellcheck != nil, "shellcheck is not installed"))
    func `shell scripts pass shellcheck`() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(LayoutTests.shellcheck))
        process.currentDirectoryURL = PackageFolder.root
        process.arguments = ["--external-sources"] + PackageFolder.scripts
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let said = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(String(decoding: said, as: UTF8.self))")
    }

    @Test func `scripts can be run`() {
        let breaches = PackageFolder.scripts.filter { path in
            let full = PackageFolder.root.appendingPathComponent(path).path
            return !path.hasSuffix(".sh") && !FileManager.default.isExecutableFile(atPath: full)
        }
        expectNone(breaches)
    }
}
