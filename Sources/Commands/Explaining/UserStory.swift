internal import ComboCore
internal import ComboWire
internal import StreamPorts
internal import Telemetry

/// What one user's gifts did, told from a replay of their partitions and from what was published.
///
/// A replay knows why: which gift counted, which was a duplicate, which timer fired. What was
/// published knows when the wall clock moved an idle partition, which a replay can't. So before a
/// gift is replayed, the timers fire that are published and that the gift would have stopped.
final class UserStory {
    /// Something that happened, in one line.
    struct Event {
        /// Event time, epoch milliseconds; nil: it has none.
        var at: Int64?
        /// Where the record lies that it came from; nil: a timer.
        var offset: Int64?
        var text: String
        /// The command that it gave.
        var command: ParsedCommand?
    }

    /// What happened to the gifts of one combo key in one partition, in order.
    struct Chapter {
        var partition: Int32
        var key: ExplainedKey
        var events: [Event] = []
    }

    private struct Place: Hashable {
        var partition: Int32
        var key: ExplainedKey
    }

    private let configuration: Configuration
    private let user: String
    private let published: PublishedCommands
    private let replayed: ReplayedInput
    private var places: [Place: Int] = [:]
    /// The chapter that a combo belongs to, by the combo's id.
    private var chapterOfCombo: [String: Int] = [:]
    /// The last command of each chapter's latest combo.
    private var latest: [Int: ParsedCommand] = [:]
    private var seenEvents: Set<String> = []
    private var highestTotals: [String: Int64] = [:]

    private(set) var chapters: [Chapter] = []
    /// The user's records that could not be used, and tombstones.
    private(set) var unusable: [(partition: Int32, event: Event)] = []
    /// The name that the user's latest gift carried.
    private(set) var userName = ""

    /// - Parameters:
    ///   - configuration: How combos are counted.
    ///   - user: Whose gifts it is about.
    ///   - published: The user's commands in the output topic.
    init(_ configuration: Configuration, user: String, published: PublishedCommands) {
        self.configuration = configuration
        self.user = user
        self.published = published
        replayed = ReplayedInput(configuration)
    }

    /// The partitions that hold gifts of the user, in order.
    var partitions: [Int32] { Set(chapters.map(\.partition)).sorted() }

    // MARK: - Records

    /// Replays a record; those of a partition come in order of offset.
    func process(partition: Int32, _ record: InputRecord, arrivedAt: WallTime? = nil) {
        guard let gift = giftOfUser(record) else {
            let refusal = replayed.process(partition: partition, record, arrivedAt: arrivedAt)
            takeTimers()
            if unsafe record.key.elementsEqual(user.utf8) { note(refusal, partition, record) }
            return
        }
        let key = ExplainedKey(
            gift,
            configuration.combo.key,
            partition: partition,
            offset: record.offset
        )
        let chapter = chapter(of: key, in: partition)
        moveClock(partition, chapter, gift, record)
        let before = replayed.counts(of: partition)
        let clockBefore = replayed.clock(of: partition).milliseconds
        let refusal = replayed.process(partition: partition, record, arrivedAt: arrivedAt)
        let after = replayed.counts(of: partition)
        if refusal != nil {
            takeTimers()
            note(refusal, partition, record)
            return
        }
        if !gift.userName.isEmpty { userName = gift.userName }
        var event = Event(
            at: replayed.clock(of: partition).milliseconds,
            offset: record.offset,
            text: gift.what
        )
        var remarks: [String] = []
        if after.late > before.late {
            remarks.append(lateness(clockBefore, gift, record))
        }
        if after.clamped > before.clamped {
            remarks.append("dated too far ahead: counted when it arrived")
        }
        let own = takeCommands(ofGiftAt: event.at, chapter)
        if after.duplicates > before.duplicates {
            remarks.insert("a duplicate, that event has counted already: nothing changes", at: 0)
        } else if after.nothingAdded > before.nothingAdded {
            remarks.insert("the total is not above the one that counted: nothing changes", at: 0)
        } else if after.markers > before.markers {
            remarks.insert("no gift of its own: nothing changes", at: 0)
        } else if let own {
            remarks.insert(whatItDid(own, chapter), at: 0)
            event.command = own
            latest[chapter] = own
        } else {
            remarks.insert("counted, shown with the next update", at: 0)
        }
        event.text += ": " + remarks.joined(separator: "; ")
        chapters[chapter].events.append(event)
        remember(gift)
    }

