/// A growing array of plain values, addressed by index, owned by exactly one place.
///
/// It stands in for `ContiguousArray` on the record path: no reference count, no uniqueness check,
/// and it grows by an eighth once it is large, so that memory follows the load. Every access is
/// checked against the capacity.
@safe
struct Slab<Element: BitwiseCopyable>: ~Copyable {
    private var base: UnsafeMutablePointer<Element>
    private(set) var capacity: Int

    init(capacity: Int, filledWith element: Element) {
        self.capacity = capacity
        unsafe base = .allocate(capacity: capacity)
        unsafe base.initialize(repeating: element, count: capacity)
    }

    deinit {
        unsafe base.deallocate()
    }

    /// Accessed by address, so that who reads one field of an element copies no other.
    subscript(_ index: Int) -> Element {
        @inline(__always) unsafeAddress { unsafe UnsafePointer(address(index)) }
        @inline(__always) unsafeMutableAddress { unsafe address(index) }
    }

    subscript(_ index: UInt32) -> Element {
        @inline(__always) unsafeAddress { unsafe UnsafePointer(address(Int(index))) }
        @inline(__always) unsafeMutableAddress { unsafe address(Int(index)) }
    }

    @inline(__always)
    fileprivate func address(_ index: Int) -> UnsafeMutablePointer<Element> {
        precondition(index >= 0 && index < capacity, "index outside the slab")
        return unsafe base + index
    }

    /// Makes room for `count` elements; new ones are `element`.
    mutating func reserve(_ count: Int, filledWith element: Element) {
        guard count > capacity else { return }
        let grown = max(count, capacity < 4096 ? capacity * 2 : capacity + capacity / 8)
        let moved = UnsafeMutablePointer<Element>.allocate(capacity: grown)
        unsafe moved.update(from: base, count: capacity)
        unsafe (moved + capacity).initialize(repeating: element, count: grown - capacity)
        unsafe base.deallocate()
        unsafe base = moved
        capacity = grown
    }

    /// Bytes held.
    var byteCount: Int { capacity * MemoryLayout<Element>.stride }
}

/// A value that can lie in a ``CellPool``.
protocol PoolCell: BitwiseCopyable {
    /// A cell that is in no use.
    static var vacant: Self { get }
    /// While the cell is in no use: the next cell in no use.
    var nextVacant: UInt32 { get set }
}

/// Cells that are taken and given back, addressed by index; a vacant cell is used again first.
struct CellPool<Cell: PoolCell>: ~Copyable {
    /// No cell.
    static var none: UInt32 { .max }

    private var cells: Slab<Cell>
    private var vacant: UInt32 = .max
    /// Cells that were ever in use lie below this index.
    private(set) var highWater: UInt32 = 0
    /// Cells in use.
    private(set) var count = 0

    init(capacity: Int) {
        cells = Slab(capacity: capacity, filledWith: .vacant)
    }

    subscript(_ index: UInt32) -> Cell {
        @inline(__always) unsafeAddress { unsafe UnsafePointer(cells.address(Int(index))) }
        @inline(__always) unsafeMutableAddress { unsafe cells.address(Int(index)) }
    }

    mutating func take() -> UInt32 {
        count += 1
        if vacant != Self.none {
            let index = vacant
            vacant = cells[index].nextVacant
            return index
        }
        let index = highWater
        precondition(index < UInt32.max >> 1, "more cells than an index can tell apart")
        highWater += 1
        cells.reserve(Int(highWater), filledWith: .vacant)
        return index
    }

    mutating func giveBack(_ index: UInt32) {
        count -= 1
        cells[index] = .vacant
        cells[index].nextVacant = vacant
        vacant = index
    }

    /// Bytes held.
    var byteCount: Int { cells.byteCount }
}
