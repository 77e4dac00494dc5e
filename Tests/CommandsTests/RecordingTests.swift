import Foundation
import Testing

@testable import Commands

struct RecordingTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Every record of the files, as text that names all its parts.
    private func read(_ paths: [String]) throws -> [String] {
        let reader = try RecordingReader(paths: paths)
        var record = RecordedRecord()
        var records: [String] = []
        while try reader.next(into: &record) {
            let key = record.hasKey ? String(decoding: record.key, as: UTF8.self) : "null"
            let value = record.hasValue ? String(decoding: record.value, as: UTF8.self) : "null"
            let arrival = record.arrivedAt.map { " arrived \($0)" } ?? ""
            records.append(
                "\(record.partition)-\(record.offset) at \(record.timestamp)\(arrival) "
                    + "\(key): \(value)"
            )
        }
        return records
    }

    private func read(text: String) throws -> [String] {
        try read([try folder.file("r.ndjson", text)])
    }

    private func gzip(_ path: String) throws -> [UInt8] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/gzip")
        process.arguments = ["-c", path]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return [UInt8](data)
    }

    @Test func `a value is an object's own bytes, raw text, bytes in base64, or null`() throws {
        let records = try read(
            text: """
                {"partition":0,"offset":0,"timestamp":5,"key":"7","value":{ "user_id" : 7.0e1 } }
                {"partition":0,"offset":1,"timestamp":null,"key":null,"value":"{\\"a\\": \\u0041"}
                {"value_base64":"aGk=","key":"é\\n","timestamp":-3,"offset":9,"partition":1,"x":[]}

                {"partition":2,"offset":0,"timestamp":5,"key":"","value":null,"arrived_at":77}
                """
        )
        #expect(
            records == [
                "0-0 at 5 7: { \"user_id\" : 7.0e1 }", "0-1 at -1 null: {\"a\": A",
                "1-9 at -3 é\n: hi", "2-0 at 5 arrived 77 : null",
            ]
        )
    }

    @Test func `what one record holds is not seen in the next`() throws {
        let records = try read(
            text: """
                {"partition":0,"offset":0,"timestamp":5,"key":"long","value":"text","arrived_at":1}
                {"partition":0,"offset":1,"timestamp":6,"key":null,"value":null}
                {"partition":0,"offset":2,"timestamp":6,"key":"k","value":"v"}
                """
        )
        #expect(
            records == [
                "0-0 at 5 arrived 1 long: text", "0-1 at 6 null: null", "0-2 at 6 k: v",
            ]
        )
    }

    @Test(
        arguments: [
            ("x", "no record, unexpected byte at byte 0"),
            ("[1]", "no record, a value of another kind at byte 0"),
            ("#}", "no record, something after the value"),
            ("{\"partition\":0", "no record, unexpected end"),
            ("{}", "partition is missing; allowed: an integer from 0 to 2147483647"),
            ("{\"partition\":\"0\"}", "partition at byte 13: not allowed; allowed: an integer"),
            ("{\"partition\":-1}", "partition at byte 13: not allowed; allowed: an integer"),
            ("{\"partition\":2147483648}", "partition at byte 13"),
            ("{\"partition\":null}", "partition at byte 13"),
            ("{\"offset\":1.0}", "offset at byte 10: not allowed; allowed: an integer, 0 or"),
            ("{\"offset\":-1}", "offset at byte 10"),
            ("{\"offset\":9223372036854775808}", "offset at byte 10"),
            ("{\"timestamp\":\"5\"}", "timestamp at byte 13"),
            ("{\"arrived_at\":true}", "arrived_at at byte 14"),
            ("{\"key\":7}", "key at byte 7: not allowed; allowed: a string or null"),
            ("{\"value\":7}", "value at byte 9: not allowed; allowed: an object, a string"),
            ("{\"value\":[]}", "value at byte 9"),
            ("{\"value\":false}", "value at byte 9"),
            ("{\"value_base64\":\"a\"}", "value_base64 at byte 16"),
            ("{\"value_base64\":\"aGk\"}", "value_base64 at byte 16"),
            ("{\"value_base64\":\"aGl=\"}", "value_base64 at byte 16"),
            ("{\"value_base64\":\"a=k=\"}", "value_base64 at byte 16"),
            ("{\"value_base64\":null}", "value_base64 at byte 16"),
        ]
    )
    func `a line that is no record is told with what is allowed`(
        line: String,
        detail: String
    ) throws {
        let good = "{\"partition\":0,\"offset\":0,\"timestamp\":5,\"key\":\"7\",\"value\":{}}"
        let text = "\n\(good)\n\(line.replacing("#", with: good))\n"
        let failure = #expect(throws: RecordingError.self) { try read(text: text) }
        #expect(failure?.line == 3)
        #expect(failure?.detail.hasPrefix(detail) == true, "\(failure?.detail ?? "")")
    }

    @Test(
        arguments: [
            ("key", "key is missing; allowed: a string or null"),
            ("value", "value or value_base64 is missing"), ("offset", "offset is missing"),
            ("timestamp", "timestamp is missing"), ("partition", "partition is missing"),
        ]
    )
    func `a missing field is named`(field: String, detail: String) throws {
        let fields = [
            ("partition", "0"), ("offset", "0"), ("timestamp", "5"), ("key", "null"),
            ("value", "null"),
        ]
        let text = fields.filter { $0.0 != field }.map { "\"\($0.0)\":\($0.1)" }
            .joined(separator: ",")
        let failure = #expect(throws: RecordingError.self) { try read(text: "{\(text)}") }
        #expect(failure?.detail.hasPrefix(detail) == true)
        #expect(failure?.line == 1)
    }

    @Test func `two values of one record are refused`() throws {
        let text =
            "{\"partition\":0,\"offset\":0,\"timestamp\":5,\"key\":\"7\",\"value\":{},"
            + "\"value_base64\":\"\"}"
        let failure = #expect(throws: RecordingError.self) { try read(text: text) }
        #expect(
            failure?.detail == "value and value_base64 are both given; allowed: one of them"
        )
    }

    @Test func `offsets of a partition must rise, over several files too`() throws {
        func line(_ partition: Int, _ offset: Int) -> String {
            "{\"partition\":\(partition),\"offset\":\(offset),\"timestamp\":5,\"key\":null,"
                + "\"value\":null}\n"
        }
        let first = try folder.file("a", line(0, 5) + line(1, 0) + line(0, 9))
        let second = try folder.file("b", line(1, 1) + line(0, 10))
        #expect(try read([first, second]).count == 5)
        let failure = #expect(throws: RecordingError.self) { try read([first, second, second]) }
        #expect(
            failure?.description
                == "\(second):1: offset 1 of partition 1 does not rise, the one before is 1; "
                + "allowed: more than that"
        )
    }

    @Test func `packed files are unpacked, in one member or several`() throws {
        let lines = (0..<5_000).map {
            "{\"partition\":0,\"offset\":\($0),\"timestamp\":5,\"key\":\"\($0 * 7919)\","
                + "\"value\":{}}\n"
        }
        let whole = try folder.file("whole", lines.joined())
        let expected = try read([whole])
        #expect(expected.count == 5_000)
        let packed = try gzip(whole)
        #expect(try read([try folder.file("one.gz", packed)]) == expected)
        let halves = try [lines[..<2_000], lines[2_000...]].map { half in
            try gzip(try folder.file("half", half.joined()))
        }
        #expect(try read([try folder.file("two.gz", halves.joined())]) == expected)

        let cut = try folder.file("cut.gz", packed.dropLast(10))
        let failure = #expect(throws: RecordingError.self) { try read([cut]) }
        #expect(failure?.detail == "the packed file is cut off")
        var damaged = packed
        damaged[packed.count / 2] ^= 0xFF
        #expect(throws: RecordingError.self) { try read([try folder.file("bad.gz", damaged)]) }
    }

    @Test func `lines are found wherever the chunks end`() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        var text = ""
        var expected: [String] = []
        for offset in 0..<300 {
            let value = String(repeating: "x", count: Int.random(in: 0...3_000, using: &random))
            text += "{\"partition\":0,\"offset\":\(offset),\"timestamp\":5,\"key\":null,"
            text += "\"value\":\"\(value)\"}" + (Bool.random(using: &random) ? "\r\n" : "\n")
            expected.append("0-\(offset) at 5 null: \(value)")
        }
        #expect(try read(text: text) == expected, "seed \(seed)")
        text.removeLast()
        #expect(try read(text: text) == expected, "seed \(seed), without the last line end")
    }

    @Test func `an empty file holds no records`() throws {
        #expect(try read(text: "").isEmpty)
        #expect(try read(text: "\n \n").isEmpty)
        #expect(try read(["/dev/null"]).isEmpty)
    }

    @Test func `a conformance document gives its records and its configuration`() throws {
        let path = try folder.file(
            "d.json",
            """
            {
              "name": "n", "why": "w",
              "config": {"combo.lanes": 3, "combo.memory": "1s"},
              "records": [
                {"partition": 0, "offset": 0, "timestamp": 5, "key": "7", "value": {"a": 1}},
                {"partition": 0, "offset": 1, "timestamp": 6, "key": "7", "value": "{"}
              ],
              "commands": [{}], "dead_letters": []
            }
            """
        )
        let reader = try RecordingReader(paths: [path])
        #expect(reader.document?.path == path)
        #expect(
            reader.document?.config.map { "\($0.key)=\($0.value)" }
                == ["combo.lanes=3", "combo.memory=1s"]
        )
        #expect(try read([path]) == ["0-0 at 5 7: {\"a\": 1}", "0-1 at 6 7: {"])
        let failure = #expect(throws: RecordingError.self) { try read([path, path]) }
        #expect(failure?.detail.hasPrefix("a conformance document; allowed: it alone") == true)
    }

    @Test(
        arguments: [
            (
                "{\n\"name\": \"n\",\n\"records\": [\n{\"partition\": \"0\"}\n]\n}", 4,
                "partition at"
            ),
            ("{\n\"name\": \"n\",\n\"records\": [\n}", 4, "no conformance document, unexpected"),
            ("{\"config\": 7}", 1, "no conformance document, a value of another kind"),
            ("{\"name\": \"n\"}\n{}", 2, "no conformance document, something after the value"),
            ("{\"name\": \"n\",", 1, "no conformance document, unexpected end"),
        ]
    )
    func `a document's mistake is told by its line`(
        text: String,
        line: Int,
        detail: String
    ) throws {
        let failure = #expect(throws: RecordingError.self) { try read(text: text) }
        #expect(failure?.line == line)
        #expect(failure?.detail.hasPrefix(detail) == true, "\(failure?.detail ?? "")")
    }

    @Test func `a document's offsets must rise, told by the record's line`() throws {
        let record = "{\"partition\":0,\"offset\":4,\"timestamp\":5,\"key\":\"7\",\"value\":{}}"
        let text = "{\"name\": \"n\",\n\"records\": [\n\(record),\n\(record)]}"
        let failure = #expect(throws: RecordingError.self) { try read(text: text) }
        #expect(failure?.line == 4)
    }

    @Test func `a missing file and a folder are told`() throws {
        let missing = #expect(throws: RecordingError.self) { try read([folder.path("none")]) }
        #expect(missing?.description == "\(folder.path("none")): No such file or directory")
        let directory = #expect(throws: RecordingError.self) { try read([folder.path]) }
        #expect(directory?.description == "\(folder.path): Is a directory")
    }

    @Test(
        arguments: [
            ("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYg==", "foob"),
            ("Zm9vYmE=", "fooba"), ("Zm9vYmFy", "foobar"), ("Zm9v\n", nil), ("Zg=", nil),
            ("Zg", nil), ("Zh==", nil), ("=", nil), ("====", nil), ("Z===", nil), ("Zm-_", nil),
        ]
    )
    func `base64 is read as RFC 4648 has it`(text: String, bytes: String?) {
        #expect(decodeBase64(Array(text.utf8)) == bytes.map { Array($0.utf8) })
    }
}
