/// Splits what it reads into lines, holding no more than the longest one and a chunk.
final class LineReader {
    /// Number of the current line, from 1; 0 before the first.
    private(set) var lineNumber = 0

    private let input: InputBytes
    private var buffer: [UInt8] = []
    /// The current line, without its line end.
    private var line = 0..<0
    /// Where the next line begins.
    private var next = 0
    private var isAtEnd = false

    /// The longest line: a record of the largest `input.max.bytes` would not be found in a
    /// recording, and a file without any line end must not fill the memory.
    private static let longestLine = 64 << 20

    /// Reads lines from `input`.
    init(_ input: InputBytes) {
        self.input = input
    }

    /// Moves to the next line; false behind the last one.
    func advance() throws(FileError) -> Bool {
        var searched = next
        while true {
            if let end = firstLineEnd(from: searched) {
                line = next..<end
                next = end + 1
                lineNumber += 1
                return true
            }
            searched = buffer.count
            guard !isAtEnd else {
                line = next..<buffer.count
                next = buffer.count
                guard !line.isEmpty else { return false }
                lineNumber += 1
                return true
            }
            guard buffer.count - next <= LineReader.longestLine else {
                throw FileError(
                    detail: "line \(lineNumber + 1) is longer than \(LineReader.longestLine) bytes"
                )
            }
            // What lies behind moves to the front, so that the buffer does not grow with the file.
            buffer.removeSubrange(..<next)
            searched -= next
            next = 0
            isAtEnd = !(try input.appendNext(to: &buffer))
        }
    }

    /// Whether the current line holds nothing but white space.
    var isBlank: Bool {
        buffer[line].allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
    }

    /// Gives the current line's bytes to `body`.
    func withLine<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        unsafe buffer.withUnsafeBytes { bytes in
            unsafe body(UnsafeRawBufferPointer(rebasing: bytes[line]))
        }
    }

    /// Reads until `isEnough` or the end, and gives all that is there, consuming nothing.
    func lookAhead(
        until isEnough: ([UInt8]) -> Bool
    )
        throws(FileError) -> [UInt8]
    {
        precondition(lineNumber == 0, "lines have been read already")
        while !isAtEnd, !isEnough(buffer) {
            isAtEnd = !(try input.appendNext(to: &buffer))
        }
        return buffer
    }

    private func firstLineEnd(from start: Int) -> Int? {
        buffer[start...].firstIndex(of: 0x0A)
    }
}
