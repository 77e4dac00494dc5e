import ComboCore
import Testing

@testable import ComboWire

struct ChangelogCodecTests {
    private func error(_ value: [UInt8]) -> ChangelogError? {
        do throws(ChangelogError) {
            _ = try SampleState.decoded(value, key: SampleState().key)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: seeds)
    func `a state comes back field by field`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for run in 0..<200 {
            let state = SampleState(random: &random)
            let copy = try SampleState.decoded(state.encoded, key: state.key)
            #expect(copy == state, "seed \(seed), run \(run)")
        }
    }

    @Test(arguments: seeds)
    func `a value cut anywhere is refused as damaged`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for run in 0..<40 {
            let value = SampleState(random: &random).encoded
            for length in value.indices where length < 600 {
                let refusal = error(Array(value[..<length]))
                guard case .malformed(let position) = refusal else {
                    Issue.record("seed \(seed), run \(run): \(length) bytes of \(value.count)")
                    return
                }
                #expect((0...length).contains(position))
            }
        }
    }

    @Test(arguments: seeds)
    func `changed bytes are refused, or read as a state that can be written`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for run in 0..<1_000 {
            var value = SampleState(random: &random).encoded
            for _ in 0...random.below(3) {
                value[random.below(min(value.count, 64))] = UInt8(truncatingIfNeeded: random.next())
            }
            let key = SampleState().key
            guard let state = try? SampleState.decoded(value, key: key),
                state.combo?.texts.allSatisfy({ !$0.contains("\u{fffd}") }) ?? true
            else { continue }
            let copy = try SampleState.decoded(state.encoded, key: key)
            #expect(copy == state, "seed \(seed), run \(run)")
        }
    }

    @Test func `bytes behind the state are refused`() {
        let value = SampleState().encoded
        #expect(error(value) == nil)
        #expect(error(value + [0]) == .malformed(position: value.count))
    }

    @Test(arguments: [UInt8(0), 2, 123, 255])
    func `another version is refused by its number`(version: UInt8) {
        var value = SampleState().encoded
        value[0] = version
        #expect(error(value) == .unknownVersion(version))
        #expect(error([version]) == .unknownVersion(version))
        #expect(ChangelogError.unknownVersion(version).description.contains("version \(version),"))
    }

    @Test(arguments: [16, 32, 64, 128, 2, 4, 8, 9] as [UInt8])
    func `flags that say nothing possible are refused`(flags: UInt8) {
        var value = SampleState().encoded
        value[1] = flags
        #expect(error(value) == .malformed(position: 1))
    }

    /// Found by fuzzing: the hidden count was lost when the state was written again.
    @Test func `a count that was never shown needs a held update`() throws {
        var state = SampleState()
        state.combo?.shownAt = 1
        state.combo?.shownCount = 69
        #expect(error(state.encoded) != nil)
        state.combo?.isHolding = true
        #expect(try SampleState.decoded(state.encoded, key: state.key) == state)
    }

    @Test func `a number of commands that leaves no room for more is refused`() {
        var state = SampleState()
        state.combo?.sequence = 1 << 31 - 1
        #expect(error(state.encoded) == nil)
        state.combo?.sequence = 1 << 31
        #expect(error(state.encoded) != nil)
    }

    @Test func `a combo without its sender is refused`() {
        var state = SampleState()
        state.combo?.texts[1] = ""
        #expect(error(state.encoded) != nil)
    }

    @Test func `a key is sixteen bytes, the most significant first`() throws {
        let key = SampleState().key
        var output = OutputBytes()
        ChangelogCodec.appendKey(key, to: &output)
        #expect(unsafe Array(output.bytes) == Array(1...16))
        #expect(try unsafe ChangelogCodec.key(output.bytes) == key)
        for length in [0, 15, 17] {
            let bytes = [UInt8](repeating: 0, count: length)
            #expect(throws: ChangelogError.badKey(byteCount: length)) {
                try unsafe bytes.withUnsafeBytes { try unsafe ChangelogCodec.key($0) }
            }
        }
    }
}
