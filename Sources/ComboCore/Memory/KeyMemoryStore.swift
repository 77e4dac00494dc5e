/// What keys remember: the hashes of their last event ids, and the highest totals of their streaks.
///
/// A key's memory is one block: a header, the total of the unnamed streak, up to four named streaks
/// (the least recently raised first) where there are any, and a ring of id hashes that doubles
/// until it is as long as the configuration allows.
struct KeyMemoryStore: ~Copyable {
    /// A key's block; ``none`` for a key that remembers nothing.
    typealias Reference = ByteArena.Reference

    static let none = ByteArena.none
    /// Streaks whose totals a key remembers.
    static let streaksMax = 4

    private struct Header: BitwiseCopyable {
        var idCapacity: UInt16 = 0
        var idCount: UInt16 = 0
        /// Where the oldest id lies; 0 until the ring is full.
        var oldest: UInt16 = 0
        /// Whether the block has room for streaks.
        var hasStreaks: UInt8 = 0
        var streakCount: UInt8 = 0

        var streakBytes: Int { hasStreaks == 0 ? 0 : 8 + 16 * KeyMemoryStore.streaksMax }
        var size: Int { 8 + streakBytes + 8 * Int(idCapacity) }
    }

    private var arena = ByteArena(capacity: 4096)
    private let idsMax: Int

    /// Creates a store whose keys remember `idsMax` event ids each.
    init(idsMax: Int) {
        self.idsMax = idsMax
    }

    /// Bytes held.
    var byteCount: Int { arena.byteCount }

    /// Whether `id` is among the key's last ones.
    @inline(__always)
    mutating func contains(_ reference: Reference, id: UInt64) -> Bool {
        guard reference != Self.none else { return false }
        let header = header(reference)
        var next = unsafe idsStart(reference, header)
        let end = unsafe next + Int(header.idCount)
        while unsafe next < end {
            if unsafe next.pointee == id { return true }
            unsafe next += 1
        }
        return false
    }

    /// Remembers `id`, forgetting the oldest where there is no room; answers where the memory is
    /// now.
    @inline(__always)
    mutating func add(_ reference: Reference, id: UInt64) -> Reference {
        if reference != Self.none {
            var head = header(reference)
            if head.idCount < head.idCapacity {
                unsafe idsStart(reference, head)[Int(head.idCount)] = id
                head.idCount &+= 1
                setHeader(reference, head)
                return reference
            }
        }
        return addBeyondCapacity(reference, id: id)
    }

    @inline(never)
    private mutating func addBeyondCapacity(_ reference: Reference, id: UInt64) -> Reference {
        guard idsMax > 0 else { return reference }
        var head = reference == Self.none ? Header() : header(reference)
        if Int(head.idCapacity) < idsMax {
            var grown = head
            grown.idCapacity = UInt16(min(idsMax, max(4, Int(head.idCapacity) * 2)))
            return add(move(reference, from: head, to: grown), id: id)
        }
        unsafe idsStart(reference, head)[Int(head.oldest)] = id
        head.oldest = head.oldest + 1 == head.idCapacity ? 0 : head.oldest + 1
        setHeader(reference, head)
        return reference
    }

    /// The highest total known of a streak, 0 where there is none; nil is the unnamed streak.
    mutating func total(_ reference: Reference, streak: UInt64?) -> Int64 {
        guard reference != Self.none else { return 0 }
        let header = header(reference)
        guard header.hasStreaks != 0 else { return 0 }
        guard let streak else {
            return unsafe arena.pointer(reference).load(fromByteOffset: 8, as: Int64.self)
        }
        let streaks = unsafe streaksStart(reference)
        for index in 0..<Int(header.streakCount) where unsafe streaks[index].id == streak {
            return unsafe streaks[index].total
        }
        return 0
    }

    /// Raises a streak's total; answers where the memory is now.
    mutating func raise(_ reference: Reference, streak: UInt64?, to total: Int64) -> Reference {
        var reference = reference
        var head = reference == Self.none ? Header() : header(reference)
        if head.hasStreaks == 0 {
            var grown = head
            grown.hasStreaks = 1
            reference = move(reference, from: head, to: grown)
            head = grown
        }
        guard let streak else {
            unsafe arena.pointer(reference).storeBytes(of: total, toByteOffset: 8, as: Int64.self)
            return reference
        }
        let streaks = unsafe streaksStart(reference)
        var count = Int(head.streakCount)
        var place = 0
        while place < count, unsafe streaks[place].id != streak { place += 1 }
        if place == count {
            if count == Self.streaksMax { place = 0 } else { count += 1 }
        }
        // The most recently raised one stands last.
        while place + 1 < count {
            unsafe streaks[place] = streaks[place + 1]
            place += 1
        }
        unsafe streaks[place] = StreakTotal(id: streak, total: total)
        head.streakCount = UInt8(count)
        setHeader(reference, head)
        return reference
    }

