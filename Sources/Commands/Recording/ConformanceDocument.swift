internal import ComboWire

/// The part of a conformance document that can be replayed: its configuration and its records.
///
/// What it expects (`commands`, `dead_letters`) is for those who compare.
struct ConformanceDocument: Sendable {
    /// What `--set` would say.
    private(set) var config: [(key: String, value: String)] = []
    /// In arrival order.
    private(set) var records: [RecordedRecord] = []
    /// The line at which each record begins.
    private(set) var lines: [Int] = []

    /// The names by which a document is told from a line of a recording.
    static let fields = ["name", "why", "config", "records", "commands", "dead_letters"]

    /// Reads a document.
    init(_ bytes: [UInt8]) throws(DocumentProblem) {
        let problem = unsafe bytes.span.withUnsafeBytes { unsafe read($0) }
        if let problem { throw problem }
    }

    private mutating func read(_ bytes: UnsafeRawBufferPointer) -> DocumentProblem? {
        var reader = unsafe JSONReader(bytes)
        var counter = unsafe LineCounter(bytes)
        let problem: RecordProblem?
        do {
            problem = try unsafe read(from: &reader, of: bytes, counter: &counter)
        } catch {
            let line = counter.line(at: error.position)
            return DocumentProblem(line: line, detail: "no conformance document, \(error.problem)")
        }
        // Of a record's problem the line of the record's start tells more.
        return problem.map { DocumentProblem(line: lines.last ?? 1, detail: $0.detail) }
    }

    private mutating func read(
        from reader: inout JSONReader,
        of bytes: UnsafeRawBufferPointer,
        counter: inout LineCounter
    )
        throws(JSONError) -> RecordProblem?
    {
        try reader.beginObject()
        while let name = try reader.nextField() {
            switch name {
            case "config": try unsafe readConfig(from: &reader, of: bytes)
            case "records":
                try reader.beginArray()
                while try reader.nextElement() {
                    _ = try reader.nextKind()
                    lines.append(counter.line(at: reader.position))
                    var record = RecordedRecord()
                    if let problem = try unsafe record.read(from: &reader, of: bytes) {
                        return problem
                    }
                    records.append(record)
                }
            default: try reader.skipValue()
            }
        }
        try reader.finish()
        return nil
    }

    private mutating func readConfig(
        from reader: inout JSONReader,
        of bytes: UnsafeRawBufferPointer
    ) throws(JSONError) {
        try reader.beginObject()
        while let key = try reader.nextField() {
            guard try reader.nextKind() != .string else {
                config.append((key, try reader.string()))
                continue
            }
            // A number is written as `--set` would have it.
            let range = try reader.skipValue()
            config.append((key, unsafe String(decoding: bytes[range], as: UTF8.self)))
        }
    }
}

/// What is wrong with a document, and where.
struct DocumentProblem: Error, Equatable {
    /// From 1.
    var line: Int
    var detail: String
}

/// Counts the lines of a text that is read from its start to its end.
@safe
private struct LineCounter {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0
    private var line = 1

    init(_ bytes: UnsafeRawBufferPointer) {
        unsafe self.bytes = bytes
    }

    /// The line of a position that is not before the last one that was asked for, from 1.
    mutating func line(at position: Int) -> Int {
        while self.position < position {
            unsafe line += bytes[self.position] == 0x0A ? 1 : 0
            self.position += 1
        }
        return line
    }
}
