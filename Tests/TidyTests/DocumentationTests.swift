import Testing

struct DocumentationTests {
    /// Declarations that only fulfil what a protocol of the standard library asks for.
    private static func isWitness(_ declaration: Substring) -> Bool {
        declaration.contains(
            #/
            \bfunc\s(?:<|==|hash|encode)
            |\b(?:var|let)\s(?:description|debugDescription|rawValue|hashValue|id)\b
            |\binit\((?:rawValue|from\s)
            /#
        )
    }

    /// The declarations without a comment, as `path:line: declaration`.
    private static func undocumented(in file: SourceFile) -> [String] {
        let declaration = /^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:package|public)\s+(?!import\b).*/
        return file.code.indices.compactMap { index in
            guard let match = file.code[index].wholeMatch(of: declaration),
                !isWitness(match.output)
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
        ]
    )
    func `a missing comment is found`(text: String, count: Int) {
        let file = SourceFile(path: "Sources/A/B.swift", text: text)
        #expect(DocumentationTests.undocumented(in: file).count == count)
    }
}
