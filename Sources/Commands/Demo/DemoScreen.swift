/// The line of figures under the lanes.
struct DemoFigures: Equatable {
    /// Where the overlay is.
    var overlay = ""
    var elapsed: Int64 = 0
    var duration: Int64?
    var eventsPerSecond: Int64 = 0
    var events = 0
    var commands = 0
    var liveCombos = 0
    /// Records that wait in the input; nil: unknown yet.
    var lag: Int64?
    /// From a gift's timestamp to its command's arrival, milliseconds; nil: none yet.
    var latencyMedian: Int64?
    var latencyHigh: Int64?
}

/// Draws the lanes and the figures as text for a terminal of any size.
///
/// Each cell is put at its column by the cursor, so that a terminal with another opinion of a
/// character's width can't shift what stands behind it.
struct DemoScreen {
    let isColoured: Bool

    /// Lines that are not the lanes': title, heads, two rules, two of figures.
    private static let frameLines = 6
    private static let narrowestLane = 26
    /// How long a change is bright, milliseconds.
    private static let brightMilliseconds: Int64 = 400

    /// How many rows a lane has in a terminal so high.
    static func rows(inHeight height: Int) -> Int {
        max(0, height - frameLines)
    }

    /// The whole screen, from its first line to its last.
    func frame(
        _ rows: LaneRows,
        _ figures: DemoFigures,
        size: (rows: Int, columns: Int)
    ) -> String {
        let shown = max(1, min(rows.lanes.count, size.columns / Self.narrowestLane))
        let laneWidth = (size.columns - (shown - 1) * 3) / shown
        var lines: [String] = [title(figures, size.columns)]
        lines.append(heads(shown, laneWidth))
        lines.append(rule(size.columns))
        for row in 0..<Self.rows(inHeight: size.rows) {
            var line = ""
            for lane in 0..<shown {
                let column = lane * (laneWidth + 3) + 1
                if lane > 0 { line += at(column - 2) + "│" }
                let content = rows.lanes[lane].indices.contains(row) ? rows.lanes[lane][row] : nil
                guard let content else { continue }
                line += cell(content, column: column, width: laneWidth, now: figures.elapsed)
            }
            lines.append(line)
        }
        lines.append(rule(size.columns))
        lines += self.figures(figures, size.columns)
        var text = ""
        for (index, line) in lines.prefix(size.rows).enumerated() {
            text += "\u{1B}[\(index + 1);1H\u{1B}[2K" + line
        }
        return text
    }

    private func title(_ figures: DemoFigures, _ columns: Int) -> String {
        let total = figures.duration.map { " of \(clock($0))" } ?? ""
        let left = "giftcombo demo, in a browser: \(figures.overlay)"
        let right = clock(figures.elapsed) + total
        let text = cut(left, toColumns: max(0, columns - right.count - 1))
        return styled(text, "1") + at(max(1, columns - right.count + 1)) + right
    }

    private func heads(_ shown: Int, _ width: Int) -> String {
        (0..<shown).map { lane in
            let column = lane * (width + 3) + 1
            return (lane > 0 ? at(column - 2) + "│" : "") + at(column) + styled("lane \(lane)", "1")
        }.joined()
    }

    /// One combo: a sign of its state, sender, gift and count.
    private func cell(
        _ row: LaneRows.Row,
        column: Int,
        width: Int,
        now: Int64
    ) -> String {
        let countText = "x\(row.count)"
        let countWidth = max(7, countText.count)
        let textWidth = max(0, width - 4 - countWidth)
        let giftWidth = textWidth * 2 / 5
        let isBright = now - row.changedAt < Self.brightMilliseconds
        let sign = row.isHidden ? "-" : row.isResumed ? "*" : " "
        let style = row.isHidden ? "2" : isBright ? (row.isResumed ? "1;33" : "1;32") : ""
        let parts =
            at(column) + sign + " " + cut(row.sender, toColumns: textWidth - giftWidth)
            + at(column + 3 + textWidth - giftWidth) + cut(row.gift, toColumns: giftWidth)
            + at(column + width - countText.count) + countText
        return styled(parts, style)
    }

    private func figures(_ figures: DemoFigures, _ columns: Int) -> [String] {
        let lag = figures.lag.map { String($0) } ?? "-"
        let median = figures.latencyMedian.map { "\($0) ms" } ?? "-"
        let high = figures.latencyHigh.map { "\($0) ms" } ?? "-"
        let first =
            "\(figures.eventsPerSecond) events/s, \(figures.liveCombos) live combos, lag \(lag), "
            + "latency \(median), 99 %: \(high)"
        let second =
            "\(figures.events) events, \(figures.commands) commands   "
            + "- hidden  * resumed   Ctrl-C ends"
        return [cut(first, toColumns: columns), cut(second, toColumns: columns)]
    }

    private func rule(_ columns: Int) -> String {
        String(repeating: "─", count: max(0, columns))
    }

    private func at(_ column: Int) -> String {
        "\u{1B}[\(column)G"
    }

    private func styled(_ text: String, _ style: String) -> String {
        isColoured && !style.isEmpty ? "\u{1B}[\(style)m\(text)\u{1B}[0m" : text
    }

    private func clock(_ milliseconds: Int64) -> String {
        let seconds = milliseconds / 1_000
        let rest = String(seconds % 60)
        return "\(seconds / 60):" + (rest.count < 2 ? "0" : "") + rest
    }
}
