/// Compares published commands with the expected ones, combo by combo.
///
/// First all that was published is taken in, of each command a hash; then all that is expected,
/// which is kept only where the hashes differ: what it takes is about 20 bytes a command.
struct OutputComparison {
    /// What is wrong with a command.
    enum Fault: String {
        case missing = "is not published"
        case altered = "differs"
        case unexpected = "is published, and not in the replay"
        case doubled = "is published twice"
        case reordered = "is published behind a later one"
    }

    /// A command that is not as it should be.
    struct Difference: Equatable {
        var combo: CommandReference.Combo
        var sequence: Int
        var fault: Fault
        var expected: PublishedRecord?
        var published: PublishedRecord?
    }

    private struct Published {
        /// Of each command by its number, with the lowest bit set; 0: not published.
        var hashes: ContiguousArray<UInt64> = []
        var last = 0
        var outputPartition: Int32 = 0
        var isOmitted = false
        var expected = 0
    }

    private var combos: [CommandReference.Combo: Published] = [:]
    private(set) var differences: [Difference] = []
    /// Commands that are as expected.
    private(set) var matched = 0
    /// Records in the output that are no commands.
    private(set) var unreadable = 0
    /// Whether a combo is to be compared.
    private let isCompared: (CommandReference.Combo, _ user: String) -> Bool

    /// Compares the combos that the closure answers for.
    init(_ isCompared: @escaping (CommandReference.Combo, _ user: String) -> Bool) {
        self.isCompared = isCompared
    }

    /// Combos that were published.
    var comboCount: Int { combos.values.reduce(0) { $0 + ($1.isOmitted ? 0 : 1) } }
    /// Combos that are left out.
    var omittedCount: Int { combos.count - comboCount }

    /// Takes in a published command, in the order of its partition of the output.
    mutating func publish(
        partition: Int32,
        key: UnsafeRawBufferPointer,
        timestamp: Int64,
        value: UnsafeRawBufferPointer
    ) {
        guard let command = unsafe CommandReference(value) else {
            unreadable += 1
            return
        }
        var combo = combos[command.combo] ?? Published()
        combos[command.combo] = nil
        defer { combos[command.combo] = combo }
        if combo.hashes.isEmpty { combo.isOmitted = !isCompared(command.combo, command.user) }
        guard !combo.isOmitted else { return }
        let hash = unsafe PublishedRecord.hash(key: key, timestamp: timestamp, value: value) | 1
        while combo.hashes.count < command.sequence { combo.hashes.append(0) }
        let fault: Fault? =
            if combo.hashes[command.sequence - 1] != 0 {
                .doubled
            } else if command.sequence < combo.last, combo.outputPartition == partition {
                .reordered
            } else {
                nil
            }
        combo.hashes[command.sequence - 1] = hash
        combo.last = max(combo.last, command.sequence)
        combo.outputPartition = partition
        guard let fault else { return }
        let record = unsafe PublishedRecord(key: key, timestamp: timestamp, value: value)
        add(command, fault, published: record)
    }

    /// Takes in an expected command, in the order of its partition of the input.
    mutating func expect(
        key: UnsafeRawBufferPointer,
        timestamp: Int64,
        value: UnsafeRawBufferPointer
    ) {
        guard let command = unsafe CommandReference(value) else {
            preconditionFailure("our own command can be read")
        }
        let hash = unsafe PublishedRecord.hash(key: key, timestamp: timestamp, value: value) | 1
        guard let index = combos.index(forKey: command.combo) else {
            guard isCompared(command.combo, command.user) else { return }
            let record = unsafe PublishedRecord(key: key, timestamp: timestamp, value: value)
            return add(command, .missing, expected: record)
        }
        guard !combos.values[index].isOmitted else { return }
        let hashes = combos.values[index].hashes
        combos.values[index].expected = command.sequence
        let found = command.sequence <= hashes.count ? hashes[command.sequence - 1] : 0
        if found == hash {
            matched += 1
        } else {
            let record = unsafe PublishedRecord(key: key, timestamp: timestamp, value: value)
            add(command, found == 0 ? .missing : .altered, expected: record)
        }
    }

    /// Finds what was published and not expected; after all was taken in.
    ///
    /// - Parameter isAhead: Whether a partition was worked on meanwhile, so that what is published
    ///   beyond the replay is no fault.
    mutating func finish(isAhead: (_ inputPartition: Int32) -> Bool) {
        for (combo, published) in combos
        where !published.isOmitted && published.hashes.count > published.expected
            && !isAhead(combo.partition)
        {
            for sequence in published.expected + 1...published.hashes.count
            where published.hashes[sequence - 1] != 0 {
                differences.append(
                    Difference(combo: combo, sequence: sequence, fault: .unexpected)
                )
            }
        }
        differences.sort { ($0.combo, $0.sequence) < ($1.combo, $1.sequence) }
    }

    /// Whether published records are wanted to show what differs, or to see that it does not.
    var needsRecords: Bool { differences.contains { $0.published == nil && $0.fault != .missing } }

    /// Gives every published record once more, when ``needsRecords``.
    mutating func show(
        key: UnsafeRawBufferPointer,
        timestamp: Int64,
        value: UnsafeRawBufferPointer,
        at places: [Place: Int]
    ) {
        guard let command = unsafe CommandReference(value),
            let index = places[Place(combo: command.combo, sequence: command.sequence)]
        else { return }
        differences[index].published = unsafe PublishedRecord(
            key: key,
            timestamp: timestamp,
            value: value
        )
    }

    /// A command's place.
    struct Place: Hashable {
        var combo: CommandReference.Combo
        var sequence: Int
    }

    /// Where the differences are whose published records are wanted.
    var wantedRecords: [Place: Int] {
        var places: [Place: Int] = [:]
        for (index, difference) in differences.enumerated()
        where difference.published == nil && difference.fault != .missing {
            places[Place(combo: difference.combo, sequence: difference.sequence)] = index
        }
        return places
    }

    /// Forgets differences that are none: other bytes, the same meaning.
    mutating func dropEqual() {
        let count = differences.count
        differences.removeAll { difference in
            guard difference.fault == .altered, let expected = difference.expected,
                let published = difference.published
            else { return false }
            return expected.means(published)
        }
        matched += count - differences.count
    }

    private mutating func add(
        _ command: CommandReference,
        _ fault: Fault,
        expected: PublishedRecord? = nil,
        published: PublishedRecord? = nil
    ) {
        differences.append(
            Difference(
                combo: command.combo,
                sequence: command.sequence,
                fault: fault,
                expected: expected,
                published: published
            )
        )
    }
}
