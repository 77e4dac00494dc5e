internal import ComboCore
internal import ComboWire

/// Measures the bytes that a live combo and a remembered key take.
///
/// Each key has 8 event ids, a name of 19 bytes on average, no picture, and one of 30 gifts.
/// Counted is what the state's stores hold, room that is free included.
struct EngineMemory: ~Copyable {
    private static let taps = 8
    private static let start: Int64 = 1_760_000_000_000
    /// Longer than both windows.
    private static let ending: Int64 = 6_000
    /// Keys live in so many groups, one after the other, where remembered ones are counted.
    private static let groups = 100
    /// The most remembered keys that are measured: what a partition remembers by default.
    private static let rememberedMax = 200_000

    private var engine: PartitionEngine
    private var block = RecordBlock()
    private var batch = CommandBatch()
    private var time = EngineMemory.start
    private var user = 0
    private var number = 0

    private init() {
        var configuration = ComboConfiguration()
        // Nothing is forgotten while it is counted.
        configuration.memory = .max
        engine = PartitionEngine(partition: 0, configuration: configuration)
    }

    /// Bytes of each of `count` live combos.
    static func bytesPerLiveCombo(_ count: Int) -> Int {
        var memory = EngineMemory()
        let before = memory.engine.byteCount
        memory.addCombos(count)
        precondition(memory.engine.liveCount == count, "every key has a combo that lives")
        return (memory.engine.byteCount - before) / count
    }

    /// Bytes of each of `count` keys whose combos have ended, at most 200,000.
    static func bytesPerRememberedKey(_ count: Int) -> Int {
        var memory = EngineMemory()
        let group = max(1, min(count, rememberedMax) / (groups + 1))
        // The first group makes room for what lives at once.
        memory.addCombos(group)
        memory.end()
        let before = memory.engine.byteCount
        for _ in 0..<groups {
            memory.addCombos(group)
            memory.end()
        }
        precondition(
            memory.engine.rememberedCount == group * (groups + 1),
            "every key is remembered"
        )
        return (memory.engine.byteCount - before) / (group * groups)
    }

    private mutating func addCombos(_ count: Int) {
        for _ in 0..<count {
            user += 1
            var record = GiftRecord(
                GiftRecord.Content(
                    user: user,
                    room: user % 500,
                    gift: user % GiftRecord.gifts
                )
            )
            for _ in 0..<Self.taps {
                number += 1
                record.append(number: number, sentAt: time, timestamp: time, to: &block)
            }
            process()
        }
    }

    private mutating func end() {
        time += Self.ending
        engine.advance(to: EventTime(milliseconds: time), into: &batch)
        batch.removeAll()
    }

    private mutating func process() {
        for index in 0..<block.count {
            let refusal = engine.process(block.record(index), arrivedAt: nil, into: &batch)
            precondition(refusal == nil, "the workload is made of gift events")
        }
        block.removeAll()
        batch.removeAll()
    }
}
