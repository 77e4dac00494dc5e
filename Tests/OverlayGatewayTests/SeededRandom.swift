/// A random generator (SplitMix64) that gives the same numbers for the same seed.
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to, not including, `bound`.
    mutating func below(_ bound: Int) -> Int {
        Int.random(in: 0..<bound, using: &self)
    }
}

/// Seeds of the randomised tests: three that stay, and one that is new in each run.
let seeds: [UInt64] = {
    let new = UInt64.random(in: 1_000...UInt64.max)
    print("randomised tests of OverlayGateway: this run's own seed is \(new)")
    return [1, 2, 3, new]
}()
