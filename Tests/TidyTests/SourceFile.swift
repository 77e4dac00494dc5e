import Foundation
import Testing

/// One Swift file of the package, as the rules look at it.
struct SourceFile {
    /// Path below the package's root: `Sources/ComboCore/Time.swift`.
    let path: String
    /// The lines as written.
    let lines: [String]
    /// The same lines, the contents of comments, strings and raw identifiers made blank.
    let code: [String]

    /// `Sources` or `Tests`.
    var area: String { part(0) }
    /// The target whose folder holds the file.
    var target: String { part(1) }
    var name: String { path.split(separator: "/").last.map(String.init) ?? path }

    init(path: String, text: String) {
        self.path = path
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        var blanking = Blanking(text)
        code = blanking.result()
            .split(separator: "\n", omittingEmptySubsequences: false)
            .map(String.init)
    }

    /// The places where a regular expression matches the code, as `path:line: what`.
    func matches(of pattern: Regex<Substring>) -> [String] {
        code.indices.compactMap { index in
            code[index].firstMatch(of: pattern).map { match in
                "\(path):\(index + 1): \(match.output.trimmingCharacters(in: .whitespaces))"
            }
        }
    }

    private func part(_ index: Int) -> String {
        let parts = path.split(separator: "/")
        return index < parts.count ? String(parts[index]) : ""
    }
}

/// The package's folder and what lies in it.
enum PackageFolder {
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Every Swift file below `Sources` and `Tests`, in order of path.
    static let sources: [SourceFile] = files(below: ["Sources", "Tests"])
        .filter { $0.hasSuffix(".swift") }
        .map { SourceFile(path: $0, text: text(of: $0)) }

    static func text(of path: String) -> String {
        let url = root.appendingPathComponent(path)
        return (try? String(contentsOf: url, encoding: .utf8)) ?? ""
    }

    /// The paths of all files below these folders.
    static func files(below folders: [String]) -> [String] {
        folders.flatMap { folder in
            let names = FileManager.default.enumerator(
                atPath: root.appendingPathComponent(folder).path
            )
            return (names?.compactMap { $0 as? String } ?? [])
                .map { "\(folder)/\($0)" }
                .filter { isFile($0) }
                .sorted()
        }
    }

    /// The shell scripts: what begins by naming a shell.
    static var scripts: [String] {
        files(below: ["deploy", ".ci"]).filter { path in
            let first = text(of: path).prefix { $0 != "\n" }
            return first.hasPrefix("#!") && first.hasSuffix("sh") || path.hasSuffix(".sh")
        }
    }

    private static func isFile(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        let full = root.appendingPathComponent(path).path
        return unsafe FileManager.default.fileExists(atPath: full, isDirectory: &isFolder)
            && !isFolder.boolValue
    }
}

/// Makes comments, strings and raw identifiers blank, so that a pattern finds code only.
///
/// What stands in a string's interpolation stays: it is code.
private struct Blanking {
    private let text: [Character]
    private var index = 0
    private var output = ""

    init(_ text: String) {
        self.text = Array(text)
    }

    mutating func result() -> String {
        while index < text.count {
            scanCode()
        }
        return output
    }

    /// Moves over one character of code, or a whole comment, string or raw identifier.
    private mutating func scanCode() {
        if starts("//") {
            while index < text.count, !text[index].isNewline { blank() }
        } else if starts("/*") {
            scanComment()
        } else if text[index] == "`" {
            blank()
            while index < text.count, text[index] != "`" { blank() }
            blank()
        } else if text[index] == "\"" || isRawString() {
            scanString()
        } else {
            keep()
        }
    }

    private mutating func scanComment() {
        var depth = 0
        repeat {
            if starts("/*") {
                depth += 1
                blank()
            } else if starts("*/") {
                depth -= 1
                blank()
            }
            blank()
        } while index < text.count && depth > 0
    }

    private func isRawString() -> Bool {
        let afterHashes = text[index...].firstIndex { $0 != "#" } ?? index
        return afterHashes > index && afterHashes < text.count && text[afterHashes] == "\""
    }

    private mutating func scanString() {
        var hashes = ""
        while text[index] == "#" {
            hashes.append("#")
            keep()
        }
        let quotes = starts("\"\"\"") ? "\"\"\"" : "\""
        for _ in quotes { keep() }
        while index < text.count, !starts(quotes + hashes) {
            if starts("\\\(hashes)(") {
                for _ in 0..<hashes.count + 1 { blank() }
                scanInterpolation()
            } else if starts("\\\(hashes)") {
                for _ in 0..<hashes.count + 2 { blank() }
            } else {
                blank()
            }
        }
        for _ in quotes + hashes { keep() }
    }

    private mutating func scanInterpolation() {
        var depth = 0
        repeat {
            if text[index] == "(" { depth += 1 }
            if text[index] == ")" { depth -= 1 }
            scanCode()
        } while index < text.count && depth > 0
    }

    private func starts(_ prefix: String) -> Bool {
        text[index...].starts(with: prefix)
    }

    private mutating func keep() {
        guard index < text.count else { return }
        output.append(text[index])
        index += 1
    }

    private mutating func blank() {
        guard index < text.count else { return }
        output.append(text[index].isNewline ? text[index] : " ")
        index += 1
    }
}

/// Records every breach of a rule as an issue of its own.
func expectNone(_ breaches: [String], sourceLocation: SourceLocation = #_sourceLocation) {
    for breach in breaches {
        Issue.record("\(breach)", sourceLocation: sourceLocation)
    }
}
