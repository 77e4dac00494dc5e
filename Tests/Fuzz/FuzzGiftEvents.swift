import ComboCore
import ComboWire

/// One input of the gift event decoder: a byte that gives the key's length (255: a null key), the
/// key, the value.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzGiftEvent(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe UnsafeRawBufferPointer(start: start, count: count)
    guard let keyLength = unsafe input.first else { return 0 }
    let keyEnd = keyLength == 255 ? 1 : min(1 + Int(keyLength), count)
    let key = unsafe keyLength == 255 ? nil : UnsafeRawBufferPointer(rebasing: input[1..<keyEnd])
    let value = unsafe UnsafeRawBufferPointer(rebasing: input[keyEnd...])
    unsafe withExactCopy(of: key) { key in
        unsafe withExactCopy(of: value) { value in unsafe decode(value, key) }
    }
    return 0
}

/// Decodes with and without a look at the key, and checks what is known of the answers.
private func decode(_ value: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer) {
    var decoder = GiftEventDecoder(maximumBytes: 100_000)
    var lenient = GiftEventDecoder(maximumBytes: 100_000, checksKey: false)
    let strictRefusal = unsafe refusal(&decoder, value, key)
    let refusal = unsafe refusal(&lenient, value, key)
    if strictRefusal?.reason == .keyMismatch {
        demand(refusal == nil, "a key is compared before the rest is known to be right")
    } else {
        demand(strictRefusal == refusal, "the key changes \(refusal?.detail ?? "an event")")
    }
}

private func refusal(
    _ decoder: inout GiftEventDecoder,
    _ value: UnsafeRawBufferPointer,
    _ key: UnsafeRawBufferPointer
) -> Refusal? {
    var event = GiftEvent()
    do throws(Refusal) {
        try unsafe decoder.decode(value: value, key: key, into: &event)
    } catch {
        demand((0...value.count).contains(error.position), "a position outside of the value")
        demand(!error.detail.isEmpty, "a refusal without a sentence")
        return error
    }
    unsafe check(event, value)
    return nil
}

private func check(_ event: GiftEvent, _ value: UnsafeRawBufferPointer) {
    demand(!event.userID.isEmpty, "an event without its sender")
    demand(event.count.map { (1...1_000_000_000).contains($0) } ?? true, "count out of range")
    demand((event.streakCount ?? 1) >= 1, "streak_count out of range")
    demand(event.value >= 0, "value out of range")
    let names = [event.userName, event.userAvatar, event.giftName, event.giftImage]
    for name in names where !name.isEmpty {
        checkText(name)
        demand(unsafe lies(name, in: value), "a name that is not in the record")
    }
    let ids = [
        event.eventID, event.roomID, event.userID, event.recipientID, event.giftID, event.streakID,
    ]
    for id in ids { checkText(id) }
}

/// A text is UTF-8 and can stand between the quotes of a JSON string.
private func checkText(_ text: Text) {
    let bytes = unsafe text.bytes
    demand(unsafe String(validating: bytes, as: UTF8.self) != nil, "a text that is not UTF-8")
    var isEscaped = false
    for index in bytes.indices {
        let byte = unsafe bytes[index]
        demand(byte >= 0x20, "a control in a text")
        if isEscaped {
            isEscaped = false
        } else {
            demand(byte != UInt8(ascii: "\""), "a quote in a text")
            isEscaped = byte == UInt8(ascii: "\\")
        }
    }
    demand(!isEscaped, "a text that ends in the middle of an escape")
}

private func lies(_ text: Text, in value: UnsafeRawBufferPointer) -> Bool {
    guard let start = unsafe text.bytes.baseAddress, let outer = value.baseAddress else {
        return false
    }
    return unsafe start >= outer && start + text.count <= outer + value.count
}
