internal import ComboCore
internal import ComboWire
internal import StreamPorts

/// What of the input can't be compared exactly, found before anything is.
///
/// A record whose time came from its arrival, because it had none or one too far ahead, counted at
/// a moment that nobody has kept. All combos of its sender are left out.
final class InputSurvey {
    /// A record that makes its sender's combos incomparable.
    struct OmittedRecord: Equatable {
        var partition: Int32
        var offset: Int64
        var reason: String
    }

    private(set) var omitted: [OmittedRecord] = []
    private(set) var omittedUsers: Set<String> = []
    /// Combos that began before this offset of a partition are left out, for what came before the
    /// cut is not known.
    private(set) var firstCompared: [Int32: Int64] = [:]

    private let configuration: Configuration
    private let clocks: [Int32: EventTime]
    /// The time from which on a partition's combos are compared; 0: all are.
    private var warmUntil: [Int32: Int64] = [:]
    private let since: Int64
    private var decoder: GiftEventDecoder
    private var event = GiftEvent()

    /// - Parameters:
    ///   - configuration: How combos are counted.
    ///   - extents: What the input topic still holds.
    ///   - clocks: The committed clocks.
    ///   - since: Only what is newer is to be compared, epoch milliseconds; nil: everything.
    init(
        _ configuration: Configuration,
        _ extents: [TopicScan.Extent],
        clocks: [Int32: EventTime],
        since: Int64?
    ) {
        self.configuration = configuration
        self.clocks = clocks
        self.since = since ?? 0
        let rules = InputRules(configuration.input)
        decoder = GiftEventDecoder(maximumBytes: rules.maximumBytes, checksKey: rules.checksKey)
        for extent in extents {
            if since != nil { warmUntil[extent.partition] = warm(self.since) }
            firstCompared[extent.partition] = since == nil ? 0 : .max
            // Its first record says since when it is known.
            if extent.low > 0 { warmUntil[extent.partition] = nil }
        }
    }

    /// Whether a combo is to be compared.
    func compares(_ combo: CommandReference.Combo, user: String) -> Bool {
        combo.offset >= firstCompared[combo.partition] ?? 0 && !omittedUsers.contains(user)
    }

    /// Looks at a record.
    func observe(_ record: InputRecord, partition: Int32) {
        guard unsafe record.value.baseAddress != nil else { return }
        do {
            try unsafe decoder.decode(value: record.value, key: record.key, into: &event)
        } catch {
            return
        }
        let time = configuration.combo.timeSource == .event ? event.sentAt ?? 0 : record.timestamp
        if firstCompared[partition] == .max {
            let end = warmUntil[partition] ?? warm(max(since, time))
            warmUntil[partition] = end
            if time > end { firstCompared[partition] = record.offset }
        }
        if time <= 0 {
            omit(record, partition, "it has no time")
        } else if let clock = clocks[partition], time > clock.milliseconds {
            omit(record, partition, "its time lay too far ahead")
        }
    }

    private func omit(_ record: InputRecord, _ partition: Int32, _ reason: String) {
        omitted.append(
            OmittedRecord(partition: partition, offset: record.offset, reason: reason)
        )
        let quoted = unsafe [UInt8(ascii: "\"")] + event.userID.bytes + [UInt8(ascii: "\"")]
        unsafe quoted.withUnsafeBytes { bytes in
            var reader = unsafe JSONReader(bytes)
            if let user = try? reader.string() { omittedUsers.insert(user) }
        }
    }

    /// When nothing that came before `cut` has a say any more: combos are over, ids forgotten.
    private func warm(_ cut: Int64) -> Int64 {
        let combo = configuration.combo
        return cut + combo.hideAfter + combo.retainFor + combo.memory
    }
}
