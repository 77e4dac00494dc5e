import Commands
import Telemetry
import Testing

struct ReadmeTests {
    private let page = PackageFolder.text(of: "README.md")

    @Test func `the README's table of metrics is the catalogue`() {
        let rows = MetricCatalogue.all.map { family in
            "| `\(family.name)` | \(family.kind) | \(family.labels.joined(separator: ", ")) "
                + "| \(family.help) |\n"
        }
        #expect(page.contains("\n" + rows.joined() + "\n"), "\(rows.joined())")
    }

    @Test func `the README's exit codes are the program's`() {
        let rows = ExitCode.allCases.map { "| \($0.rawValue) | \($0.meaning) |\n" }
        #expect(page.contains("\n" + rows.joined() + "\n"), "\(rows.joined())")
    }
}