    /// Runs a partition's clock up to a time, or to the end of time.
    func finish(partition: Int32, at clock: EventTime?) {
        if let clock {
            replayed.advance(partition: partition, to: clock)
        } else {
            replayed.finish(partition: partition)
        }
        takeTimers()
        for (index, chapter) in chapters.enumerated() where chapter.partition == partition {
            while let timer = nextPublishedTimer(index) {
                replayed.advance(partition: partition, to: EventTime(milliseconds: timer.at + 1))
                guard takeTimers() else { break }
            }
        }
    }

    // MARK: - What it did

    private func whatItDid(_ command: ParsedCommand, _ chapter: Int) -> String {
        let before = latest[chapter]
        switch command.kind {
        case .update: return "x\(command.count)"
        case .show where command.resumed:
            let hidden = before.map { command.at - $0.at } ?? 0
            return "x\(command.count), the hidden combo goes on, \(span(hidden)) after it hid"
        case .show:
            guard let before else { return "x\(command.count), a combo begins" }
            return "x\(command.count), a new combo, for the last one had ended at x\(before.count) "
                + "\(span(command.at - before.at)) before: the count starts again"
        case .hide, .end: preconditionFailure("a gift neither hides nor ends a combo")
        }
    }

    private func whatTimerDid(_ command: ParsedCommand) -> String {
        let combo = configuration.combo
        switch command.kind {
        case .hide:
            return "no gift for \(span(combo.hideAfter)): hidden, x\(command.count) is kept"
        case .end:
            return "none for \(span(combo.retainFor)) more: over, x\(command.count) in all"
        case .update, .show:
            return "x\(command.count): what came since the last update is shown"
        }
    }

    private func lateness(_ clock: Int64, _ gift: ExplainedGift, _ record: InputRecord) -> String {
        let time = configuration.combo.timeSource == .event ? gift.sentAt ?? 0 : record.timestamp
        return "dated \(utcTimestamp(milliseconds: time)), \(span(clock - time)) behind the "
            + "partition's clock: counted at the clock"
    }

    private func note(_ refusal: Refusal?, _ partition: Int32, _ record: InputRecord) {
        let text: String
        if let refusal {
            text = "to the dead letters, \(refusal.reason.rawValue): \(refusal.detail)"
        } else if unsafe record.value.baseAddress == nil {
            text = "no value (a tombstone): skipped"
        } else {
            return
        }
        let event = Event(at: record.timestamp, offset: record.offset, text: text)
        unusable.append((partition, event))
    }

    // MARK: - Commands

    /// The user's gift in a record; nil: it is another's, or can't be read.
    private func giftOfUser(_ record: InputRecord) -> ExplainedGift? {
        guard unsafe record.value.baseAddress != nil else { return nil }
        // A record that lies under another user's key is the other's, or a dead letter.
        let isKeyed = unsafe record.key.elementsEqual(user.utf8)
        guard unsafe isKeyed || mentionsUser(record.value) else { return nil }
        guard let gift = unsafe ExplainedGift(record.value), gift.user == user else { return nil }
        return gift
    }

    /// A quick look before a record is read; an id with escapes in it is found under its key only.
    private func mentionsUser(_ value: UnsafeRawBufferPointer) -> Bool {
        let wanted = Array(user.utf8)
        guard let first = wanted.first, value.count >= wanted.count else { return false }
        for start in 0...(value.count - wanted.count) where unsafe value[start] == first {
            if unsafe value[start...].starts(with: wanted) { return true }
        }
        return false
    }

    private func chapter(of key: ExplainedKey, in partition: Int32) -> Int {
        let place = Place(partition: partition, key: key)
        if let known = places[place] { return known }
        chapters.append(Chapter(partition: partition, key: key))
        places[place] = chapters.count - 1
        return chapters.count - 1
    }

