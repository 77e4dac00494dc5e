internal import Telemetry

/// A user's story as lines for people.
struct StoryText {
    /// What is told of it.
    struct Choice {
        var room: String?
        var gift: String?
        /// Only what happened from then on, epoch milliseconds.
        var since: Int64?
    }

    let story: UserStory
    let published: PublishedCommands?
    let choice: Choice
    /// The next offset of each partition that the group has not committed.
    let committed: [Int32: Int64]

    /// The lines.
    var lines: [String] {
        var lines: [String] = []
        let chapters = story.chapters.filter(isChosen)
        let partitions = Set(chapters.map(\.partition)).sorted()
        if partitions.count > 1 {
            lines.append(
                "! gifts lie in partitions \(list(partitions)), which count apart: producers with "
                    + "different partitioners, or partitions were added"
            )
        }
        for chapter in chapters.sorted(by: { first($0) < first($1) }) {
            lines += text(of: chapter)
        }
        let unusable = story.unusable.filter { isNew($0.event) }
        if !unusable.isEmpty {
            lines.append("records that were not used:")
            for (partition, event) in unusable {
                lines.append("  " + time(event.at) + place(partition, event) + event.text)
            }
        }
        if lines.isEmpty { lines.append("no gifts of this user were found") }
        return lines
    }

    private func isChosen(_ chapter: UserStory.Chapter) -> Bool {
        if let room = choice.room, chapter.key.room != nil, chapter.key.room != room {
            return false
        }
        if let gift = choice.gift, chapter.key.gift != nil, chapter.key.gift != gift {
            return false
        }
        return chapter.events.contains(where: isNew)
    }

    private func isNew(_ event: UserStory.Event) -> Bool {
        event.at ?? .max >= choice.since ?? .min
    }

    private func first(_ chapter: UserStory.Chapter) -> Int64 {
        chapter.events.first?.at ?? 0
    }

    private func list(_ partitions: [Int32]) -> String {
        partitions.map { String($0) }.joined(separator: ", ")
    }

    private func text(of chapter: UserStory.Chapter) -> [String] {
        var lines = [printable("\(chapter.key.title), partition \(chapter.partition)")]
        var combo: String?
        for event in chapter.events where isNew(event) {
            if let command = event.command, command.comboID != combo {
                combo = command.comboID
                lines.append("  combo \(command.comboID)")
            }
            let told = printable(event.text) + note(event, chapter.partition)
            lines.append("    " + time(event.at) + place(chapter.partition, event) + told)
        }
        if let last = chapter.events.last(where: { $0.command != nil })?.command {
            switch last.kind {
            case .show, .update: lines.append("    now: displayed at x\(last.count)")
            case .hide: lines.append("    now: hidden, x\(last.count) is kept")
            case .end: break
            }
        }
        return lines
    }

    private func time(_ milliseconds: Int64?) -> String {
        milliseconds.map { utcTimestamp(milliseconds: $0) + "  " } ?? ""
    }

    private func place(_ partition: Int32, _ event: UserStory.Event) -> String {
        event.offset.map { "offset \(partition)-\($0)  " } ?? ""
    }

    /// The command, and how it was published.
    private func note(_ event: UserStory.Event, _ partition: Int32) -> String {
        guard let command = event.command else { return "" }
        let name = "  [\(command.kind.rawValue) #\(command.sequence)"
        guard let published else { return name + "]" }
        guard let found = published.command(command.comboID, command.sequence) else {
            if let offset = event.offset, offset >= committed[partition] ?? 0 {
                return name + ", not processed yet]"
            }
            return name + ", not published]"
        }
        guard found != command else { return name + "]" }
        return name + ", published as \(found.kind.rawValue) x\(found.count) at "
            + "\(utcTimestamp(milliseconds: found.at))]"
    }
}
