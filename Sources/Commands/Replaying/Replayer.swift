internal import ComboCore
internal import ComboWire

/// Runs recorded records through the engine, partition by partition, without Kafka.
final class Replayer {
    /// A partition's engine; a class, for the engine can't be copied.
    private final class Partition {
        var engine: PartitionEngine

        init(_ engine: consuming PartitionEngine) {
            self.engine = engine
        }
    }

    private let configuration: ComboConfiguration
    private let input: InputRules
    private var partitions: [Int32: Partition] = [:]
    private var batch = CommandBatch()

    init(_ configuration: ComboConfiguration, _ input: InputRules) {
        self.configuration = configuration
        self.input = input
    }

    /// Processes a record.
    ///
    /// - Parameters:
    ///   - record: The record; offsets of a partition rise.
    ///   - output: Gets each command's JSON, a line each.
    /// - Returns: Why the record can't be used; nil: it could.
    func process(_ record: RecordedRecord, to output: Output) -> Refusal? {
        let partition = partition(record.partition)
        let nothing = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
        let arrivedAt = record.arrivedAt.map { WallTime(milliseconds: $0) }
        let (offset, timestamp) = (record.offset, record.timestamp)
        let (hasKey, hasValue) = (record.hasKey, record.hasValue)
        let refusal = unsafe record.key.withUnsafeBytes { key in
            unsafe record.value.withUnsafeBytes { value in
                // An empty array may have no address, which would make it a null.
                let input = unsafe InputRecord(
                    offset: offset,
                    timestamp: timestamp,
                    key: hasKey ? addressed(key) : nothing,
                    value: hasValue ? addressed(value) : nothing
                )
                return partition.engine.process(input, arrivedAt: arrivedAt, into: &batch)
            }
        }
        drain(to: output)
        return refusal
    }

    /// Runs every partition's clock to the end of time, in order of their numbers.
    func finish(to output: Output) {
        for number in partitions.keys.sorted() {
            partitions[number]?.engine.finish(into: &batch)
            drain(to: output)
        }
    }

    /// What all partitions counted.
    var counts: [EngineCounts] {
        partitions.keys.sorted().compactMap { partitions[$0]?.engine.counts }
    }

    private func partition(_ number: Int32) -> Partition {
        if let partition = partitions[number] { return partition }
        let partition = Partition(
            PartitionEngine(partition: number, configuration: configuration, input: input)
        )
        partitions[number] = partition
        return partition
    }

    private func drain(to output: Output) {
        for index in 0..<batch.count {
            unsafe output.append(batch.value(of: batch[index]))
            output.write("\n")
        }
        batch.removeAll()
    }

    /// The same bytes, at an address that is not nil.
    private func addressed(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        guard unsafe bytes.baseAddress == nil else { return unsafe bytes }
        return unsafe UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: 8), count: 0)
    }
}
