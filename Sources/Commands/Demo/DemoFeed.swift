internal import ComboCore

/// What a demo sends.
enum DemoFeed {
    /// Many senders, without an end.
    case traffic(GiftTraffic)
    /// One sender's taps, the next one first.
    case story([StoryTap])

    /// One tap of the story.
    struct StoryTap {
        /// Milliseconds after the start.
        var time: Int64
        /// From 1.
        var number: Int
    }

    /// Makes the next record; false: there is none.
    mutating func next(into record: inout GeneratedRecord, start: Int64) -> Bool {
        switch self {
        case .traffic(var traffic):
            traffic.next(into: &record)
            self = .traffic(traffic)
            return true
        case .story(var taps):
            guard let tap = taps.first else { return false }
            taps.removeFirst()
            self = .story(taps)
            record.sentAfter = tap.time
            record.timestamp = start + tap.time
            record.key = Array(Self.storySender.utf8)
            var text = GiftEventText()
            text.begin()
            text.put("event_id", "tap-\(tap.number)")
            text.put("room_id", "room-1")
            text.put("user_id", Self.storySender)
            text.put("user_name", "小魚兒")
            text.put("gift_id", "g00")
            text.put("gift_name", "Rose")
            text.put("value", 1)
            text.end(into: &record.value)
            record.units = 1
            return true
        }
    }

    private static let storySender = "7"

    /// Two taps that make one combo, one while it is hidden, and one after its end.
    static func story(_ combo: ComboConfiguration) -> DemoFeed {
        let second = combo.hideAfter / 2
        let resuming = second + combo.hideAfter + combo.retainFor / 2
        let restarting = resuming + combo.hideAfter + combo.retainFor + 1_000
        let times = [0, second, resuming, restarting]
        return .story(times.enumerated().map { StoryTap(time: $1, number: $0 + 1) })
    }

    /// Combos that the story has.
    static let storyCombos = 2
}

/// Tells a command as a step of the story.
struct StoryTeller {
    let combo: ComboConfiguration

    /// A line for a tap.
    func line(tapAfter time: Int64) -> String {
        "\(seconds(time))  tap: 小魚兒 sends a Rose\n"
    }

    /// A line for what followed.
    func line(_ command: ParsedCommand, start: Int64) -> String {
        let what =
            switch command.kind {
            case .show where command.resumed:
                "the hidden combo goes on at \(command.count), not at 1"
            case .show: "a combo begins at \(command.count)"
            case .update: "it counts up from \(command.from) to \(command.count)"
            case .hide:
                "no gift for \(duration(combo.hideAfter)): the row disappears, "
                    + "\(command.count) is kept"
            case .end:
                "none for \(duration(combo.retainFor)) more: the combo is over, "
                    + "\(command.count) in all"
            }
        let word = command.kind.rawValue
        let gap = String(repeating: " ", count: max(0, 6 - word.count))
        return "\(seconds(command.at - start))    \(word)\(gap)  x\(command.count)   \(what)\n"
    }

    private func seconds(_ milliseconds: Int64) -> String {
        let tenths = (milliseconds + 50) / 100
        let text = "\(tenths / 10).\(tenths % 10) s"
        return String(repeating: " ", count: max(0, 7 - text.count)) + text
    }

    private func duration(_ milliseconds: Int64) -> String {
        milliseconds % 1_000 == 0 ? "\(milliseconds / 1_000) s" : "\(milliseconds) ms"
    }
}
