import Testing

@testable import Commands

struct PropertiesFileTests {
    private static func entries(_ text: String) -> [String] {
        PropertiesFile.parse(Array(text.utf8)).entries.map { "\($0.line) \($0.key)=\($0.value)" }
    }

    @Test(
        arguments: [
            ("a=1", ["1 a=1"]),
            ("a = 1\nb : 2\nc 3\nd\t4", ["1 a=1", "2 b=2", "3 c=3", "4 d=4"]),
            ("# a=1\n! b=2\n   # c=3\nd=4", ["4 d=4"]),
            ("a=1\r\nb=2\rc=3\n", ["1 a=1", "2 b=2", "3 c=3"]),
            ("\n\n   \na=1", ["4 a=1"]),
            ("a=1, \\\n   2, \\\n   3\nb=4", ["1 a=1, 2, 3", "4 b=4"]),
            ("a=1\\\\\nb=2", ["1 a=1\\", "2 b=2"]),
            ("a=1 \\\n# no comment", ["1 a=1 # no comment"]),
            ("a", ["1 a="]),
            ("a=", ["1 a="]),
            ("=1", ["1 =1"]),
            ("a==1", ["1 a==1"]),
            ("a  =  1 2 ", ["1 a=1 2 "]),
            ("a\\ b\\=c\\:d=1", ["1 a b=c:d=1"]),
            ("a=\\u0041\\t\\n\\x\\\\", ["1 a=A\t\nx\\"]),
            ("a=\\ud83c\\udf81 🎁", ["1 a=🎁 🎁"]),
            ("\u{FEFF}a=1", ["1 a=1"]),
            ("a=1\\", ["1 a=1"]),
            ("\u{0C} a=1", ["1 a=1"]),
            ("a=1\na=2", ["1 a=1", "2 a=2"]),
        ]
    )
    func `a file is read as Java's properties are`(text: String, entries: [String]) {
        #expect(PropertiesFileTests.entries(text) == entries)
        #expect(PropertiesFile.parse(Array(text.utf8)).mistakes.isEmpty)
    }

    @Test(
        arguments: [
            ("a=1\nb=\\u12", [], 2),
            ("a=\\uD83C", [], 1),
            ("a=\\uDF81\\uD83C", [], 1),
            ("a=\\uD83C\\u0041", [], 1),
            ("a=1\nb=", [0xFF], 2),
            ("a=\\\n", [0xC0, 0x80], 2),
        ] as [(String, [UInt8], Int)]
    )
    func `a line that can't be read is told by its number`(
        text: String,
        more: [UInt8],
        line: Int
    ) {
        let (_, mistakes) = PropertiesFile.parse(Array(text.utf8) + more)
        #expect(mistakes.map(\.line) == [line])
    }

    @Test func `a line that is written is read back`() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let alphabet = Array(" \t\n\r\u{0C}\\=:#!ab.u0é🎁")
        for _ in 0..<2_000 {
            func text() -> String {
                String(
                    (0..<Int.random(in: 1...8, using: &random)).map { _ in
                        alphabet.randomElement(using: &random) ?? "a"
                    }
                )
            }
            let (key, value) = (text(), text())
            let line = PropertiesFile.line(key: key, value: value)
            let (entries, mistakes) = PropertiesFile.parse(Array("x=1\n\(line)\ny=2\n".utf8))
            #expect(mistakes.isEmpty, "seed \(seed)")
            #expect(entries.count == 3, "seed \(seed)")
            #expect(entries[1].key.unicodeScalars.elementsEqual(key.unicodeScalars), "seed \(seed)")
            #expect(
                entries[1].value.unicodeScalars.elementsEqual(value.unicodeScalars),
                "seed \(seed)"
            )
        }
    }

    @Test func `any bytes are read without a trap`() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let alphabet = Array("\\u=:# \n\rdD8fF0\t".utf8) + [0xFF, 0xC3, 0xA9]
        for _ in 0..<5_000 {
            let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                alphabet.randomElement(using: &random) ?? 0
            }
            let (entries, mistakes) = PropertiesFile.parse(bytes)
            #expect(entries.count + mistakes.count <= bytes.count + 1, "seed \(seed)")
        }
    }
}

/// A generator that gives the same numbers for the same seed (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
