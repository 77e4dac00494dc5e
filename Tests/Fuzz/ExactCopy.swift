/// Calls `body` with a copy of `bytes` that ends where its memory ends, so that the sanitizer sees
/// each byte read beyond it.
///
/// Nil is passed on as a buffer without a base address.
func withExactCopy<R>(
    of bytes: UnsafeRawBufferPointer?,
    _ body: (UnsafeRawBufferPointer) -> R
) -> R {
    guard let bytes = unsafe bytes else {
        return unsafe body(UnsafeRawBufferPointer(start: nil, count: 0))
    }
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    defer { unsafe copy.deallocate() }
    unsafe copy.copyMemory(from: bytes)
    return unsafe body(UnsafeRawBufferPointer(copy))
}

/// Ends the run with a finding unless `condition` holds.
func demand(_ condition: Bool, _ sentence: @autoclosure () -> String) {
    if !condition { fatalError(sentence()) }
}