    /// Tells of the timers that have fired; whether there were any of the user's.
    @discardableResult
    private func takeTimers() -> Bool {
        takeCommands(ofGiftAt: nil, nil) != nil
    }

    /// Tells of timers, and answers the command that a gift gave.
    ///
    /// A gift's command has the clock's time, while a timer's lies before. Without a gift, answers
    /// the last timer's.
    @discardableResult
    private func takeCommands(ofGiftAt time: Int64?, _ chapter: Int?) -> ParsedCommand? {
        var commands: [ParsedCommand] = []
        replayed.takeCommands { batch, entry in
            if let command = unsafe ParsedCommand(batch.value(of: entry)), command.userID == user {
                commands.append(command)
            }
        }
        var own: ParsedCommand?
        if let chapter, let last = commands.last, last.at == time,
            last.kind == .show || last.kind == .update
        {
            own = commands.removeLast()
            chapterOfCombo[last.comboID] = chapter
        }
        for command in commands {
            guard let chapter = chapterOfCombo[command.comboID] else { continue }
            chapters[chapter].events.append(
                Event(at: command.at, text: whatTimerDid(command), command: command)
            )
            latest[chapter] = command
        }
        return own ?? (chapter == nil ? commands.last : nil)
    }

    // MARK: - The wall clock's say

    /// The timer that the chapter's combo is known to have seen next; nil: none is published.
    private func nextPublishedTimer(_ chapter: Int) -> ParsedCommand? {
        guard let last = latest[chapter], last.kind != .end,
            let next = published.command(last.comboID, last.sequence + 1),
            next.kind == .hide || next.kind == .end
        else { return nil }
        return next
    }

    /// Fires the timers that are published before this gift, though its time lies before theirs:
    /// the partition was idle, and its clock followed the wall clock.
    private func moveClock(
        _ partition: Int32,
        _ chapter: Int,
        _ gift: ExplainedGift,
        _ record: InputRecord
    ) {
        guard mayCount(gift) else { return }
        while let timer = nextPublishedTimer(chapter), timer.at >= record.timestamp {
            replayed.advance(partition: partition, to: EventTime(milliseconds: timer.at + 1))
            guard takeTimers() else { return }
        }
    }

    /// Whether a gift will give a command; a duplicate or an old total says nothing of timers.
    private func mayCount(_ gift: ExplainedGift) -> Bool {
        if gift.isMarkerAlone { return false }
        if let total = gift.streakCount, !gift.streak.isEmpty,
            total <= highestTotals[gift.streak] ?? 0
        {
            return false
        }
        return gift.eventID.isEmpty || !seenEvents.contains(gift.eventID)
    }

    private func remember(_ gift: ExplainedGift) {
        if !gift.eventID.isEmpty { seenEvents.insert(gift.eventID) }
        if let total = gift.streakCount {
            highestTotals[gift.streak] = max(total, highestTotals[gift.streak] ?? 0)
        }
    }
}

/// A user's commands as the output topic holds them.
struct PublishedCommands {
    private var commands: [String: [Int64: ParsedCommand]] = [:]
    private(set) var count = 0

    mutating func add(_ command: ParsedCommand) {
        commands[command.comboID, default: [:]][command.sequence] = command
        count += 1
    }

    /// The command of a combo with this number.
    func command(_ combo: String, _ sequence: Int64) -> ParsedCommand? {
        commands[combo]?[sequence]
    }
}

/// A span of time in its largest unit that keeps it exact or to a tenth: `812 ms`, `2 s`, `1.5 s`.
func span(_ milliseconds: Int64) -> String {
    if abs(milliseconds) < 1000 { return "\(milliseconds) ms" }
    if abs(milliseconds) >= 600_000 { return "\(milliseconds / 60_000) min" }
    let (whole, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
    if rest == 0 { return "\(whole) s" }
    let digits = String(abs(rest))
    var fraction = String(repeating: "0", count: 3 - digits.count) + digits
    while fraction.hasSuffix("0") { fraction.removeLast() }
    return "\(whole).\(fraction) s"
}
