internal import ComboCore
internal import ComboWire

/// Compares the commands that the worker pool published with those that the same records give
/// without Kafka, combo by combo and byte by byte, while both are being made.
///
/// Of each combo only what the other side has not brought yet is kept.
final class ReplayComparison {
    private final class Partition {
        var engine: PartitionEngine
        var nextOffset: Int64 = 0

        init(_ engine: consuming PartitionEngine) {
            self.engine = engine
        }
    }

    private enum Side {
        case replayed
        case published
    }

    /// The commands of a combo that only one side has brought.
    private struct Pending {
        var side: Side
        var commands: [[UInt8]]
    }

    private let partitions: [Partition]
    private var pending: [String: Pending] = [:]
    private var batch = CommandBatch()
    /// Commands that both sides have brought.
    private(set) var matched = 0
    /// The first differences, a sentence each.
    private(set) var differences: [String] = []
    private static let toldDifferences = 5

    init(partitions: Int, _ configuration: ComboConfiguration) {
        self.partitions = (0..<partitions).map { number in
            Partition(PartitionEngine(partition: Int32(number), configuration: configuration))
        }
    }

    /// Replays a record that was just sent.
    func replay(_ record: GeneratedRecord, partition: Int32) {
        let target = partitions[Int(partition)]
        let (offset, timestamp) = (target.nextOffset, record.timestamp)
        target.nextOffset += 1
        _ = unsafe record.key.withUnsafeBytes { key in
            unsafe record.value.withUnsafeBytes { value in
                let input = unsafe InputRecord(
                    offset: offset,
                    timestamp: timestamp,
                    key: key,
                    value: value
                )
                return target.engine.process(input, arrivedAt: nil, into: &batch)
            }
        }
        drain()
    }

    /// Takes a command that was published.
    func take(_ bytes: UnsafeRawBufferPointer, _ command: ParsedCommand) {
        add(unsafe Array(bytes), of: command.comboID, from: .published)
    }

    /// Finds what is missing and what is too much.
    ///
    /// - Parameter clocks: How far each partition's clock is known to have come.
    func finish(clocks: [Int32: Int64]) {
        for (number, partition) in partitions.enumerated() {
            guard let clock = clocks[Int32(number)] else { continue }
            partition.engine.advance(to: EventTime(milliseconds: clock), into: &batch)
            drain()
        }
        report(.replayed, "was not published")
        for partition in partitions {
            partition.engine.finish(into: &batch)
            drain()
        }
        report(.published, "is not in the replay")
    }

    private func report(_ side: Side, _ what: String) {
        for (combo, entry) in pending.sorted(by: { $0.key < $1.key })
        where entry.side == side && !entry.commands.isEmpty {
            tell("combo \(combo): \(String(decoding: entry.commands[0], as: UTF8.self)) \(what)")
        }
    }

    private func drain() {
        for index in 0..<batch.count {
            let value = unsafe batch.value(of: batch[index])
            guard let command = unsafe ParsedCommand(value) else {
                preconditionFailure("our own command can be read")
            }
            add(unsafe Array(value), of: command.comboID, from: .replayed)
        }
        batch.removeAll()
    }

    private func add(_ bytes: [UInt8], of combo: String, from side: Side) {
        guard var entry = pending[combo], entry.side != side else {
            pending[combo, default: Pending(side: side, commands: [])].commands.append(bytes)
            return
        }
        let other = entry.commands.removeFirst()
        pending[combo] = entry.commands.isEmpty ? nil : entry
        matched += 1
        if other != bytes {
            let (ours, theirs) = side == .published ? (bytes, other) : (other, bytes)
            tell(
                "published \(String(decoding: ours, as: UTF8.self)), "
                    + "replayed \(String(decoding: theirs, as: UTF8.self))"
            )
        }
    }

    private func tell(_ difference: String) {
        guard differences.count < Self.toldDifferences else { return }
        differences.append(difference)
    }
}