    /// Forgets the unnamed streak, as a combo's end does; answers whether anything is left.
    mutating func endCombo(_ reference: Reference) -> Bool {
        guard reference != Self.none else { return false }
        let header = header(reference)
        if header.hasStreaks != 0 {
            unsafe arena.pointer(reference).storeBytes(of: 0, toByteOffset: 8, as: Int64.self)
        }
        return header.idCount > 0 || header.streakCount > 0
    }

    mutating func remove(_ reference: Reference) {
        guard reference != Self.none else { return }
        arena.free(reference, header(reference).size)
    }

    /// The memory for writing it down; turns the ring so that the oldest id comes first.
    ///
    /// Valid until the next change of the store.
    mutating func view(_ reference: Reference) -> KeyMemoryView {
        guard reference != Self.none else { return KeyMemoryView() }
        var head = header(reference)
        let ids = unsafe UnsafeMutableBufferPointer(
            start: idsStart(reference, head),
            count: Int(head.idCount)
        )
        if head.oldest != 0 {
            unsafe reverse(ids, 0, Int(head.oldest))
            unsafe reverse(ids, Int(head.oldest), ids.count)
            unsafe reverse(ids, 0, ids.count)
            head.oldest = 0
            setHeader(reference, head)
        }
        let streaks = unsafe UnsafeBufferPointer(
            start: head.hasStreaks == 0 ? nil : streaksStart(reference),
            count: Int(head.streakCount)
        )
        return unsafe KeyMemoryView(
            unnamedTotal: total(reference, streak: nil),
            streaks: streaks,
            ids: UnsafeBufferPointer(ids)
        )
    }

    @inline(__always)
    private func header(_ reference: Reference) -> Header {
        unsafe arena.pointer(reference).load(as: Header.self)
    }

    @inline(__always)
    private func setHeader(_ reference: Reference, _ header: Header) {
        unsafe arena.pointer(reference).storeBytes(of: header, as: Header.self)
    }

    private func streaksStart(_ reference: Reference) -> UnsafeMutablePointer<StreakTotal> {
        unsafe (arena.pointer(reference) + 16).assumingMemoryBound(to: StreakTotal.self)
    }

    @inline(__always)
    private func idsStart(_ reference: Reference, _ header: Header) -> UnsafeMutablePointer<UInt64>
    {
        unsafe (arena.pointer(reference) + 8 + header.streakBytes)
            .assumingMemoryBound(to: UInt64.self)
    }

    /// Moves a block to a larger one; the ring is not turned, for it grows only while it is not.
    private mutating func move(_ old: Reference, from: Header, to: Header) -> Reference {
        let new = arena.allocate(to.size)
        setHeader(new, to)
        if to.hasStreaks != 0 {
            unsafe arena.pointer(new).storeBytes(of: 0, toByteOffset: 8, as: Int64.self)
        }
        guard old != Self.none else { return new }
        if from.hasStreaks != 0 {
            unsafe (arena.pointer(new) + 8).copyMemory(
                from: arena.pointer(old) + 8,
                byteCount: from.streakBytes
            )
        }
        unsafe idsStart(new, to).update(from: idsStart(old, from), count: Int(from.idCount))
        arena.free(old, from.size)
        return new
    }

    private func reverse(_ ids: UnsafeMutableBufferPointer<UInt64>, _ from: Int, _ to: Int) {
        var (low, high) = (from, to - 1)
        while low < high {
            unsafe ids.swapAt(low, high)
            low += 1
            high -= 1
        }
    }
}

/// The highest total of one streak.
package struct StreakTotal: BitwiseCopyable, Equatable {
    /// Hash of the streak's id.
    package var id: UInt64
    /// Its highest total.
    package var total: Int64

    /// Creates a streak's total.
    package init(id: UInt64, total: Int64) {
        self.id = id
        self.total = total
    }
}

/// What one key remembers, borrowed.
@safe
package struct KeyMemoryView: BitwiseCopyable {
    /// Highest total of the unnamed streak; 0: none.
    package var unnamedTotal: Int64 = 0
    /// Named streaks, the least recently raised first; at most four.
    package var streaks = unsafe UnsafeBufferPointer<StreakTotal>(start: nil, count: 0)
    /// Hashes of the last event ids, the oldest first.
    package var ids = unsafe UnsafeBufferPointer<UInt64>(start: nil, count: 0)

    /// Creates an empty memory.
    package init() {}

    /// Borrows a memory; the buffers stay valid for as long as the view is used.
    package init(
        unnamedTotal: Int64,
        streaks: UnsafeBufferPointer<StreakTotal>,
        ids: UnsafeBufferPointer<UInt64>
    ) {
        self.unnamedTotal = unnamedTotal
        unsafe self.streaks = streaks
        unsafe self.ids = ids
    }
}
