/// What is wrong with a text that should be JSON.
package enum JSONProblem: UInt8, Error, CaseIterable, Sendable {
    /// The text ends in the middle of a value.
    case unexpectedEnd
    /// A byte that cannot stand here.
    case unexpectedByte
    /// A control character (below U+0020) inside a string.
    case controlCharacter
    /// A backslash followed by something that is no escape.
    case badEscape
    /// Half of a surrogate pair, written as an escape.
    case loneSurrogate
    /// Bytes inside a string that are not UTF-8.
    case notUTF8
    /// Something that begins like a number and is none.
    case badNumber
    /// Arrays and objects nested too deeply.
    case tooDeep
    /// Something after the value.
    case trailingBytes

    // The rest is said by a reader that expects a certain value, of a text that is JSON so far.

    /// The value is of another kind than the reader asked for.
    case otherKind
    /// The number has a fraction or an exponent where an integer is expected.
    case notAnInteger
    /// The integer lies beyond Int64.
    case integerOverflow
}

/// A problem and where it is.
package struct JSONError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What is wrong.
    package let problem: JSONProblem
    /// Byte position in the text, from 0.
    package let position: Int

    /// One sentence without a full stop, for people.
    package var description: String {
        "\(problem.description) at byte \(position)"
    }
}

extension JSONProblem: CustomStringConvertible {
    /// A few words for people, without the position.
    package var description: String {
        switch self {
        case .unexpectedEnd: "unexpected end"
        case .unexpectedByte: "unexpected byte"
        case .controlCharacter: "control character in a string"
        case .badEscape: "unknown escape"
        case .loneSurrogate: "half of a surrogate pair"
        case .notUTF8: "bytes that are not UTF-8"
        case .badNumber: "malformed number"
        case .tooDeep: "nested too deeply"
        case .trailingBytes: "something after the value"
        case .otherKind: "a value of another kind"
        case .notAnInteger: "a number that is no integer"
        case .integerOverflow: "an integer beyond 64 bits"
        }
    }
}
