internal import ComboCore
internal import ComboWire

/// Input records through the engine, each partition in one of its own, without Kafka.
final class ReplayedInput {
    /// An engine in a dictionary: it can't be copied, its owner can be referred to.
    private final class Partition {
        var engine: PartitionEngine

        init(_ engine: consuming PartitionEngine) {
            self.engine = engine
        }
    }

    private let configuration: Configuration
    private var partitions: [Int32: Partition] = [:]
    /// The commands that were made and not taken yet.
    private(set) var commands = CommandBatch()

    init(_ configuration: Configuration) {
        self.configuration = configuration
    }

    /// The partitions that have had records, in order.
    var numbers: [Int32] { partitions.keys.sorted() }

    /// Replays a record; the reason why it can't be used, if so.
    func process(
        partition number: Int32,
        _ record: InputRecord,
        arrivedAt: WallTime? = nil
    ) -> Refusal? {
        partition(number).engine.process(record, arrivedAt: arrivedAt, into: &commands)
    }

    /// Runs a partition's clock up to a time.
    func advance(partition number: Int32, to time: EventTime) {
        partition(number).engine.advance(to: time, into: &commands)
    }

    /// Runs a partition's clock to the end of time.
    func finish(partition number: Int32) {
        partition(number).engine.finish(into: &commands)
    }

    /// Gives the commands away, in the order in which they were made.
    func takeCommands(_ body: (borrowing CommandBatch, CommandBatch.Entry) -> Void) {
        for index in 0..<commands.count { body(commands, commands[index]) }
        commands.removeAll()
    }

    /// What a partition has counted.
    func counts(of number: Int32) -> EngineCounts { partition(number).engine.counts }

    /// How far a partition's clock has come.
    func clock(of number: Int32) -> EventTime { partition(number).engine.clock }

    private func partition(_ number: Int32) -> Partition {
        if let partition = partitions[number] { return partition }
        let partition = Partition(
            PartitionEngine(
                partition: number,
                configuration: configuration.combo,
                input: InputRules(configuration.input)
            )
        )
        partitions[number] = partition
        return partition
    }
}
