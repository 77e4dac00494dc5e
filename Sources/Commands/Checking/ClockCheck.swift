internal import ComboCore
internal import KafkaClient
internal import StreamPorts
internal import WorkerRuntime

/// How far a broker's clock is from this machine's.
///
/// No answer of a broker holds its time. But since Kafka 3.6 a topic has a bound for how far ahead
/// of the broker's clock a record may be dated (`message.timestamp.after.max.ms`, an hour by
/// default since 4.0), and which side of it a record is on shows in how it is refused.
struct ClockCheck {
    /// What is no skew worth speaking of, milliseconds: an attempt takes a part of it.
    static let tolerance: Int64 = 1000
    /// How exactly a larger one is told, milliseconds.
    static let precision: Int64 = 250
    /// Skews beyond this are not measured, milliseconds.
    static let limit: Int64 = 24 * 3_600_000

    let configuration: Configuration
    let remedy: Remedy

    /// Compares with the clock of a broker that leads a partition of the changelog.
    ///
    /// Each attempt is a producer's first: a refused record leaves a gap in its sequence numbers.
    func check(
        _ changelog: TopicDescription,
        _ makeProbe: () throws(StreamError) -> RightsProbe
    ) -> Finding {
        guard let bound = Self.bound(of: changelog) else {
            return Finding(
                .warning,
                "clock",
                "not compared with the brokers', which take records of any date "
                    + "(message.timestamp.after.max.ms of \(changelog.name)); compare by hand, and "
                    + "keep all clocks by NTP"
            )
        }
        let leader = changelog.partitions[0]
        do throws(StreamError) {
            let skew = try Self.skew { (ahead: Int64) throws(StreamError) in
                let probe = try makeProbe()
                defer { probe.close(timeoutMilliseconds: 1000) }
                try probe.beginTransactions()
                return try probe.takes(
                    timestampMilliseconds: SystemClock().wall.milliseconds + bound + ahead,
                    topic: changelog.name,
                    partition: leader.partition
                )
            }
            return finding(skew, broker: leader.leader ?? -1)
        } catch {
            let advice = remedy(error).map { "; \($0)" } ?? ""
            return Finding(.warning, "clock", "not compared: \(error.detail)\(advice)")
        }
    }

    private func finding(_ skew: Int64, broker: Int32) -> Finding {
        let name = "that of broker \(broker)"
        guard abs(skew) > Self.tolerance else {
            return Finding(.ok, "clock", "within \(Self.tolerance / 1000) s of \(name)")
        }
        let (size, tenth) = (abs(skew) / 1000, abs(skew) / 100 % 10)
        let side = skew < 0 ? "ahead of" : "behind"
        let ahead = configuration.combo.maxAhead
        return Finding(
            abs(skew) > ahead ? .failed : .warning,
            "clock",
            "\(size).\(tenth) s \(side) \(name); set both by NTP (a gift more than \(ahead) ms "
                + "ahead of a worker's clock is dated by its arrival: time.max.ahead)"
        )
    }

    /// How far ahead of the broker's clock records may be, milliseconds; nil: as far as they like.
    static func bound(of topic: TopicDescription) -> Int64? {
        guard topic.settings?["cleanup.policy"] == "compact",
            topic.settings?["message.timestamp.type"] == "CreateTime",
            let text = topic.settings?["message.timestamp.after.max.ms"],
            let bound = Int64(text), bound < 1 << 50
        else { return nil }
        return bound
    }

    /// The skew that an attempt shows: it is answered with true up to the skew, and false beyond.
    ///
    /// Two attempts where it is within the tolerance, and some twenty where it isn't; what lies
    /// beyond the limit is told as the limit.
    static func skew<Failure>(
        _ isTaken: (_ ahead: Int64) throws(Failure) -> Bool
    ) throws(Failure) -> Int64 {
        let isBehind = try !isTaken(-tolerance)
        let isAhead = try isTaken(tolerance)
        guard isBehind || isAhead else { return 0 }
        // From here on as if the broker were ahead; for one behind, sides and answers are changed.
        let side: Int64 = isBehind ? -1 : 1
        var (near, far) = (tolerance, tolerance * 2)
        while try isTaken(side * far) != isBehind {
            near = far
            guard far < limit else { return side * limit }
            far = min(far * 2, limit)
        }
        while far - near > precision {
            let middle = (near + far) / 2
            if try isTaken(side * middle) != isBehind {
                near = middle
            } else {
                far = middle
            }
        }
        return side * (near + far) / 2
    }
}
