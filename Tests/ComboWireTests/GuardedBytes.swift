import Glibc

/// Memory behind whose last byte lies a page that cannot be read, so that reading on is noticed.
@safe
final class GuardedBytes {
    private let memory: UnsafeMutableRawPointer
    private let capacity: Int
    private let pageSize = 4096

    /// Makes room for up to `capacity` bytes.
    init(capacity: Int) {
        self.capacity = (capacity + pageSize - 1) / pageSize * pageSize
        guard
            let mapped = unsafe mmap(
                nil,
                self.capacity + pageSize,
                PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS,
                -1,
                0
            ), unsafe mapped != MAP_FAILED
        else { fatalError("no memory") }
        unsafe memory = mapped
        unsafe mprotect(memory + self.capacity, pageSize, PROT_NONE)
    }

    deinit {
        unsafe munmap(memory, capacity + pageSize)
    }

    /// Calls `body` with a copy of `bytes` directly before the page that cannot be read.
    func withCopy<R>(of bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R
    {
        precondition(bytes.count <= capacity)
        let target = unsafe UnsafeMutableRawBufferPointer(
            start: memory + (capacity - bytes.count),
            count: bytes.count
        )
        unsafe target.copyBytes(from: bytes)
        return unsafe try body(UnsafeRawBufferPointer(target))
    }
}
