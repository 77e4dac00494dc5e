/// How many columns of a terminal a text takes.
///
/// As terminals do it: what East Asian Width (UAX 11) calls wide or fullwidth, and what is shown
/// as an emoji, takes two; marks that combine, joiners and other format characters take none; the
/// rest one. A sequence that makes one emoji (joined, with a skin tone, a flag) takes two
/// together.
func columnWidth(of text: some StringProtocol) -> Int {
    text.reduce(0) { $0 + columnWidth(of: $1) }
}

/// The columns of one character as its reader sees it.
func columnWidth(of character: Character) -> Int {
    let scalars = character.unicodeScalars
    guard let first = scalars.first else { return 0 }
    let asksForEmoji = scalars.dropFirst().contains { $0.value == 0xFE0F }
    if first.properties.isEmojiPresentation || asksForEmoji && first.properties.isEmoji {
        return 2
    }
    // A syllable of conjoined jamo is as wide as the consonant that it begins with.
    if (0x1100...0x115F).contains(first.value) { return 2 }
    return scalars.reduce(0) { $0 + columnWidth(of: $1) }
}

/// The beginning of a text that takes at most `columns`; one that is cut ends with a dot.
func cut(_ text: String, toColumns columns: Int) -> String {
    guard columnWidth(of: text) > columns else { return text }
    var result = ""
    var used = 0
    for character in text {
        let width = columnWidth(of: character)
        guard used + width < columns else { break }
        result.append(character)
        used += width
    }
    return columns > 0 ? result + "." : ""
}

/// A text without what would move the cursor or change the terminal: controls become blanks.
func printable(_ text: String) -> String {
    String(
        String.UnicodeScalarView(
            text.unicodeScalars.map { scalar in
                switch scalar.properties.generalCategory {
                case .control, .lineSeparator, .paragraphSeparator, .surrogate: " "
                default: isDirectionControl(scalar) ? " " : scalar
                }
            }
        )
    )
}

/// Marks that turn the direction of what follows them, beyond the name that holds them.
private func isDirectionControl(_ scalar: Unicode.Scalar) -> Bool {
    (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
}

private func columnWidth(of scalar: Unicode.Scalar) -> Int {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .control, .lineSeparator, .paragraphSeparator:
        return 0
    default: break
    }
    // Vowels and finals of conjoined jamo stand in their consonant's cell.
    if (0x1160...0x11FF).contains(scalar.value) { return 0 }
    return isWide(scalar.value) ? 2 : 1
}

/// Whether a code point is wide or fullwidth, by the blocks of EastAsianWidth.txt (Unicode 15.1);
/// emoji are told by their own property.
private func isWide(_ value: UInt32) -> Bool {
    guard value >= 0x1100 else { return false }
    return wideBlocks.contains { $0.contains(value) }
}

private let wideBlocks: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x3247, 0x3250...0x4DBF,
    0x4E00...0xA4C6, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19,
    0xFE30...0xFE6B, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x16FF1, 0x17000...0x18CFF,
    0x18D00...0x18D08, 0x1AFF0...0x1B2FB, 0x1F200...0x1F265, 0x20000...0x2FFFD,
    0x30000...0x3FFFD,
]
