/// Watches over a stream of overlay commands: whatever was sent, these laws hold of each combo.
///
/// Commands of a combo are numbered 1, 2, 3 …; the first is a `show` from 0; each one's `from` is
/// the count of the one before; no count falls; `hide` follows what is displayed, `show` and
/// `end` what is not; and so as many `show` as `hide`, one more while displayed. Over all, the
/// steps add up to the final counts and those of the live combos.
struct CommandLaws {
    private struct Combo {
        var sequence: Int64
        var count: Int64
        var isDisplayed: Bool
    }

    private var combos: [String: Combo] = [:]
    /// Commands seen.
    private(set) var commands = 0
    /// Combos that have begun.
    private(set) var begun = 0
    /// Combos that have ended.
    private(set) var ended = 0
    /// All steps from one count to the next.
    private(set) var stepSum: Int64 = 0
    private var finalSum: Int64 = 0
    /// The first breaches, a sentence each.
    private(set) var breaches: [String] = []
    /// Enough to see what is wrong.
    private static let toldBreaches = 5

    /// Combos that are displayed or hidden, not over.
    var live: Int { combos.count }

    /// Looks at the next command.
    mutating func observe(_ command: ParsedCommand) {
        commands += 1
        stepSum += command.count - command.from
        let before = combos[command.comboID]
        expect(command.id == "\(command.comboID)#\(command.sequence)", "id", command)
        expect(command.sequence == (before?.sequence ?? 0) + 1, "the number", command)
        expect(command.from == before?.count ?? 0, "from", command)
        expect(command.count >= command.from, "a count that falls", command)
        let isDisplayed = before?.isDisplayed ?? false
        switch command.kind {
        case .show:
            expect(!isDisplayed, "show of what is displayed", command)
            expect(command.resumed == (before != nil), "resumed", command)
            if before == nil { begun += 1 }
        case .update, .hide: expect(isDisplayed, "what is not displayed", command)
        case .end: expect(before != nil && !isDisplayed, "end of what is displayed", command)
        }
        guard command.kind != .end else {
            combos[command.comboID] = nil
            ended += 1
            finalSum += command.count
            return
        }
        combos[command.comboID] = Combo(
            sequence: command.sequence,
            count: command.count,
            isDisplayed: command.kind != .hide
        )
    }

    /// The last law, of all commands together.
    ///
    /// - Parameter sent: The units that senders have sent; nil: not known.
    mutating func finish(sent: Int64? = nil) {
        let liveSum = combos.values.reduce(0) { $0 + $1.count }
        if stepSum != finalSum + liveSum {
            breaches.append(
                "the steps add up to \(stepSum), final and live counts to \(finalSum + liveSum)"
            )
        }
        if let sent, stepSum != sent {
            breaches.append("\(sent) units were sent, \(stepSum) were counted")
        }
    }

    private mutating func expect(
        _ holds: Bool,
        _ what: String,
        _ command: ParsedCommand
    ) {
        guard !holds, breaches.count < Self.toldBreaches else { return }
        breaches.append("\(command.kind.rawValue) \(command.id): \(what) is wrong")
    }
}
