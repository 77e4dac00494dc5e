import ComboCore
import ComboWire

/// One input of the changelog decoder: the value of a record.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzChangelog(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe UnsafeRawBufferPointer(start: start, count: count)
    unsafe withExactCopy(of: input) { value in unsafe decode(value) }
    return 0
}

private let key = KeyHash(high: 0x0102_0304_0506_0708, low: 0x090a_0b0c_0d0e_0f10)

private func decode(_ value: UnsafeRawBufferPointer) {
    let scratch = ChangelogScratch()
    let state: KeyState
    do throws(ChangelogError) {
        state = try unsafe ChangelogCodec.state(value, key: key, scratch: scratch)
    } catch {
        demand(!error.description.isEmpty, "an error without a sentence")
        return
    }
    // What is read can be written, and reads the same then.
    var output = OutputBytes()
    ChangelogCodec.appendValue(state, to: &output)
    let again = ChangelogScratch()
    do throws(ChangelogError) {
        let copy = try unsafe ChangelogCodec.state(output.bytes, key: key, scratch: again)
        demand(areEqual(copy, state), "a state that changes by being written")
    } catch {
        demand(false, "what was read is refused once it is written: \(error)")
    }
    unsafe restore(value, updateMinInterval: 0)
    unsafe restore(value, updateMinInterval: 500)
}

/// Puts the state into an engine and lets it go on: a gift of another sender, then the end of time.
private func restore(_ value: UnsafeRawBufferPointer, updateMinInterval: Int64) {
    var configuration = ComboConfiguration()
    configuration.updateMinInterval = updateMinInterval
    var engine = PartitionEngine(partition: 0, configuration: configuration, tracksChanges: true)
    var image = ChangelogImage()
    var output = CommandBatch()
    var keyBytes = OutputBytes()
    ChangelogCodec.appendKey(key, to: &keyBytes)
    do throws(ChangelogError) {
        try unsafe image.add(key: keyBytes.bytes, value: value)
        let extent = try image.restore(into: &engine)
        engine.restoreClock(extent.newestTime)
    } catch {
        demand(false, "what was decoded can't be restored: \(error)")
    }
    demand(engine.liveCount + engine.rememberedCount == 1, "a key is lost by being restored")
    engine.advance(to: engine.clock.advanced(byMilliseconds: 2_500), into: &output)
    process(&engine, #"{"user_id":"9","event_id":"a","streak_count":3}"#, into: &output)
    engine.finish(into: &output)
    demand(engine.liveCount == 0, "a combo lives on after the end of time")
    var changes = ChangelogBatch()
    changes.appendChanges(of: &engine)
}

private func process(
    _ engine: inout PartitionEngine,
    _ text: String,
    into output: inout CommandBatch
) {
    var (key, text) = ("9", text)
    key.withUTF8 { key in
        text.withUTF8 { text in
            let record = unsafe InputRecord(
                offset: .max,
                timestamp: engine.clock.milliseconds,
                key: UnsafeRawBufferPointer(key),
                value: UnsafeRawBufferPointer(text)
            )
            let refusal = engine.process(record, arrivedAt: nil, into: &output)
            demand(refusal == nil, "a gift is refused")
        }
    }
}

private func areEqual(_ left: KeyState, _ right: KeyState) -> Bool {
    guard left.key == right.key, left.lastOffset == right.lastOffset, left.endAt == right.endAt,
        left.memory.unnamedTotal == right.memory.unnamedTotal,
        unsafe left.memory.streaks.elementsEqual(right.memory.streaks),
        unsafe left.memory.ids.elementsEqual(right.memory.ids)
    else { return false }
    guard let one = left.combo, let other = right.combo else {
        return left.combo == nil && right.combo == nil
    }
    return one.isDisplayed == other.isDisplayed && one.firstOffset == other.firstOffset
        && one.count == other.count && one.value == other.value && one.hideAt == other.hideAt
        && one.sequence == other.sequence && one.shownCount == other.shownCount
        && one.shownAt == other.shownAt && one.isHolding == other.isHolding
        && zip(texts(one.fields), texts(other.fields)).allSatisfy { one, other in
            unsafe one.bytes.elementsEqual(other.bytes)
        }
}

private func texts(_ fields: CommandFields) -> [Text] {
    [
        fields.roomID, fields.userID, fields.userName, fields.userAvatar, fields.recipientID,
        fields.giftID, fields.giftName, fields.giftImage,
    ]
}
