internal import Glibc

/// A file that can't be used; the detail does not repeat its path.
struct FileError: Error, Equatable {
    var detail: String

    /// What the last failed call on this thread says.
    static func last() -> FileError {
        FileError(detail: unsafe String(cString: strerror(errno)))
    }
}

/// An open file descriptor that is closed with its owner; standard ones are left open.
struct OpenFile: ~Copyable {
    let descriptor: Int32
    private let isOwned: Bool

    /// Takes a descriptor that someone else closes.
    init(standard descriptor: Int32) {
        self.descriptor = descriptor
        isOwned = false
    }

    /// Opens a file to read; `-` is standard input.
    init(reading path: String) throws(FileError) {
        isOwned = path != "-"
        unsafe descriptor = isOwned ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO
        guard descriptor >= 0 else { throw .last() }
    }

    /// Length in bytes; nil: there is none, as with a pipe.
    var length: Int? {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG
        else { return nil }
        return Int(status.st_size)
    }

    /// Creates a file to write, or empties it.
    init(writing path: String) throws(FileError) {
        isOwned = true
        unsafe descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw .last() }
    }

    deinit {
        if isOwned {
            close(descriptor)
        }
    }

    /// Reads into the elements from `start` on, at most to the array's end, and returns how many
    /// bytes were read; 0: the end of the file.
    func read(into bytes: inout [UInt8], from start: Int) throws(FileError) -> Int {
        while true {
            let count = unsafe bytes.withUnsafeMutableBytes { buffer in
                let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[start...])
                return unsafe Glibc.read(descriptor, rest.baseAddress, rest.count)
            }
            if count >= 0 { return count }
            guard errno == EINTR else { throw .last() }
        }
    }
}

/// The bytes of a file of at most a mebibyte: configuration and secrets are small, and a device
/// that never ends must not be read to its end.
func readSmallFile(_ path: String) throws(FileError) -> [UInt8] {
    let limit = 1 << 20
    let file = try OpenFile(reading: path)
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        let count = try file.read(into: &chunk, from: 0)
        guard count > 0 else { return bytes }
        bytes.append(contentsOf: chunk[..<count])
        guard bytes.count <= limit else {
            throw FileError(detail: "larger than \(limit) bytes")
        }
    }
}
