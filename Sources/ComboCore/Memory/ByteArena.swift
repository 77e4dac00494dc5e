/// Blocks of bytes of any size in one growing region, addressed by 32-bit references.
///
/// Sizes are rounded up to classes: every multiple of 8 bytes up to 256, then four to a doubling. A
/// freed block waits in its class's list and is used again first, so that in steady state nothing
/// is allocated. The block does not know its size; whoever frees it says it again.
@safe
struct ByteArena: ~Copyable {
    /// A block's place, in units of 8 bytes.
    typealias Reference = UInt32

    /// No block.
    static let none: Reference = .max
    private static let unit = 8
    private static let exactClasses = 32
    private static let classCount = 128

    private var base: UnsafeMutableRawPointer
    private var capacityUnits: Int
    private var usedUnits = 0
    private var freed: Slab<Reference>

    init(capacity: Int) {
        capacityUnits = (capacity + Self.unit - 1) / Self.unit
        unsafe base = .allocate(byteCount: capacityUnits * Self.unit, alignment: Self.unit)
        freed = Slab(capacity: Self.classCount, filledWith: Self.none)
    }

    deinit {
        unsafe base.deallocate()
    }

    /// Bytes held.
    var byteCount: Int { capacityUnits * Self.unit }

    /// The size class of `byteCount`, and the units that its blocks have.
    static func sizeClass(of byteCount: Int) -> (index: Int, units: Int) {
        let units = max(1, (byteCount + unit - 1) / unit)
        if units <= exactClasses { return (units - 1, units) }
        // 33…40, 41…48, 49…56, 57…64, then steps of 16, of 32, and so on.
        let top = Int.bitWidth - 1 - (units - 1).leadingZeroBitCount
        let step = 1 << (top - 2)
        let rounded = (units + step - 1) / step * step
        let quarter = (rounded - (1 << top)) / step
        return (exactClasses + (top - 5) * 4 + quarter - 1, rounded)
    }

    mutating func allocate(_ byteCount: Int) -> Reference {
        let (index, units) = Self.sizeClass(of: byteCount)
        let reused = freed[index]
        if reused != Self.none {
            freed[index] = unsafe pointer(reused).load(as: Reference.self)
            return reused
        }
        if usedUnits + units > capacityUnits { grow(toHold: usedUnits + units) }
        let reference = Reference(usedUnits)
        usedUnits += units
        return reference
    }

    mutating func free(_ reference: Reference, _ byteCount: Int) {
        let (index, _) = Self.sizeClass(of: byteCount)
        unsafe pointer(reference).storeBytes(of: freed[index], as: Reference.self)
        freed[index] = reference
    }

    /// The block's first byte; valid until the next allocation.
    @inline(__always)
    func pointer(_ reference: Reference) -> UnsafeMutableRawPointer {
        precondition(Int(reference) < usedUnits, "no such block in the arena")
        return unsafe base + Int(reference) * Self.unit
    }

    private mutating func grow(toHold units: Int) {
        let grown = max(units, capacityUnits + capacityUnits / (capacityUnits < 65536 ? 1 : 8))
        precondition(grown < Int(Reference.max), "the arena outgrows its references")
        let moved = UnsafeMutableRawPointer.allocate(
            byteCount: grown * Self.unit,
            alignment: Self.unit
        )
        unsafe moved.copyMemory(from: base, byteCount: usedUnits * Self.unit)
        unsafe base.deallocate()
        unsafe base = moved
        capacityUnits = grown
    }
}
