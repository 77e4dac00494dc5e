/// How much a log line matters.
package enum LogLevel: String, CaseIterable, Comparable, Sendable {
    /// Of use to somebody who looks for a fault.
    case debug
    /// An event of life: start, assigned, ready, revoked, stop.
    case info
    /// Something that a person may have to look at, and work goes on.
    case warning
    /// Something that stopped work.
    case error

    /// Orders levels from debug to error.
    package static func < (left: LogLevel, right: LogLevel) -> Bool {
        left.severity < right.severity
    }

    private var severity: Int {
        switch self {
        case .debug: 0
        case .info: 1
        case .warning: 2
        case .error: 3
        }
    }
}

/// A field's value in a log line.
package enum LogValue: Hashable, Sendable {
    case text(String)
    case integer(Int64)
    case boolean(Bool)
}

extension LogValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral
{
    /// Makes a text of a literal.
    package init(stringLiteral value: String) { self = .text(value) }
    /// Makes an integer of a literal.
    package init(integerLiteral value: Int64) { self = .integer(value) }
    /// Makes a boolean of a literal.
    package init(booleanLiteral value: Bool) { self = .boolean(value) }
}

/// The fields of a log line, in order: `["partition": .integer(3), "reason": "lost"]`.
package struct LogFields: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    struct Field: Hashable, Sendable {
        var name: String
        var value: LogValue
    }

    var fields: [Field]

    /// Makes fields of a literal; a name is plain ASCII and none of `time`, `level`, `event`,
    /// `repeated`.
    package init(dictionaryLiteral elements: (String, LogValue)...) {
        fields = elements.map { name, value in
            precondition(!Self.reservedNames.contains(name), "the line has a field of that name")
            return Field(name: name, value: value)
        }
    }

    /// These fields, then `others`.
    package func followed(by others: LogFields) -> LogFields {
        var sum = self
        sum.fields += others.fields
        return sum
    }

    private static let reservedNames = ["time", "level", "event", "repeated"]
}

/// One event of life, to be written as one line.
struct LogEvent: Hashable, Sendable {
    var level: LogLevel
    var name: String
    var fields: LogFields
}

/// How log lines are written (`log.format`).
package enum LogFormat: String, CaseIterable, Sendable {
    /// `2026-01-01T00:00:00.000Z info  ready partitions=0,1`
    case text
    /// One JSON object a line: `time`, `level`, `event`, then the fields.
    case json

    /// Writes a line, with its line feed; no character of a field can end the line early.
    func line(_ event: LogEvent, wallMilliseconds: Int64, repeated: Int) -> String {
        var fields = event.fields.fields
        if repeated > 0 {
            fields.append(.init(name: "repeated", value: .integer(Int64(repeated))))
        }
        let time = utcTimestamp(milliseconds: wallMilliseconds)
        switch self {
        case .text:
            let padding = String(repeating: " ", count: max(0, 5 - event.level.rawValue.count))
            var line = "\(time) \(event.level.rawValue)\(padding) \(event.name)"
            for field in fields {
                line += " \(field.name)=\(plain(field.value))"
            }
            return line + "\n"
        case .json:
            var line = "{\"time\":\"\(time)\",\"level\":\"\(event.level.rawValue)\""
            line += ",\"event\":\(quoted(event.name))"
            for field in fields {
                line += ",\(quoted(field.name)):\(json(field.value))"
            }
            return line + "}\n"
        }
    }

    private func plain(_ value: LogValue) -> String {
        switch value {
        case .text(let text): needsQuotes(text) ? quoted(text) : text
        case .integer(let number): String(number)
        case .boolean(let truth): String(truth)
        }
    }

    private func json(_ value: LogValue) -> String {
        switch value {
        case .text(let text): quoted(text)
        case .integer(let number): String(number)
        case .boolean(let truth): String(truth)
        }
    }

    private func needsQuotes(_ text: String) -> Bool {
        text.isEmpty
            || text.unicodeScalars.contains { scalar in
                isControl(scalar) || scalar == " " || scalar == "\"" || scalar == "\\"
                    || scalar == "="
            }
    }

    /// A JSON string; control characters, which could end the line or drive a terminal, escaped.
    private func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where isControl(scalar):
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    private func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) || scalar.value == 0x2028
            || scalar.value == 0x2029
    }
}

/// A moment as RFC 3339 writes it, in UTC with milliseconds: `2026-01-01T00:00:00.000Z`.
///
/// Proleptic Gregorian calendar. The year is counted from March, so that a leap day is the last
/// day of its year and months have the regular lengths 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 31.
package func utcTimestamp(milliseconds: Int64) -> String {
    let (days, ofDay) = floored(milliseconds, by: 86_400_000)
    // Days since 0000-03-01, in cycles of 400 years, which all have 146,097 days.
    let (cycle, dayOfCycle) = floored(days + 719_468, by: 146_097)
    // Take out the leap days: one after 1,460 days, none after 36,524, one after 146,096.
    let yearOfCycle =
        (dayOfCycle - dayOfCycle / 1_460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
    let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    let year = cycle * 400 + yearOfCycle + (month <= 2 ? 1 : 0)
    let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
    let seconds = ofDay / 1_000
    let time = [seconds / 3_600, seconds / 60 % 60, seconds % 60].map { padded($0, 2) }
    return "\(date)T\(time.joined(separator: ":")).\(padded(ofDay % 1_000, 3))Z"
}

private func floored(_ value: Int64, by divisor: Int64) -> (quotient: Int64, rest: Int64) {
    let (quotient, rest) = value.quotientAndRemainder(dividingBy: divisor)
    return rest < 0 ? (quotient - 1, rest + divisor) : (quotient, rest)
}

private func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
}
