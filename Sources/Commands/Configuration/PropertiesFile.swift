/// Reads and writes `.properties` text as Kafka's own tools do, in UTF-8.
///
/// The syntax is that of `java.util.Properties`: `#` and `!` start comment lines, a key ends at the
/// first `=`, `:` or blank, a backslash at the end of a line joins the next one without its
/// leading blanks, and `\uXXXX` is a UTF-16 unit.
package enum PropertiesFile {
    /// One key with its value.
    package struct Entry: Equatable, Sendable {
        /// Without its escapes.
        package var key: String
        /// Without its escapes.
        package var value: String
        /// The line at which the entry starts, from 1.
        package var line: Int
    }

    /// A line that can't be read.
    package struct Mistake: Equatable, Sendable {
        /// From 1.
        package var line: Int
        /// What is wrong, in a phrase.
        package var detail: String
    }

    /// The entries in order, a repeated key as often as it stands there, and all mistakes.
    package static func parse(_ bytes: [UInt8]) -> (entries: [Entry], mistakes: [Mistake]) {
        var entries: [Entry] = []
        var mistakes: [Mistake] = []
        let lines = naturalLines(bytes)
        var index = 0
        while index < lines.count {
            let start = index
            var logical: [Unicode.Scalar] = []
            var continues = true
            while continues, index < lines.count {
                guard var text = String(validating: lines[index], as: UTF8.self) else {
                    mistakes.append(Mistake(line: index + 1, detail: "not UTF-8"))
                    logical = []
                    index += 1
                    break
                }
                // Editors on some systems begin a file with a byte order mark.
                if index == 0, text.unicodeScalars.first == "\u{FEFF}" {
                    text.unicodeScalars.removeFirst()
                }
                let content = text.unicodeScalars.drop(while: isBlank)
                index += 1
                if logical.isEmpty, let first = content.first, first == "#" || first == "!" {
                    break
                }
                continues = endsWithContinuation(content)
                logical.append(contentsOf: continues ? content.dropLast() : content)
            }
            guard !logical.isEmpty else { continue }
            do {
                entries.append(try entry(logical, line: start + 1))
            } catch {
                mistakes.append(Mistake(line: start + 1, detail: error.detail))
            }
        }
        return (entries, mistakes)
    }

    /// A line that ``parse(_:)`` reads as this entry.
    package static func line(key: String, value: String) -> String {
        "\(escaped(key, isKey: true))=\(escaped(value, isKey: false))"
    }

    private struct BadEscape: Error {
        let detail: String
    }

    private static func naturalLines(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var start = 0
        for index in bytes.indices where bytes[index] == 0x0A || bytes[index] == 0x0D {
            let isSecondOfPair = bytes[index] == 0x0A && index > 0 && bytes[index - 1] == 0x0D
            if !isSecondOfPair {
                lines.append(bytes[start..<index])
            }
            start = index + 1
        }
        lines.append(bytes[start...])
        return lines
    }

    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        scalar == " " || scalar == "\t" || scalar == "\u{0C}"
    }

    /// Whether the line ends with an odd number of backslashes: an even one is escaped ones.
    private static func endsWithContinuation(_ line: Substring.UnicodeScalarView) -> Bool {
        line.reversed().prefix { $0 == "\\" }.count % 2 == 1
    }

    private static func entry(
        _ line: [Unicode.Scalar],
        line number: Int
    )
        throws(BadEscape) -> Entry
    {
        var index = 0
        let key = try text(line, from: &index) { $0 == "=" || $0 == ":" || isBlank($0) }
        while index < line.count, isBlank(line[index]) {
            index += 1
        }
        if index < line.count, line[index] == "=" || line[index] == ":" {
            index += 1
        }
        while index < line.count, isBlank(line[index]) {
            index += 1
        }
        let value = try text(line, from: &index) { _ in false }
        return Entry(key: key, value: value, line: number)
    }

    /// The text up to the first unescaped scalar that `isEnd` names, its escapes resolved.
    private static func text(
        _ line: [Unicode.Scalar],
        from index: inout Int,
        until isEnd: (Unicode.Scalar) -> Bool
    )
        throws(BadEscape) -> String
    {
        var result = String.UnicodeScalarView()
        while index < line.count, !isEnd(line[index]) {
            let scalar = line[index]
            index += 1
            guard scalar == "\\", index < line.count else {
                result.append(scalar)
                continue
            }
            let escape = line[index]
            index += 1
            switch escape {
            case "t": result.append("\t")
            case "n": result.append("\n")
            case "r": result.append("\r")
            case "f": result.append("\u{0C}")
            case "u": result.append(try scalarEscape(line, from: &index))
            default: result.append(escape)
            }
        }
        return String(result)
    }

    /// What `\uXXXX`, or two of them that make one character, stand for.
    private static func scalarEscape(
        _ line: [Unicode.Scalar],
        from index: inout Int
    )
        throws(BadEscape) -> Unicode.Scalar
    {
        let unit = try unit(line, from: &index)
        if let scalar = Unicode.Scalar(unit) {
            return scalar
        }
        guard UTF16.isLeadSurrogate(unit), index + 1 < line.count, line[index] == "\\",
            line[index + 1] == "u"
        else { throw BadEscape(detail: "half of a surrogate pair in a \\u escape") }
        index += 2
        let second = try self.unit(line, from: &index)
        guard UTF16.isTrailSurrogate(second) else {
            throw BadEscape(detail: "half of a surrogate pair in a \\u escape")
        }
        return UTF16.decode(UTF16.EncodedScalar([unit, second]))
    }

    private static func unit(
        _ line: [Unicode.Scalar],
        from index: inout Int
    )
        throws(BadEscape) -> UInt16
    {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard index < line.count, let digit = Character(line[index]).hexDigitValue else {
                throw BadEscape(detail: "\\u needs four hexadecimal digits")
            }
            unit = unit << 4 | UInt16(digit)
            index += 1
        }
        return unit
    }

    private static func escaped(_ text: String, isKey: Bool) -> String {
        var result = ""
        var isLeading = true
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\t": result += "\\t"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\u{0C}": result += "\\f"
            case " " where isKey || isLeading: result += "\\ "
            case "=", ":", "#", "!":
                result += isKey ? "\\" : ""
                result.unicodeScalars.append(scalar)
            default: result.unicodeScalars.append(scalar)
            }
            isLeading = false
        }
        return result
    }
}
