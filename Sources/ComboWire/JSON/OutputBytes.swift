/// A growing buffer of bytes that is used again and again.
///
/// What is written piece by piece is reserved in one go: ``reserve(_:)`` hands out the space as
/// ``ReservedBytes``, the writes into it are checked only in debug builds, and ``commit(_:)``
/// stops the process if they went beyond it. After the first records nothing is allocated.
@safe
package struct OutputBytes: ~Copyable {
    private var storage: UnsafeMutableRawBufferPointer
    /// The number of bytes written.
    package private(set) var count = 0

    /// Creates an empty buffer with room for `capacity` bytes.
    package init(capacity: Int = 4096) {
        unsafe storage = .allocate(byteCount: max(capacity, 16), alignment: 16)
    }

    deinit {
        unsafe storage.deallocate()
    }

    /// The bytes written so far, valid until the next call that writes or reserves.
    package var bytes: UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(rebasing: storage[..<count])
    }

    /// Forgets the bytes, keeps the memory.
    package mutating func removeAll() {
        count = 0
    }

    /// Forgets the bytes from `newCount` on.
    package mutating func truncate(to newCount: Int) {
        precondition(newCount >= 0 && newCount <= count)
        count = newCount
    }

    /// Appends a copy of `source`, which must not lie in this buffer.
    package mutating func append(_ source: UnsafeRawBufferPointer) {
        var reserved = reserve(source.count)
        unsafe reserved.write(source)
        commit(reserved)
    }

    /// Makes sure that `byteCount` more bytes can be written without moving those that are there.
    package mutating func reserveCapacity(_ byteCount: Int) {
        if unsafe storage.count - count < byteCount { grow(byteCount) }
    }

    /// Makes room for `byteCount` more bytes behind those written.
    @inline(__always)
    mutating func reserve(_ byteCount: Int) -> ReservedBytes {
        if unsafe storage.count - count < byteCount { grow(byteCount) }
        return unsafe ReservedBytes(
            cursor: storage.baseAddress.unsafelyUnwrapped + count,
            end: storage.baseAddress.unsafelyUnwrapped + count + byteCount
        )
    }

    /// Keeps what was written into the space reserved last.
    @inline(__always)
    mutating func commit(_ reserved: ReservedBytes) {
        precondition(unsafe reserved.cursor <= reserved.end, "more was written than reserved")
        unsafe count = UnsafeRawPointer(reserved.cursor) - UnsafeRawPointer(start)
    }

    private var start: UnsafeMutableRawPointer {
        unsafe storage.baseAddress.unsafelyUnwrapped
    }

    @inline(never)
    private mutating func grow(_ byteCount: Int) {
        let capacity = max(count + byteCount, unsafe 2 * storage.count)
        let larger = UnsafeMutableRawBufferPointer.allocate(
            byteCount: capacity,
            alignment: 16
        )
        unsafe larger.copyMemory(from: bytes)
        unsafe storage.deallocate()
        unsafe storage = larger
    }
}
