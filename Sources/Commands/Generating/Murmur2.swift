/// The partition of a key, as Kafka's Java clients and librdkafka's `murmur2_random` compute it.
///
/// MurmurHash2 for 32 bits by Austin Appleby, with the seed of Kafka's `Utils.murmur2`.
enum Murmur2 {
    private static let seed: UInt32 = 0x9747_B28C
    private static let multiplier: UInt32 = 0x5BD1_E995

    /// The hash, as Java's `int`.
    static func hash(_ bytes: some RandomAccessCollection<UInt8>) -> Int32 {
        var hash = seed ^ UInt32(truncatingIfNeeded: bytes.count)
        var word: UInt32 = 0
        var filled: UInt32 = 0
        for byte in bytes {
            word |= UInt32(byte) << (8 * filled)
            filled += 1
            if filled == 4 {
                hash = hash &* multiplier ^ mixed(word)
                word = 0
                filled = 0
            }
        }
        if filled > 0 {
            hash = (hash ^ word) &* multiplier
        }
        hash ^= hash >> 13
        hash = hash &* multiplier
        hash ^= hash >> 15
        return Int32(bitPattern: hash)
    }

    /// The partition that a key which is not null belongs to.
    static func partition(
        ofKey key: some RandomAccessCollection<UInt8>,
        partitions: Int32
    ) -> Int32 {
        precondition(partitions > 0, "a topic has at least one partition")
        return (hash(key) & Int32.max) % partitions
    }

    private static func mixed(_ word: UInt32) -> UInt32 {
        let product = word &* multiplier
        return (product ^ (product >> 24)) &* multiplier
    }
}
