import ComboCore
import Simulator

extension Text {
    var string: String { unsafe String(decoding: bytes, as: UTF8.self) }
}

/// Calls `body` with texts of these strings.
func withTexts<Result>(_ strings: [String], _ body: ([Text]) throws -> Result) rethrows -> Result {
    var bytes: [UInt8] = []
    for string in strings { bytes += Array(string.utf8) }
    return try unsafe bytes.withUnsafeBytes { buffer in
        var start = 0
        var texts: [Text] = []
        for string in strings {
            let end = start + string.utf8.count
            unsafe texts.append(Text(UnsafeRawBufferPointer(rebasing: buffer[start..<end])))
            start = end
        }
        return try body(texts)
    }
}

/// The real state, its commands copied out.
struct Driver: ~Copyable {
    var state: PartitionState
    var commands: [Shown] = []
    private var command = OverlayCommand()

    init(_ configuration: ComboConfiguration, tracksChanges: Bool = false, tickShift: Int64 = 0) {
        state = PartitionState(
            configuration: configuration,
            tracksChanges: tracksChanges,
            tickShift: tickShift
        )
    }

    mutating func apply(_ gift: Gift, offset: Int64, at time: Int64) {
        advance(to: time)
        let strings = [
            gift.eventID, gift.room, gift.user, gift.userName, gift.recipient, gift.gift,
            gift.giftName, gift.streakID,
        ]
        withTexts(strings) { texts in
            var event = GiftEvent()
            event.eventID = texts[0]
            event.roomID = texts[1]
            event.userID = texts[2]
            event.userName = texts[3]
            event.recipientID = texts[4]
            event.giftID = texts[5]
            event.giftName = texts[6]
            event.streakID = texts[7]
            event.count = gift.count
            event.streakCount = gift.streakCount
            event.value = gift.value
            event.streakEnd = gift.streakEnd
            event.streakable = gift.streakable
            let outcome = unsafe state.apply(&event, offset: offset, into: &command)
            if outcome == .command { take() }
        }
    }

    mutating func advance(to time: Int64) {
        while state.advance(to: EventTime(milliseconds: time), into: &command) { take() }
    }

    mutating func finish() {
        while state.finish(into: &command) { take() }
    }

    private mutating func take() {
        let fields = command.fields
        commands.append(
            Shown(
                kind: command.kind,
                comboOffset: command.comboOffset,
                sequence: command.sequence,
                from: command.previousCount,
                count: command.count,
                value: command.value,
                at: command.at.milliseconds,
                hideAt: command.hideAt.milliseconds,
                endAt: command.endAt.milliseconds,
                lane: command.lane,
                resumed: command.resumed,
                texts: [
                    fields.roomID, fields.userID, fields.userName, fields.recipientID,
                    fields.giftID, fields.giftName,
                ].map(\.string)
            )
        )
    }
}
