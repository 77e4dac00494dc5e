internal import CZlib

/// Reads a file or standard input, unpacking it where it begins as gzip does.
final class InputBytes {
    /// How many bytes of the file have been read, packed ones if it is packed.
    private(set) var consumed = 0

    private let file: OpenFile
    /// The next bytes of the file, `start ..< end` of them not given out yet.
    private var chunk = [UInt8](repeating: 0, count: 1 << 16)
    private var start = 0
    private var end = 0
    private var inflater: Inflater?

    /// Opens a file; `-` is standard input.
    init(path: String) throws(FileError) {
        file = try OpenFile(reading: path)
        // A pipe may give its first byte alone; the second one decides.
        while end < 2, try refill() {}
        if end >= 2, chunk[0] == 0x1F, chunk[1] == 0x8B {
            inflater = Inflater()
        }
    }

    /// Length of the file in bytes; nil: it has none, as a pipe.
    var length: Int? { file.length }

    /// Appends the next bytes to `bytes`; false: the end is reached and nothing was appended.
    func appendNext(to bytes: inout [UInt8]) throws(FileError) -> Bool {
        guard let inflater else {
            if start == end, !(try refill()) { return false }
            bytes.append(contentsOf: chunk[start..<end])
            start = end
            return true
        }
        let before = bytes.count
        while bytes.count == before {
            if start == end, !(try refill()) {
                guard inflater.isAtMemberEnd else {
                    throw FileError(detail: "the packed file is cut off")
                }
                return false
            }
            start += try inflater.unpack(chunk[start..<end], to: &bytes)
        }
        return true
    }

    /// Reads on behind what is there, or from the start once all is given out; false: the end.
    private func refill() throws(FileError) -> Bool {
        if start == end {
            start = 0
            end = 0
        }
        let count = try file.read(into: &chunk, from: end)
        end += count
        consumed += count
        return count > 0
    }
}

/// Unpacks gzip members that follow each other (RFC 1952); owns zlib's state.
@safe
private final class Inflater {
    /// Whether the last member is complete and no other has begun.
    private(set) var isAtMemberEnd = false

    /// zlib keeps the address of its stream and refuses to work at another one.
    private let stream: UnsafeMutablePointer<z_stream>
    private var unpacked = [UInt8](repeating: 0, count: 1 << 16)

    /// The largest window, and a gzip header around it (zlib.h, `inflateInit2`).
    private static let gzipWindowBits: Int32 = 15 + 16

    init() {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        let status = unsafe inflateInit2_(
            stream,
            Inflater.gzipWindowBits,
            ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size)
        )
        precondition(status == Z_OK, "zlib has no memory, or another version than its header")
    }

    deinit {
        unsafe inflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Appends what can be unpacked at once; returns how many packed bytes that took.
    func unpack(
        _ packed: ArraySlice<UInt8>,
        to bytes: inout [UInt8]
    )
        throws(FileError) -> Int
    {
        if isAtMemberEnd {
            isAtMemberEnd = false
            unsafe inflateReset(stream)
        }
        var packed = packed
        let room = unpacked.count
        let (status, taken, given) = unsafe packed.withUnsafeMutableBytes { input in
            unsafe unpacked.withUnsafeMutableBytes { output in
                unsafe stream.pointee.next_in = input.baseAddress?.assumingMemoryBound(
                    to: UInt8.self
                )
                unsafe stream.pointee.avail_in = UInt32(input.count)
                unsafe stream.pointee.next_out =
                    output.baseAddress?.assumingMemoryBound(to: UInt8.self)
                unsafe stream.pointee.avail_out = UInt32(room)
                let status = unsafe inflate(stream, Z_NO_FLUSH)
                let taken = unsafe input.count - Int(stream.pointee.avail_in)
                let given = unsafe room - Int(stream.pointee.avail_out)
                return (status, taken, given)
            }
        }
        guard status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR else {
            throw FileError(detail: "the packed file is damaged")
        }
        isAtMemberEnd = status == Z_STREAM_END
        bytes.append(contentsOf: unpacked[..<given])
        return taken
    }
}
