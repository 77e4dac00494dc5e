import Testing

struct DocumentationTests {
    /// What the protocols of the package ask for: the protocols by a requirement's name.
    private static let requirements: [String: Set<String>] = {
        var requirements: [String: Set<String>] = [:]
        for file in PackageFolder.sources where file.area == "Sources" {
            var current: (name: String, depth: Int)?
            var depth = 0
            for line in file.code {
                if let match = line.firstMatch(of: /\bprotocol\s+(\w+)/) {
                    current = (String(match.output.1), depth)
                }
                let requirement = line.firstMatch(of: /\b(?:func|var)\s+(\w+)/)
                if let current, let requirement, depth == current.depth + 1 {
                    requirements[String(requirement.output.1), default: []].insert(current.name)
                }
                depth += line.count { $0 == "{" } - line.count { $0 == "}" }
                if let open = current, depth <= open.depth {
                    current = nil
                }
            }
        }
        return requirements
    }()

    /// Whether a declaration only fulfils what a protocol asks for, where its comment stands.
    private static func isWitness(_ declaration: Substring, in file: SourceFile) -> Bool {
        let ofStandardLibrary = declaration.contains(
            #/
            \bfunc\s(?:<|==|hash|encode|enqueue|asUnownedSerialExecutor|checkIsolated)
            |\bfunc\sisIsolatingCurrentContext
            |\b(?:var|let)\s(?:description|debugDescription|rawValue|hashValue|id)\b
            |\binit\((?:rawValue|from\s)
            /#
        )
        if ofStandardLibrary { return true }
        guard let name = declaration.firstMatch(of: /\b(?:func|var|let)\s+(\w+)/)?.output.1,
            let protocols = requirements[String(name)]
        else { return false }
        return file.code.contains { line in
            line.matches(of: /[:,&]\s*(\w+)/).contains { protocols.contains(String($0.output.1)) }
        }
    }

    /// The declarations without a comment, as `path:line: declaration`.
    private static func undocumented(in file: SourceFile) -> [String] {
        let declaration = /^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:package|public)\s+(?!import\b).*/
        return file.code.indices.compactMap { index in
            guard let match = file.code[index].wholeMatch(of: declaration),
                !isWitness(match.output, in: file)
            else { return nil }
            var above = index - 1
            while above >= 0, file.lines[above].contains(/^\s*@\w+(?:\(.*\))?\s*$/) {
                above -= 1
            }
            guard above < 0 || !file.lines[above].contains(/^\s*\/\/\/|\*\/\s*$/) else {
                return nil
            }
            return "\(file.path):\(index + 1):\(match.output)"
        }
    }

    @Test func `every declaration that other targets see has a comment`() {
        let breaches = PackageFolder.sources.filter { $0.area == "Sources" }
            .flatMap { DocumentationTests.undocumented(in: $0) }
        expectNone(breaches)
    }

    @Test(
        arguments: [
            ("package var a = 1", 1), ("/// A.\npackage var a = 1", 0),
            ("/// A.\n@safe\n@inlinable(x)\npackage struct A {", 0),
            ("// A.\npackage let a = 1", 1),
            ("    @safe package struct A {", 1), ("package import A", 0), ("var a = 1", 0),
            ("package static func < (a: A, b: A) -> Bool {", 0), ("package func f() {", 1),
            ("final class A: RecordSource {\n    package func pause() {", 0),
            ("final class A {\n    package func pause() {", 1),
        ]
    )
    func `a missing comment is found`(text: String, count: Int) {
        let file = SourceFile(path: "Sources/A/B.swift", text: text)
        #expect(DocumentationTests.undocumented(in: file).count == count)
    }
}
