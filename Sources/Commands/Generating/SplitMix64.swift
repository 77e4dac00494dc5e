/// A generator of pseudo-random numbers that gives the same ones on every machine.
///
/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014). Only
/// integers are made of it: a logarithm may differ in its last bit from one C library to the next.
struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number in `0 ..< bound`, each as likely as the others but for less than one in 2³².
    mutating func below(_ bound: Int) -> Int {
        precondition(bound > 0, "a number below 1 can't be drawn")
        return Int(next().multipliedFullWidth(by: UInt64(bound)).high)
    }

    /// A number within bounds.
    mutating func within(_ bounds: ClosedRange<Int>) -> Int {
        bounds.lowerBound + below(bounds.count)
    }

    /// True as often as the share says.
    mutating func chance(_ share: Share) -> Bool {
        below(Share.whole) < share.millionths
    }
}

/// A part of a whole, exact to a millionth.
struct Share: Equatable, Sendable {
    static let whole = 1_000_000
    static let nothing = Share(millionths: 0)

    var millionths: Int

    /// Reads a percentage: `1`, `0.5` or `2.5%`, at most four places; nil: it is none.
    init?(percent text: String) {
        let digits = text.hasSuffix("%") ? text.dropLast() : text[...]
        let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), (1...3).contains(parts[0].count),
            parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } })
        else { return nil }
        let places = parts.count == 2 ? parts[1] : "0"
        guard (1...4).contains(places.count), let whole = Int(parts[0]),
            let rest = Int(places + String(repeating: "0", count: 4 - places.count))
        else { return nil }
        millionths = whole * 10_000 + rest
        guard millionths <= Share.whole else { return nil }
    }

    init(millionths: Int) {
        self.millionths = millionths
    }
}
