/// The display row of a sender, 0 … `lanes` − 1.
///
/// An id with a leading integer, as NSString's `integerValue` reads it (optional ASCII white space,
/// + or −, ASCII digits, saturating at Int64), goes to its absolute value modulo `lanes`; any other
/// to a stable hash modulo `lanes`.
package func lane(ofUser userID: Text, lanes: UInt16) -> UInt16 {
    precondition(lanes > 0, "there is at least one lane")
    var scanner = LeadingIntegerScanner(userID)
    if let magnitude = scanner.magnitude() {
        return UInt16(truncatingIfNeeded: magnitude % UInt64(lanes))
    }
    return UInt16(truncatingIfNeeded: KeyHash(userID).low % UInt64(lanes))
}

/// Reads the integer at the start of a text in JSON text form.
private struct LeadingIntegerScanner {
    private let text: Text
    private var position = 0

    init(_ text: Text) {
        self.text = text
    }

    /// The integer's absolute value; nil: the text starts with none.
    mutating func magnitude() -> UInt64? {
        while skipWhiteSpace() {}
        var isNegative = false
        if let sign = byte(at: position), sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") {
            isNegative = sign == UInt8(ascii: "-")
            position += 1
        }
        // Int64.min lies one further from 0 than Int64.max.
        let limit: UInt64 = isNegative ? 1 << 63 : 1 << 63 - 1
        var value: UInt64?
        while let digit = byte(at: position), digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9")
        {
            let (tens, overflow) = (value ?? 0).multipliedReportingOverflow(by: 10)
            let (sum, carry) = tens.addingReportingOverflow(UInt64(digit - UInt8(ascii: "0")))
            value = overflow || carry ? limit : min(sum, limit)
            position += 1
        }
        return value
    }

    /// Steps over one white-space character, written as itself or as an escape.
    private mutating func skipWhiteSpace() -> Bool {
        switch byte(at: position) {
        case UInt8(ascii: " "):
            position += 1
            return true
        case UInt8(ascii: "\\"):
            return skipEscapedWhiteSpace()
        default:
            return false
        }
    }

    private mutating func skipEscapedWhiteSpace() -> Bool {
        switch byte(at: position + 1) {
        case UInt8(ascii: "t"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "f"):
            position += 2
            return true
        case UInt8(ascii: "u"):
            // U+0009 … U+000D, of which canonical form writes only U+000B this way.
            guard byte(at: position + 2) == UInt8(ascii: "0"),
                byte(at: position + 3) == UInt8(ascii: "0"),
                byte(at: position + 4) == UInt8(ascii: "0"),
                let last = byte(at: position + 5),
                (UInt8(ascii: "a")...UInt8(ascii: "d")).contains(last | 0x20)
                    || last == UInt8(ascii: "9")
            else { return false }
            position += 6
            return true
        default:
            return false
        }
    }

    private func byte(at index: Int) -> UInt8? {
        index < text.count ? unsafe text.bytes[index] : nil
    }
}
