internal import Glibc

/// Writes to a file descriptor through a buffer.
///
/// The first failure ends the writing: what follows is dropped. A reader that has gone away
/// (`| head`) is no mistake, only a reason to stop early; SIGPIPE must be ignored.
package final class Output {
    /// Why nothing more is written.
    package enum Failure: Equatable, Sendable {
        /// Whoever read has had enough.
        case readerGone
        /// The system's own words: no space left, and the like.
        case system(String)
    }

    /// Why nothing more is written; nil as long as all is well.
    package private(set) var failure: Failure?

    private let file: OpenFile
    private var buffer: [UInt8] = []

    /// How much is collected before it is written: a pipe's usual capacity.
    private static let flushSize = 1 << 16

    /// Writes to a file descriptor that someone else closes, as standard output.
    package init(standard descriptor: Int32) {
        file = OpenFile(standard: descriptor)
    }

    /// Creates a file, or empties it.
    init(path: String) throws(FileError) {
        file = try OpenFile(writing: path)
    }

    deinit {
        flush()
    }

    /// Whether there is a person who looks on.
    var isTerminal: Bool {
        isatty(file.descriptor) == 1
    }

    /// Appends text.
    package func write(_ text: String) {
        append(text.utf8)
    }

    /// Appends bytes.
    package func append(_ bytes: some Sequence<UInt8>) {
        guard failure == nil else { return }
        buffer.append(contentsOf: bytes)
        if buffer.count >= Output.flushSize {
            flush()
        }
    }

    /// Writes what has been collected.
    package func flush() {
        let result = unsafe buffer.withUnsafeBytes { unsafe write(all: $0) }
        buffer.removeAll(keepingCapacity: true)
        if failure == nil {
            failure = result
        }
    }

    private func write(all bytes: UnsafeRawBufferPointer) -> Failure? {
        var rest = unsafe bytes
        while unsafe !rest.isEmpty {
            let count = unsafe Glibc.write(file.descriptor, rest.baseAddress, rest.count)
            if count >= 0 {
                unsafe rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            } else if errno == EPIPE {
                return .readerGone
            } else if errno != EINTR {
                return .system(FileError.last().detail)
            }
        }
        return nil
    }
}
