internal import KafkaClient
internal import StreamPorts
internal import WorkerRuntime

/// `giftcombo topics --reset-state`: empties the changelog of a group that is stopped.
struct StateReset {
    private static let timeout: Int32 = 30_000

    private let configuration: Configuration
    private let admin: KafkaAdmin
    private let output: Output

    init(_ configuration: Configuration, _ admin: KafkaAdmin, _ output: Output) {
        self.configuration = configuration
        self.admin = admin
        self.output = output
    }

    /// Deletes the changelog topic, so that it can be made anew; committed offsets stay.
    ///
    /// A compacted topic's records can't be deleted, only the topic.
    func run(isDryRun: Bool) throws(StreamError) {
        let name = configuration.topics.changelog
        guard try admin.partitions(of: name, timeoutMilliseconds: Self.timeout) != nil else {
            output.write("\(name): there is no such topic, so there is no state\n")
            return
        }
        guard !isDryRun else {
            output.write("would delete \(name) with the state of all combos, and create it anew\n")
            return
        }
        try requireStopped()
        try admin.delete(name, timeoutMilliseconds: Self.timeout)
        let clock = SystemClock()
        let start = clock.monotonic
        while try admin.partitions(of: name, timeoutMilliseconds: Self.timeout) != nil {
            guard clock.monotonic.since(start) < Int64(Self.timeout) else {
                throw StreamError(
                    .refused,
                    operation: "topics",
                    code: "TOPIC",
                    detail: "\(name) is still there \(Self.timeout) ms after its deletion"
                )
            }
            clock.sleep(milliseconds: 100)
        }
        output.write(
            "deleted \(name): counting goes on at the committed offsets, and every combo "
                + "starts again at its first gift from there\n"
        )
    }

    /// The brokers refuse to set offsets of a group that has members; setting them as they are is
    /// how to ask.
    private func requireStopped() throws(StreamError) {
        let input = configuration.topics.input
        let partitions = try admin.partitions(of: input, timeoutMilliseconds: Self.timeout) ?? []
        let committed = try admin.committedOffsets(
            of: configuration.groupID,
            topic: input,
            partitions: partitions.map(\.partition),
            timeoutMilliseconds: Self.timeout
        ).filter { $0.offset != nil }
        guard !committed.isEmpty else { return }
        do {
            try admin.setCommittedOffsets(
                of: configuration.groupID,
                topic: input,
                to: committed,
                timeoutMilliseconds: Self.timeout
            )
        } catch {
            guard error.disposition != .retriable else { throw error }
            throw StreamError(
                .refused,
                operation: "--reset-state",
                code: error.code,
                detail: "the group \(configuration.groupID) still has members; stop every process "
                    + "of it first (\(error.detail))"
            )
        }
    }
}
