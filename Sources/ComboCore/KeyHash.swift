/// A combo key, or an id, as 128 bits of hash; the same in every process and version.
///
/// Keys are compared by this hash alone: of a billion keys the chance that any two meet is below
/// 10⁻²⁰. It is written to the changelog, so the function must never change.
package struct KeyHash: Hashable, Sendable, BitwiseCopyable {
    /// The first 64 bits as they are written.
    package var high: UInt64
    /// The last 64 bits.
    package var low: UInt64

    /// Creates a hash from its two words.
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The hash of one text.
    package init(_ text: Text) {
        var hasher = KeyHasher()
        hasher.absorb(text)
        self = hasher.finish()
    }

    /// The low word of the hash of one text.
    @inline(__always)
    static func low(_ text: Text) -> UInt64 {
        var hasher = KeyHasher()
        hasher.absorb(text)
        return hasher.finishLow()
    }
}

/// Hashes a sequence of texts and numbers; where one text ends and the next begins counts.
///
/// Up to 16 bytes a step go through one 64 × 64 → 128-bit multiplication, both halves of whose
/// product are kept: a text of an id's length takes one.
struct KeyHasher {
    private var a: UInt64 = 0x9ae1_6a3b_2f90_404f
    private var b: UInt64 = 0xc3a5_c85c_97cb_3127

    /// Takes in a text, its length with it.
    @inline(__always)
    mutating func absorb(_ text: Text) {
        let count = text.count
        let start = unsafe text.start
        guard count > 0 else {
            a = (a ^ 0x2d35_8dcc_aa6c_78a5) &* 0x9fb2_1c65_1e98_df25
            return
        }
        if count > 16 {
            // By value, so that the state stays in registers.
            self = unsafe absorbing(start, count)
        } else if count >= 8 {
            mix(unsafe word(start), unsafe word(start + count - 8), count)
        } else if count >= 4 {
            let first = unsafe start.loadUnaligned(as: UInt32.self)
            let last = unsafe (start + count - 4).loadUnaligned(as: UInt32.self)
            mix(UInt64(first.littleEndian), UInt64(last.littleEndian), count)
        } else {
            let first = UInt64(unsafe start.load(as: UInt8.self))
            let middle = UInt64(unsafe start.load(fromByteOffset: count &>> 1, as: UInt8.self))
            let last = UInt64(unsafe start.load(fromByteOffset: count &- 1, as: UInt8.self))
            mix(first | middle << 8 | last << 16, 0, count)
        }
    }

    /// Takes in a number.
    @inline(__always)
    mutating func absorb(_ number: UInt64) {
        mix(number, 0, 0)
    }

    @inline(__always)
    func finish() -> KeyHash {
        KeyHash(
            high: fold(a ^ 0xd6e8_feb8_6659_fd93, b ^ 0xa076_1d64_78bd_642f),
            low: fold(b ^ 0xe703_7ed1_a0b4_28db, a ^ 0x8ebc_6af0_9c88_c6e3)
        )
    }

    /// Only the low word of ``finish()``.
    @inline(__always)
    func finishLow() -> UInt64 {
        fold(b ^ 0xe703_7ed1_a0b4_28db, a ^ 0x8ebc_6af0_9c88_c6e3)
    }

    @inline(never)
    private func absorbing(_ start: UnsafeRawPointer, _ count: Int) -> KeyHasher {
        var hasher = self
        var offset = 0
        while offset < count - 16 {
            hasher.mix(unsafe word(start + offset), unsafe word(start + offset + 8), 0)
            offset += 16
        }
        // The last sixteen bytes, which may overlap those before.
        hasher.mix(unsafe word(start + count - 16), unsafe word(start + count - 8), count)
        return hasher
    }

    @inline(__always)
    private mutating func mix(_ first: UInt64, _ second: UInt64, _ count: Int) {
        let x = a ^ first
        let y = b ^ second &+ UInt64(truncatingIfNeeded: count) &* 0x9e37_79b9_7f4a_7c15
        let product = (x ^ 0x5899_65cc_7537_4cc3).multipliedFullWidth(by: y ^ 0x1d8e_4e27_c47d_124f)
        // The factors too: a product alone does not tell one from the other, nor from 0.
        a = product.high ^ (y &<< 32 | y &>> 32)
        b = product.low &+ x
    }

    @inline(__always)
    private func fold(_ x: UInt64, _ y: UInt64) -> UInt64 {
        let product = x.multipliedFullWidth(by: y)
        return product.high ^ product.low
    }

    @inline(__always)
    private func word(_ pointer: UnsafeRawPointer) -> UInt64 {
        unsafe pointer.loadUnaligned(as: UInt64.self).littleEndian
    }
}
