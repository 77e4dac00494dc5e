import ComboCore
import Testing

@testable import ComboWire

/// An engine, the log of its changes, and its commands as text.
private struct LoggedEngine: ~Copyable {
    var engine: PartitionEngine
    /// Every changelog record so far, in order; nil: a tombstone.
    private(set) var log: [(key: [UInt8], value: [UInt8]?)] = []
    private(set) var commands: [String] = []

    init(_ configuration: ComboConfiguration) {
        engine = PartitionEngine(partition: 2, configuration: configuration, tracksChanges: true)
    }

    mutating func process(_ text: String, user: String, offset: Int64, at time: Int64) {
        var output = CommandBatch()
        let (key, value) = (Array(user.utf8), Array(text.utf8))
        unsafe key.withUnsafeBytes { key in
            unsafe value.withUnsafeBytes { value in
                let refusal = engine.process(
                    unsafe InputRecord(offset: offset, timestamp: time, key: key, value: value),
                    arrivedAt: nil,
                    into: &output
                )
                #expect(refusal == nil)
            }
        }
        take(output)
    }

    mutating func finish() {
        var output = CommandBatch()
        engine.finish(into: &output)
        take(output)
    }

    private mutating func take(_ output: borrowing CommandBatch) {
        for index in 0..<output.count {
            unsafe commands.append(String(decoding: output.value(of: output[index]), as: UTF8.self))
        }
    }

    /// Ends a transaction; answers its changelog records.
    @discardableResult
    mutating func commit() -> [String] {
        var batch = ChangelogBatch()
        batch.appendChanges(of: &engine)
        var lines: [String] = []
        for index in 0..<batch.count {
            let key = unsafe Array(batch.key(of: batch[index]))
            let value = unsafe batch.value(of: batch[index])
            let bytes = unsafe value.baseAddress == nil ? nil : Array(value)
            log.append((key, bytes))
            lines.append("\(key) \(bytes.map { "\($0)" } ?? "tombstone")")
        }
        return lines
    }

    mutating func forgetCommands() { commands = [] }
}

extension ChangelogImage {
    fileprivate mutating func add(
        _ key: [UInt8],
        _ value: [UInt8]?
    ) throws(ChangelogError) {
        // One byte more, so that a value without bytes has an address.
        let bytes = (value ?? []) + [0]
        let result = unsafe key.withUnsafeBytes { key in
            unsafe bytes.withUnsafeBytes { bytes in
                let present = unsafe UnsafeRawBufferPointer(rebasing: bytes.dropLast())
                let absent = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
                return Result { () throws(ChangelogError) in
                    try unsafe add(key: key, value: value == nil ? absent : present)
                }
            }
        }
        try result.get()
    }
}

struct ChangelogImageTests {
    private static func gift(_ random: inout SeededRandom) -> (text: String, user: String) {
        let user = "\(random.below(12))"
        var text = #"{"user_id":"\#(user)","gift_id":\#(random.below(2)),"user_name":"小\#(user)""#
        if random.oneIn(2) { text += #","event_id":"e\#(random.below(40))""# }
        if random.oneIn(3) {
            text += #","streak_count":\#(1 + random.below(50))"#
            if random.oneIn(2) { text += #","streak_id":"s\#(random.below(6))""# }
        } else {
            text += #","count":\#(1 + random.below(99)),"value":\#(random.below(500))"#
        }
        if random.oneIn(9) { text += #","streakable":false"# }
        return (text + "}", user)
    }

    private static func configuration(_ random: inout SeededRandom) -> ComboConfiguration {
        var configuration = ComboConfiguration()
        configuration.updateMinInterval = random.pick([0, 300])
        configuration.dedupIDs = random.pick([0, 3, 32])
        configuration.maxRemembered = random.pick([4, 200_000])
        configuration.memory = random.pick([5_000, 60_000])
        return configuration
    }

    @Test(arguments: seeds)
    func `a restored partition goes on as the one that wrote the changelog`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for run in 0..<12 {
            let configuration = Self.configuration(&random)
            var first = LoggedEngine(configuration)
            var time: Int64 = 1_760_000_000_000
            var offset: Int64 = 0
            for _ in 0..<(1 + random.below(400)) {
                let (text, user) = Self.gift(&random)
                time += Int64(random.pick([0, 5, 250, 2_000, 2_001, 6_000]))
                first.process(text, user: user, offset: offset, at: time)
                offset += 1
                if random.oneIn(5) { first.commit() }
            }
            first.commit()
            first.forgetCommands()

            var image = ChangelogImage()
            for (key, value) in first.log { try image.add(key, value) }
            var second = LoggedEngine(configuration)
            let extent = try image.restore(into: &second.engine)
            #expect(extent.newestTime <= first.engine.clock)
            #expect(extent.lastOffset.map { $0 < offset } ?? (image.count == 0))
            second.engine.restoreClock(first.engine.clock)
            #expect(second.engine.liveCount == first.engine.liveCount)
            #expect(second.engine.rememberedCount == first.engine.rememberedCount)
            #expect(second.commit().isEmpty, "a restored state has not changed")

            for _ in 0..<200 {
                let (text, user) = Self.gift(&random)
                time += Int64(random.pick([0, 5, 250, 2_000, 2_001]))
                first.process(text, user: user, offset: offset, at: time)
                second.process(text, user: user, offset: offset, at: time)
                offset += 1
                #expect(second.commands == first.commands, "seed \(seed), run \(run)")
                #expect(second.commit() == first.commit(), "seed \(seed), run \(run)")
                guard second.commands == first.commands else { return }
                first.forgetCommands()
                second.forgetCommands()
            }
            first.finish()
            second.finish()
            #expect(second.commands == first.commands, "seed \(seed), run \(run)")
        }
    }

    @Test func `what later records replace is left out however much it is`() throws {
        var image = ChangelogImage()
        var state = SampleState()
        state.combo?.texts[2] = String(repeating: "n", count: 10_000)
        let key = Array(UInt8(1)...16)
        let other = Array(UInt8(2)...17)
        for offset in 0..<1_000 {
            state.lastOffset = Int64(offset) + 3
            try image.add(key, state.encoded)
            if offset % 3 == 0 { try image.add(other, offset % 2 == 0 ? state.encoded : nil) }
        }
        try image.add(other, nil)
        #expect(image.count == 1)
        var engine = PartitionEngine(partition: 0, configuration: ComboConfiguration())
        #expect(try image.restore(into: &engine).lastOffset == 1_002)
        #expect(engine.liveCount == 1)
    }

    @Test func `a value of another version is refused when it is read`() throws {
        var image = ChangelogImage()
        let key = Array(UInt8(1)...16)
        #expect(throws: ChangelogError.unknownVersion(2)) { try image.add(key, [2, 0]) }
        #expect(throws: ChangelogError.malformed(position: 0)) { try image.add(key, []) }
        #expect(throws: ChangelogError.badKey(byteCount: 3)) { try image.add([1, 2, 3], nil) }
    }

    @Test func `a damaged value is refused when it is restored`() throws {
        var image = ChangelogImage()
        try image.add(Array(UInt8(1)...16), [1, 0, 9])
        var engine = PartitionEngine(partition: 0, configuration: ComboConfiguration())
        #expect(throws: ChangelogError.malformed(position: 3)) {
            try image.restore(into: &engine)
        }
    }
}
