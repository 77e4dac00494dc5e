/// The rows of the display lanes, as an overlay would keep them.
///
/// A combo keeps its row from its first `show` to its `end`. Where a lane is full, a newcomer
/// takes the row of the hidden combo that has been quiet for longest, or else of the displayed
/// one.
struct LaneRows {
    /// What a row shows.
    struct Row: Equatable {
        var comboID: String
        var sender: String
        var gift: String
        var count: Int64
        var isHidden: Bool
        /// Whether it was hidden before and counts on.
        var isResumed: Bool
        /// When it changed last, milliseconds of the demo's own time.
        var changedAt: Int64
    }

    /// By lane, then by row; nil: a free row.
    private(set) var lanes: [[Row?]]
    private var places: [String: (lane: Int, row: Int)] = [:]

    init(lanes: Int) {
        self.lanes = Array(repeating: [], count: lanes)
    }

    /// Makes room for so many rows in each lane; rows that no longer fit are dropped.
    mutating func resize(rows: Int) {
        for lane in lanes.indices {
            for row in lanes[lane].dropFirst(rows) {
                if let row { places[row.comboID] = nil }
            }
            let missing = rows - lanes[lane].count
            if missing < 0 {
                lanes[lane].removeLast(-missing)
            } else {
                lanes[lane].append(contentsOf: repeatElement(nil, count: missing))
            }
        }
    }

    /// Shows what a command says.
    mutating func apply(_ command: ParsedCommand, now: Int64) {
        let lane = command.lane % lanes.count
        guard command.kind != .end else {
            if let place = places.removeValue(forKey: command.comboID) {
                lanes[place.lane][place.row] = nil
            }
            return
        }
        guard let place = places[command.comboID] ?? place(in: lane, for: command) else { return }
        let before = lanes[place.lane][place.row]
        lanes[place.lane][place.row] = Row(
            comboID: command.comboID,
            sender: printable(command.sender),
            gift: printable(command.gift),
            count: command.count,
            isHidden: command.kind == .hide,
            isResumed: command.resumed || before?.isResumed ?? false,
            changedAt: now
        )
    }

    /// A row for a combo that has none; nil: it is hidden already, or there are no rows.
    private mutating func place(
        in lane: Int,
        for command: ParsedCommand
    ) -> (lane: Int, row: Int)? {
        guard command.kind != .hide else { return nil }
        let rows = lanes[lane]
        let free = rows.firstIndex { $0 == nil }
        let quietest = rows.indices.min { left, right in
            rank(rows[left]) < rank(rows[right])
        }
        guard let row = free ?? quietest else { return nil }
        if let old = rows[row] { places[old.comboID] = nil }
        places[command.comboID] = (lane, row)
        lanes[lane][row] = nil
        return (lane, row)
    }

    private func rank(_ row: Row?) -> (Int, Int64) {
        guard let row else { return (0, 0) }
        return (row.isHidden ? 1 : 2, row.changedAt)
    }
}
