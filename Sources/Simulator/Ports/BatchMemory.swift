internal import StreamPorts

/// The bytes of one batch, at addresses that stay until the next.
@safe
final class BatchMemory {
    private struct Piece {
        var partition: Int32
        var record: LogRecord
    }

    private var bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 1)
    private var views = UnsafeMutableBufferPointer<RecordView>.allocate(capacity: 64)
    private var pieces: [Piece] = []

    deinit {
        unsafe bytes.deallocate()
        unsafe views.deallocate()
    }

    var count: Int { pieces.count }

    func removeAll() { pieces.removeAll(keepingCapacity: true) }

    func append(_ record: LogRecord, partition: Int32) {
        pieces.append(Piece(partition: partition, record: record))
    }

    /// The records appended since the last ``removeAll()``; valid until the next.
    func makeBatch() -> RecordBatch {
        var size = 1
        for piece in pieces {
            size += (piece.record.key?.count ?? 0) + (piece.record.value?.count ?? 0)
        }
        if unsafe size > bytes.count {
            unsafe bytes.deallocate()
            unsafe bytes = .allocate(byteCount: size * 2, alignment: 1)
        }
        if unsafe pieces.count > views.count {
            unsafe views.deallocate()
            unsafe views = .allocate(capacity: pieces.count * 2)
        }
        var position = 0
        for (index, piece) in pieces.enumerated() {
            let view = unsafe RecordView(
                partition: piece.partition,
                offset: piece.record.offset,
                timestampMilliseconds: piece.record.timestamp,
                key: copy(piece.record.key, to: &position),
                value: copy(piece.record.value, to: &position)
            )
            unsafe views.initializeElement(at: index, to: view)
        }
        return unsafe RecordBatch(UnsafeBufferPointer(rebasing: views[..<pieces.count]))
    }

    private func copy(_ source: [UInt8]?, to position: inout Int) -> UnsafeRawBufferPointer {
        guard let source else { return unsafe UnsafeRawBufferPointer(start: nil, count: 0) }
        let target = unsafe UnsafeMutableRawBufferPointer(
            rebasing: bytes[position..<position + source.count]
        )
        unsafe target.copyBytes(from: source)
        position += source.count
        return unsafe UnsafeRawBufferPointer(
            start: bytes.baseAddress.map { unsafe $0 + position - source.count },
            count: source.count
        )
    }
}
