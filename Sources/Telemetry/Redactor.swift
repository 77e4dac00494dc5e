/// Keeps secrets out of log lines.
///
/// Two rules. A field whose name says that it is secret shows `***` whatever its value. And a value
/// that is known to be secret (from the settings marked so) is replaced wherever it turns up: in
/// any field, in the middle of another program's words.
package struct Redactor: Sendable {
    private let secretValues: [String]

    /// What stands where a secret stood.
    private static let mask = "***"
    /// A field whose lower-case name holds one of these is secret.
    private static let secretWords = [
        "password", "secret", "token", "passphrase", "credential", "jaas", "key.pem",
    ]

    /// Takes the values that must never be shown; empty ones are ignored.
    package init(secretValues: [String] = []) {
        // Longer ones first: a secret that holds another must not be left with its ends showing.
        self.secretValues = secretValues.filter { !$0.isEmpty }
            .sorted { ($0.utf8.count, $1) > ($1.utf8.count, $0) }
    }

    /// The event with nothing secret in it.
    func redacted(_ event: LogEvent) -> LogEvent {
        var event = event
        event.name = redacted(event.name)
        for index in event.fields.fields.indices {
            let field = event.fields.fields[index]
            event.fields.fields[index].value = redacted(field.value, name: field.name)
        }
        return event
    }

    private func redacted(_ value: LogValue, name: String) -> LogValue {
        let lowered = name.lowercased()
        if Self.secretWords.contains(where: { lowered.contains($0) }) {
            return .text(Self.mask)
        }
        switch value {
        case .text(let text):
            return .text(redacted(text))
        case .integer(let number):
            return secretValues.contains(String(number)) ? .text(Self.mask) : value
        case .boolean:
            return value
        }
    }

    private func redacted(_ text: String) -> String {
        var bytes = Array(text.utf8)
        var changed = false
        for secret in secretValues {
            changed = replace(Array(secret.utf8), in: &bytes) || changed
        }
        return changed ? String(decoding: bytes, as: UTF8.self) : text
    }

    /// Compares bytes, as the secret was configured: no folding of case or of Unicode forms.
    private func replace(_ secret: [UInt8], in bytes: inout [UInt8]) -> Bool {
        guard bytes.count >= secret.count else { return false }
        var result: [UInt8] = []
        var index = 0
        var found = false
        while index < bytes.count {
            if bytes[index...].starts(with: secret) {
                result += Self.mask.utf8
                index += secret.count
                found = true
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        if found {
            bytes = result
        }
        return found
    }
}
