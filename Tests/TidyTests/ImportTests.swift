import Testing

struct ImportTests {
    /// Which of our modules a target may import; a target that is not here may not exist.
    private static let arrows: [String: Set<String>] = [
        "ComboCore": [],
        "ComboWire": ["ComboCore"],
        "StreamPorts": [],
        "KafkaClient": ["StreamPorts", "CRdKafka"],
        "Telemetry": [],
        "AdminServer": ["Telemetry", "CMicroHTTPD"],
        "WorkerRuntime": ["ComboCore", "ComboWire", "StreamPorts", "Telemetry"],
        "OverlayGateway": ["ComboWire", "StreamPorts", "Telemetry", "AdminServer", "CGnuTLS"],
        "Simulator": ["ComboCore", "ComboWire", "StreamPorts", "Telemetry", "WorkerRuntime"],
        "Commands": [
            "ComboCore", "ComboWire", "StreamPorts", "KafkaClient", "Telemetry", "AdminServer",
            "WorkerRuntime", "OverlayGateway", "Simulator", "CZlib",
        ],
        "giftcombo": ["Commands"],
        "CRdKafka": [],
        "CMicroHTTPD": [],
        "CGnuTLS": [],
        "CZlib": [],
    ]

    /// Values and synchronous functions: not even the system is imported.
    private static let pureTargets: Set<String> = ["ComboCore", "ComboWire", "StreamPorts"]
    /// What the other targets may import of the system; Foundation is not among it.
    private static let system: Set<String> = ["Glibc", "Synchronization"]

    private static let products = PackageFolder.sources.filter { $0.area == "Sources" }

    private static func imports(
        of file: SourceFile
    ) -> [(line: Int, level: Substring?, module: String)] {
        let importLine =
            #/
            ^\s*
            (?:@\w+(?:\([^)]*\))?\s+)*
            (?:(?<level>\w+)\s+)?
            import\s+
            (?:(?:struct|class|enum|func|var|let|protocol|typealias)\s+)?
            (?<module>\w+)
            /#
        return file.code.enumerated().compactMap { index, line in
            line.firstMatch(of: importLine).map {
                (index + 1, $0.output.level, String($0.output.module))
            }
        }
    }

    @Test func `every import follows an arrow of the house`() {
        var breaches: [String] = []
        for file in ImportTests.products {
            guard var allowed = ImportTests.arrows[file.target] else {
                breaches.append("\(file.path): no such target in the house")
                continue
            }
            if !ImportTests.pureTargets.contains(file.target) {
                allowed.formUnion(ImportTests.system)
            }
            for (line, _, module) in ImportTests.imports(of: file) where !allowed.contains(module) {
                breaches.append("\(file.path):\(line): import \(module)")
            }
        }
        expectNone(breaches)
    }

    @Test func `every import of a product says how far it is seen`() {
        let breaches = ImportTests.products.flatMap { file in
            ImportTests.imports(of: file)
                .filter { !["internal", "package", "public"].contains($0.level) }
                .map { "\(file.path):\($0.line): import \($0.module)" }
        }
        expectNone(breaches)
    }

    @Test func `only the tests of a target look inside it`() {
        let breaches = PackageFolder.sources.flatMap { file in
            file.code.enumerated().compactMap { index, line -> String? in
                guard let match = line.firstMatch(of: /@testable\s+import\s+(\w+)/),
                    file.area != "Tests" || file.target != "\(match.output.1)Tests"
                else { return nil }
                return "\(file.path):\(index + 1): \(match.output.0)"
            }
        }
        expectNone(breaches)
    }
}
