/// Where a key's state lies.
struct KeyReference: Equatable, BitwiseCopyable {
    fileprivate var bits: UInt32

    static func live(_ index: UInt32) -> KeyReference { KeyReference(bits: index << 1) }
    static func remembered(_ index: UInt32) -> KeyReference { KeyReference(bits: index << 1 | 1) }

    var isRemembered: Bool { bits & 1 == 1 }
    var index: UInt32 { bits >> 1 }
}

/// The index from key hashes to cells: open addressing with linear probing.
///
/// An entry holds half of the hash's low word (its tag, which also says where the entry wants to
/// be) beside the reference, so that a probe rarely looks at a cell that is not the one. Removal
/// moves later entries back; nothing is left behind, and probes stay short for ever. At most seven
/// eighths are full.
struct KeyTable: ~Copyable {
    /// Tag in the upper half, reference + 1 in the lower; 0: empty.
    private var entries: Slab<UInt64>
    private var mask: Int
    private(set) var count = 0

    init(capacity: Int) {
        entries = Slab(capacity: 16, filledWith: 0)
        mask = 15
        reserve(capacity)
    }

    /// Where the search for `key` begins.
    @inline(__always)
    func firstSlot(_ key: KeyHash) -> Int {
        Int(truncatingIfNeeded: key.low & 0xffff_ffff) & mask
    }

    /// The next entry from `slot` on that may be `key`'s, nil where there is none.
    ///
    /// `slot` is left at the entry.
    @inline(__always)
    func candidate(_ key: KeyHash, at slot: inout Int) -> KeyReference? {
        let tag = key.low & 0xffff_ffff
        while true {
            let entry = entries[slot]
            if entry == 0 { return nil }
            if entry >> 32 == tag { return Self.reference(entry) }
            slot = (slot + 1) & mask
        }
    }

    /// Goes on after a candidate that was not the key.
    @inline(__always)
    func slot(after slot: Int) -> Int { (slot + 1) & mask }

    /// Adds a key that is not in the table.
    mutating func insert(_ key: KeyHash, _ reference: KeyReference) {
        reserve(count + 1)
        count += 1
        place(Self.entry(key, reference))
    }

    /// Points the entry at `slot` to another cell.
    mutating func replace(at slot: Int, _ key: KeyHash, _ reference: KeyReference) {
        entries[slot] = Self.entry(key, reference)
    }

    /// Takes the entry at `slot` out.
    mutating func remove(at slot: Int) {
        count -= 1
        var hole = slot
        var next = (slot + 1) & mask
        while entries[next] != 0 {
            // An entry may move back to the hole unless its own home lies behind the hole.
            let home = Int(truncatingIfNeeded: entries[next] >> 32) & mask
            if (next &- home) & mask >= (next &- hole) & mask {
                entries[hole] = entries[next]
                hole = next
            }
            next = (next + 1) & mask
        }
        entries[hole] = 0
    }

    /// Bytes held.
    var byteCount: Int { entries.byteCount }

    private mutating func reserve(_ wanted: Int) {
        guard wanted > (mask + 1) / 8 * 7 else { return }
        var size = (mask + 1) * 2
        while wanted > size / 8 * 7 { size *= 2 }
        var old = Slab<UInt64>(capacity: size, filledWith: 0)
        swap(&old, &entries)
        let oldSize = mask + 1
        mask = size - 1
        for slot in 0..<oldSize where old[slot] != 0 { place(old[slot]) }
    }

    private mutating func place(_ entry: UInt64) {
        var slot = Int(truncatingIfNeeded: entry >> 32) & mask
        while entries[slot] != 0 { slot = (slot + 1) & mask }
        entries[slot] = entry
    }

    private static func entry(_ key: KeyHash, _ reference: KeyReference) -> UInt64 {
        key.low << 32 | UInt64(reference.bits + 1)
    }

    private static func reference(_ entry: UInt64) -> KeyReference {
        KeyReference(bits: UInt32(truncatingIfNeeded: entry) - 1)
    }
}
