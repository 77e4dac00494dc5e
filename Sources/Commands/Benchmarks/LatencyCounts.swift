/// How often each latency was seen, in whole milliseconds; the last place is for all above.
struct LatencyCounts: Equatable {
    private var counts = [Int](repeating: 0, count: 10_001)
    /// How many were seen.
    private(set) var total = 0

    mutating func note(_ milliseconds: Int64) {
        counts[Int(min(max(milliseconds, 0), 10_000))] += 1
        total += 1
    }

    /// What `share` per thousand of them don't exceed, milliseconds.
    func quantile(perThousand share: Int) -> Int {
        let wanted = max(1, (total * share + 999) / 1_000)
        var sum = 0
        for (milliseconds, count) in counts.enumerated() {
            sum += count
            if sum >= wanted { return milliseconds }
        }
        return 0
    }
}
