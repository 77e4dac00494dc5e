/// Where the demo shows what happens.
enum DemoView {
    /// A screen that is drawn anew several times a second.
    case screen(Terminal, DemoScreen)
    /// Each command as it was published, a line each.
    case lines
    /// Sentences.
    case story(StoryTeller)
}

/// Keeps the times from a gift to its command, the latest of them.
struct LatencyWindow {
    private var samples: [Int64] = []
    private var next = 0
    private static let capacity = 1_000

    /// Takes a latency, milliseconds.
    mutating func add(_ latency: Int64) {
        if samples.count < Self.capacity {
            samples.append(latency)
        } else {
            samples[next] = latency
            next = (next + 1) % Self.capacity
        }
    }

    /// The latency that `percent` of the latest ones don't exceed; nil: there are none.
    func percentile(_ percent: Int) -> Int64? {
        guard !samples.isEmpty else { return nil }
        let sorted = samples.sorted()
        return sorted[(sorted.count - 1) * percent / 100]
    }
}

/// Counts events by the second.
struct RateWindow {
    private var times: [Int64] = []

    /// Takes an event at `now`, milliseconds.
    mutating func add(at now: Int64) {
        times.append(now)
    }

    /// Events of the last second.
    mutating func rate(at now: Int64) -> Int64 {
        times.removeFirst(times.firstIndex { $0 > now - 1_000 } ?? times.count)
        return Int64(times.count)
    }
}
