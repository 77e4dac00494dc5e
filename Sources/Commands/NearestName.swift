/// The name that a mistyped one probably means: the one with the fewest edits between them.
///
/// An edit inserts, removes or replaces a byte, or swaps two neighbours (the optimal string
/// alignment distance). Nil where none is within a third of the name's length, at least two edits.
/// Quadratic in the names' lengths; of equally near ones the first.
func nearestName(to name: String, among candidates: [String]) -> String? {
    let limit = max(2, name.utf8.count / 3)
    var best: (name: String, distance: Int)?
    for candidate in candidates where abs(candidate.utf8.count - name.utf8.count) <= limit {
        let distance = editDistance(Array(name.utf8), Array(candidate.utf8))
        if distance <= limit, distance < best?.distance ?? .max {
            best = (candidate, distance)
        }
    }
    return best?.name
}

/// "; nearest: NAME", or nothing where no name is near.
func nearestHint(to name: String, among candidates: [String]) -> String {
    nearestName(to: name, among: candidates).map { "; nearest: \($0)" } ?? ""
}

private func editDistance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for (row, byte) in left.enumerated() {
        var current = [row + 1]
        for (column, other) in right.enumerated() {
            var distance = min(
                last[column + 1] + 1,
                current[column] + 1,
                last[column] + (byte == other ? 0 : 1)
            )
            if row > 0, column > 0, byte == right[column - 1], left[row - 1] == other {
                distance = min(distance, beforeLast[column - 1] + 1)
            }
            current.append(distance)
        }
        beforeLast = last
        last = current
    }
    return last[right.count]
}
