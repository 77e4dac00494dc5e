import Foundation
import Testing

@testable import Commands

/// The recorded conformance scenarios: each file's records must give exactly its commands.
struct ConformanceTests {
    /// `shared/conformance` in the nearest folder around the project; nil: there is none.
    private static let folder: URL? = {
        var folder = URL(fileURLWithPath: #filePath)
        for _ in 0..<8 {
            folder.deleteLastPathComponent()
            let candidate = folder.appendingPathComponent("shared/conformance")
            if FileManager.default.fileExists(atPath: candidate.path) { return candidate }
        }
        return nil
    }()

    private static let documents: [String] = {
        let path = folder?.path ?? ""
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.filter { $0.hasSuffix(".json") }.sorted()
    }()

    private static func path(_ name: String) -> String {
        folder?.appendingPathComponent(name).path ?? ""
    }

    @Test(.enabled(if: folder != nil, "no shared/conformance around the project"))
    func `the folder holds scenarios`() {
        #expect(ConformanceTests.documents.count > 50)
    }

    @Test(arguments: documents)
    func `a scenario's records give its commands and its dead letters`(name: String) throws {
        let path = ConformanceTests.path(name)
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        let document = try #require(
            JSONSerialization.jsonObject(with: data) as? [String: Any]
        )
        let replayed = try Replayed([path])
        try replayed.expect(
            commands: #require(document["commands"] as? [[String: Any]]),
            deadLetters: document["dead_letters"] as? [[String: Any]] ?? []
        )
    }

    @Test(.enabled(if: folder != nil, "no shared/conformance around the project"))
    func `an evening of 20,000 events gives its commands and its dead letters`() throws {
        func lines(_ name: String) throws -> [[String: Any]] {
            let lines = LineReader(try InputBytes(path: ConformanceTests.path(name)))
            var objects: [[String: Any]] = []
            while try lines.advance() {
                let line = unsafe lines.withLine { unsafe Data($0) }
                let object = try JSONSerialization.jsonObject(with: line)
                objects.append(try #require(object as? [String: Any]))
            }
            return objects
        }
        let replayed = try Replayed([ConformanceTests.path("evening.records.ndjson.gz")])
        try replayed.expect(
            commands: lines("evening.commands.ndjson.gz"),
            deadLetters: lines("evening.dead-letters.ndjson.gz")
        )
    }
}

/// What a replay has printed, to be compared by meaning.
struct Replayed {
    let commands: [ComparableCommand]
    let deadLetters: [String]

    init(_ arguments: [String]) throws {
        let folder = try TemporaryFolder()
        let file = folder.path("dead-letters")
        let run = try ProgramRun(["replay", "--dead-letters", file] + arguments)
        #expect(run.exitCode == .success, "\(run.errors)")
        commands = try Replayed.objects(run.output).map { ComparableCommand($0) }
        deadLetters = try Replayed.objects(String(contentsOfFile: file, encoding: .utf8))
            .map { object in
                #expect((object["detail"] as? String)?.isEmpty == false)
                return Replayed.deadLetter(object)
            }
    }

    /// Compares, each partition's commands in their order, and tells the first difference.
    func expect(commands expected: [[String: Any]], deadLetters expectedLetters: [[String: Any]]) {
        let expected = expected.map { ComparableCommand($0) }
        let wanted = Dictionary(grouping: expected, by: \.partition)
        let got = Dictionary(grouping: commands, by: \.partition)
        for partition in Set(wanted.keys).union(got.keys).sorted() {
            let (left, right) = (wanted[partition] ?? [], got[partition] ?? [])
            #expect(left.count == right.count, "commands of partition \(partition)")
            for (one, other) in zip(left, right) where !one.isMet(by: other) {
                Issue.record("expected \(one.fields)\n     got \(other.fields)")
                break
            }
        }
        #expect(Set(deadLetters) == Set(expectedLetters.map { Replayed.deadLetter($0) }))
        #expect(deadLetters.count == expectedLetters.count)
    }

    private static func deadLetter(_ object: [String: Any]) -> String {
        "\(object["partition"] ?? "")-\(object["offset"] ?? "") \(object["error"] ?? "")"
    }

    private static func objects(_ text: String) throws -> [[String: Any]] {
        try text.split(separator: "\n").map { line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
            return try #require(object as? [String: Any])
        }
    }
}

/// A command's fields by meaning: absent and empty optional ones are the same.
struct ComparableCommand {
    let fields: [String: String]

    private static let required: Set<String> = [
        "command", "id", "combo_id", "seq", "user_id", "from", "count", "value", "at", "hide_at",
        "end_at", "lane",
    ]

    init(_ object: [String: Any]) {
        var fields: [String: String] = [:]
        for (name, value) in object {
            let text = value is NSNull ? "" : "\(value)"
            let isFalse = name == "resumed" && (value as? Bool) == false
            if ComparableCommand.required.contains(name) || (!text.isEmpty && !isFalse) {
                fields[name] = isFalse ? "false" : text
            }
        }
        self.fields = fields
    }

    /// The partition, as the combo's id begins.
    var partition: String {
        String(fields["combo_id", default: ""].prefix { $0 != "-" })
    }

    /// Whether another command is what this one expects; the lane counts only where it is given.
    func isMet(by other: ComparableCommand) -> Bool {
        var got = other.fields
        if fields["lane"] == nil {
            got["lane"] = nil
        }
        return fields == got
    }
}
