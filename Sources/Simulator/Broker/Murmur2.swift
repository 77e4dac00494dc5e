/// The hash by which Java clients choose a key's partition (MurmurHash2, 32 bits, seed 0x9747b28c).
///
/// Kafka's `DefaultPartitioner`; the algorithm is Austin Appleby's, in the public domain.
func murmur2(_ key: [UInt8]) -> UInt32 {
    let mix: UInt32 = 0x5bd1_e995
    var hash: UInt32 = 0x9747_b28c ^ UInt32(key.count)
    var index = 0
    while key.count - index >= 4 {
        var word = UInt32(key[index]) | UInt32(key[index + 1]) << 8
        word |= UInt32(key[index + 2]) << 16 | UInt32(key[index + 3]) << 24
        word = word &* mix
        word = (word ^ word >> 24) &* mix
        hash = hash &* mix ^ word
        index += 4
    }
    let rest = key.count - index
    if rest > 2 { hash ^= UInt32(key[index + 2]) << 16 }
    if rest > 1 { hash ^= UInt32(key[index + 1]) << 8 }
    if rest > 0 { hash = (hash ^ UInt32(key[index])) &* mix }
    hash = (hash ^ hash >> 13) &* mix
    return hash ^ hash >> 15
}

/// The partition of a key among `count`, as Java clients compute it.
func partition(ofKey key: [UInt8], count: Int) -> Int {
    Int(murmur2(key) & 0x7fff_ffff) % count
}
