/// A combo key, or an id, as 128 bits of hash; the same in every process and version.
///
/// Keys are compared by this hash alone: of a billion keys the chance that any two meet is below
/// 10⁻²⁰. It is written to the changelog, so the function must never change.
package struct KeyHash: Hashable, Sendable, BitwiseCopyable {
    /// The high.
    package var high: UInt64
    /// The low.
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
}

/// Hashes a sequence of texts and numbers; where one text ends and the next begins counts.
///
/// Two 64-bit states take 16 bytes a step, each through a 64 × 64 → 128-bit multiplication whose
/// halves are folded together.
struct KeyHasher {
    private var a: UInt64 = 0x9ae1_6a3b_2f90_404f
    private var b: UInt64 = 0xc3a5_c85c_97cb_3127

    /// Takes in a text, its length with it.
    @inline(__always)
    mutating func absorb(_ text: Text) {
        let count = text.count
        absorb(UInt64(truncatingIfNeeded: count))
        guard count > 0, let start = unsafe text.bytes.baseAddress else { return }
        var offset = 0
        while count - offset > 16 {
            mix(unsafe word(start + offset), unsafe word(start + offset + 8))
            offset += 16
        }
        let left = count - offset
        if left >= 8 {
            mix(unsafe word(start + offset), unsafe word(start + count - 8))
        } else if left >= 4 {
            let first = unsafe (start + offset).loadUnaligned(as: UInt32.self)
            let last = unsafe (start + count - 4).loadUnaligned(as: UInt32.self)
            mix(UInt64(first.littleEndian), UInt64(last.littleEndian))
        } else {
            let first = UInt64(unsafe start.load(fromByteOffset: offset, as: UInt8.self))
            let middle = UInt64(
                unsafe start.load(fromByteOffset: offset + left / 2, as: UInt8.self)
            )
            let last = UInt64(unsafe start.load(fromByteOffset: count - 1, as: UInt8.self))
            mix(first | middle << 8 | last << 16, 0)
        }
    }

    /// Takes in a number.
    @inline(__always)
    mutating func absorb(_ number: UInt64) {
        a = (a ^ number) &* 0x9fb2_1c65_1e98_df25
        b = (b &+ number) ^ (a &>> 29)
    }

    func finish() -> KeyHash {
        KeyHash(
            high: fold(a ^ 0xd6e8_feb8_6659_fd93, b ^ 0xa076_1d64_78bd_642f),
            low: fold(b ^ 0xe703_7ed1_a0b4_28db, a ^ 0x8ebc_6af0_9c88_c6e3)
        )
    }

    @inline(__always)
    private mutating func mix(_ first: UInt64, _ second: UInt64) {
        let previous = a
        a = fold(a ^ first, second ^ 0x5899_65cc_7537_4cc3)
        b = fold(b ^ second ^ 0x1d8e_4e27_c47d_124f, first ^ previous ^ 0xeb44_acca_b455_d165)
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
