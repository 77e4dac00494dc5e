internal import ComboWire

/// What is wrong with a recording, and where.
package struct RecordingError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The file; `-` is standard input.
    package var path: String
    /// From 1; nil: the file as a whole.
    package var line: Int?
    /// What is wrong, and what is allowed.
    package var detail: String

    package var description: String {
        let name = path == "-" ? "standard input" : path
        return "\(name)\(line.map { ":\($0)" } ?? ""): \(detail)"
    }
}

/// Reads recorded records, from several files one after the other.
///
/// A file is either one record a line or a conformance document, which is then the only file; it
/// may be packed with gzip. Of files with lines only one line is held at a time.
package final class RecordingReader {
    /// The path of the document and what it configures; nil: the files hold lines.
    package private(set) var document: (path: String, config: [(key: String, value: String)])?

    private let paths: [String]
    /// Index of the file that is read.
    private var current = 0
    private var input: InputBytes
    private var content: Content
    private var lastOffsets: [Int32: Int64] = [:]

    private enum Content {
        case lines(LineReader)
        case document(ConformanceDocument, next: Int)
    }

    /// The largest document: it is read as a whole.
    private static let largestDocument = 64 << 20

    /// Opens the first file.
    package init(paths: [String]) throws(RecordingError) {
        precondition(!paths.isEmpty, "a recording is at least one file")
        self.paths = paths
        input = try RecordingReader.open(paths[0])
        content = .lines(LineReader(input))
        try detect()
    }

    /// How much of the current file has been read, 0 … 1; nil: there is no telling, as of a pipe.
    package var progress: Double? {
        input.length.map { Double(input.consumed) / Double(max($0, 1)) }
    }

    /// Reads the next record; false behind the last one.
    package func next(into record: inout RecordedRecord) throws(RecordingError) -> Bool {
        while true {
            if let line = try readNext(into: &record) {
                try check(record, line: line)
                return true
            }
            guard current + 1 < paths.count else { return false }
            current += 1
            input = try RecordingReader.open(paths[current])
            content = .lines(LineReader(input))
            try detect()
        }
    }

    /// Reads the next record of the current file and returns its line; nil behind the last one.
    private func readNext(into record: inout RecordedRecord) throws(RecordingError) -> Int? {
        switch content {
        case .document(let document, let next):
            guard next < document.records.count else { return nil }
            content = .document(document, next: next + 1)
            record = document.records[next]
            return document.lines[next]
        case .lines(let lines):
            while try advance(lines) {
                if lines.isBlank { continue }
                let problem = unsafe lines.withLine { unsafe record.read(line: $0) }
                guard let problem else { return lines.lineNumber }
                throw error(problem.detail, line: lines.lineNumber)
            }
            return nil
        }
    }

    private func advance(_ lines: LineReader) throws(RecordingError) -> Bool {
        do {
            return try lines.advance()
        } catch {
            throw self.error(error.detail, line: nil)
        }
    }

    /// Finds out what the current file holds.
    private func detect() throws(RecordingError) {
        guard let bytes = try documentBytes() else { return }
        guard paths.count == 1 else {
            throw error("a conformance document; allowed: it alone, no other file", line: nil)
        }
        do {
            let document = try ConformanceDocument(bytes)
            self.document = (paths[current], document.config)
            content = .document(document, next: 0)
        } catch {
            throw self.error(error.detail, line: error.line)
        }
    }

    /// All of the file if it is a document, as its first field's name tells; nil: it holds lines.
    private func documentBytes() throws(RecordingError) -> [UInt8]? {
        guard case .lines(let lines) = content else {
            preconditionFailure("a file is taken for lines until it is known")
        }
        let enoughForAName = 1 << 12
        let bytes: [UInt8]
        do {
            let head = try lines.lookAhead { $0.count >= enoughForAName }
            guard let name = firstFieldName(head), ConformanceDocument.fields.contains(name) else {
                return nil
            }
            bytes = try lines.lookAhead { $0.count > RecordingReader.largestDocument }
        } catch {
            throw self.error(error.detail, line: nil)
        }
        guard bytes.count <= RecordingReader.largestDocument else {
            throw error("longer than \(RecordingReader.largestDocument) bytes", line: nil)
        }
        return bytes
    }

    private func check(_ record: RecordedRecord, line: Int) throws(RecordingError) {
        if let last = lastOffsets[record.partition], record.offset <= last {
            throw error(
                "offset \(record.offset) of partition \(record.partition) does not rise, "
                    + "the one before is \(last); allowed: more than that",
                line: line
            )
        }
        lastOffsets[record.partition] = record.offset
    }

    private func error(_ detail: String, line: Int?) -> RecordingError {
        RecordingError(path: paths[current], line: line, detail: detail)
    }

    private static func open(_ path: String) throws(RecordingError) -> InputBytes {
        do {
            return try InputBytes(path: path)
        } catch {
            throw RecordingError(path: path, line: nil, detail: error.detail)
        }
    }
}

/// The name of the first field of the object that `bytes` begin with; nil: none is complete.
private func firstFieldName(_ bytes: [UInt8]) -> String? {
    unsafe bytes.span.withUnsafeBytes { bytes in
        var reader = unsafe JSONReader(bytes)
        do {
            try reader.beginObject()
            return try reader.nextField()
        } catch {
            return nil
        }
    }
}
