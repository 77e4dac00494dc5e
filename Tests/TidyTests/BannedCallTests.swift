import Testing

struct BannedCallTests {
    /// One thing that may not be written, where, and what to do instead.
    struct Ban: Sendable, CustomTestStringConvertible {
        var name: String
        var pattern: @Sendable () -> Regex<Substring>
        var instead: String
        var applies: @Sendable (SourceFile) -> Bool

        var testDescription: String { name }
    }

    private static let isProduct: @Sendable (SourceFile) -> Bool = { $0.area == "Sources" }
    private static let isTest: @Sendable (SourceFile) -> Bool = { $0.area == "Tests" }
    private static let isPure: @Sendable (SourceFile) -> Bool = { file in
        file.area == "Sources" && ["ComboCore", "ComboWire", "StreamPorts"].contains(file.target)
    }

    private static let bans: [Ban] = [
        Ban(
            name: "print",
            pattern: { /\b(?:print|debugPrint|dump)\(/ },
            instead: "write to an Output or a log",
            applies: isProduct
        ),
        Ban(
            name: "traps without a sentence",
            pattern: { /\bassertionFailure\(|\bfatalError\([)"]/ },
            instead: "precondition for our mistakes, a typed error for the world's",
            applies: isProduct
        ),
        Ban(
            name: "forced tries, casts and values",
            pattern: { /\b(?:try!|as!)|[\w)\]?]!(?![=\w])/ },
            instead: "guard, or a precondition that says why",
            applies: isProduct
        ),
        Ban(
            name: "clocks in values",
            pattern: {
                #/
                    \b(?:Date\(|ContinuousClock|SuspendingClock|clock_gettime|gettimeofday
                    |Task\b|sleep\()
                    /#
            },
            instead: "time comes in as a parameter",
            applies: isPure
        ),
        Ban(
            name: "random in products",
            pattern: {
                /\b(?:SystemRandomNumberGenerator|arc4random|rand\()|\.random\((?!.*using:)/
            },
            instead: "a seeded generator comes in as a parameter",
            applies: isProduct
        ),
        Ban(
            name: "hashes that differ from process to process",
            pattern: { /\.hashValue\b|\bHasher\(\)/ },
            instead: "a hash of ours",
            applies: isPure
        ),
        Ban(
            name: "isolation checks switched off",
            pattern: { /nonisolated\(unsafe\)|@unchecked\s+Sendable/ },
            instead: "only KafkaClient and the executor may, with a comment that says why it holds",
            applies: { file in
                file.area == "Sources" && file.target != "KafkaClient"
                    && !(file.target == "WorkerRuntime" && file.name.contains("Executor"))
            }
        ),
        Ban(
            name: "waiting by sleeping",
            pattern: { /\b(?:usleep|nanosleep|sleep|Thread\.sleep|Task\.sleep)\(/ },
            instead: "wait for what is awaited, with a bound",
            applies: isTest
        ),
    ]

    @Test(arguments: bans)
    func `nothing that is banned is written`(ban: Ban) {
        let pattern = ban.pattern()
        let breaches = PackageFolder.sources.filter(ban.applies).flatMap { $0.matches(of: pattern) }
        expectNone(breaches.map { "\($0): instead \(ban.instead)" })
    }

    @Test func `nothing is left to be done later`() {
        let breaches = PackageFolder.sources.flatMap { file in
            file.lines.indices
                .filter { file.lines[$0].contains(/\b(?:TODO|FIXME|XXX|HACK)\b/) }
                .map { "\(file.path):\($0 + 1)" }
        }
        .filter { !$0.hasPrefix("Tests/TidyTests/") }
        expectNone(breaches)
    }

    @Test func `comments, strings and raw identifiers are no code`() {
        let text = ###"""
            let a = "print(1)" // print(2)
            /* print(3) /* print(4) */ print(5) */ keep1()
            let b = "x \(keep2("print(6)")) \" print(7)"
            let c = """
                print(8) " \(keep3) print(9)
                """
            let d = ##"print(10) \(x) " \##(keep4)"##
            func `print(11)!`() { keep5() }
            """###
        let code = SourceFile(path: "Sources/A/B.swift", text: text).code.joined(separator: "\n")
        #expect(!code.contains("print"))
        for number in 1...5 {
            #expect(code.contains("keep\(number)"))
        }
        #expect(code.split(separator: "\n").count == text.split(separator: "\n").count)
    }

    @Test(
        arguments: [
            ("a!", true), ("f()!", true), ("a[0]!", true), ("a!.b", true), ("var a: Int!", true),
            ("try! f()", true), ("x as! Int", true), ("a != b", false), ("!a", false),
            ("(!a)", false), ("if !f() {", false), ("a!=b", false),
        ]
    )
    func `forced values are told from negations`(code: String, isForced: Bool) {
        let ban = BannedCallTests.bans.first { $0.name == "forced tries, casts and values" }
        let file = SourceFile(path: "Sources/A/B.swift", text: code)
        #expect(ban.map { !file.matches(of: $0.pattern()).isEmpty } == isForced)
    }
}
