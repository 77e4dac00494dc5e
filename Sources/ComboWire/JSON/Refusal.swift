/// Why a record cannot be used; the raw value is the dead letter's `error` header.
///
/// The order is that of precedence: a record is refused for the first reason that applies.
package enum RefusalReason: String, CaseIterable, Sendable {
    /// The value has no bytes.
    case emptyValue = "empty-value"
    /// The value is longer than `input.max.bytes`.
    case tooLarge = "too-large"
    /// Anywhere in the value are bytes that are not UTF-8.
    case notUTF8 = "not-utf8"
    /// The value is not one JSON text (RFC 8259), or one nested over 64.
    case notJSON = "not-json"
    /// The value is no object, or a known field is of another type than it should be.
    case wrongType = "wrong-type"
    /// `user_id` is absent, null or empty.
    case missingUserID = "missing-user-id"
    /// A number lies outside its field's bounds.
    case outOfRange = "out-of-range"
    /// The record's key is not the `user_id`.
    case keyMismatch = "key-mismatch"
}

/// The refusal of one record: the reason, and what is needed to explain it.
package struct Refusal: Error, Equatable, Sendable {
    /// Why the record cannot be used.
    package let reason: RefusalReason
    /// The field it is about, if it is about one.
    package let field: GiftField?
    /// What makes the text no JSON, if that is the reason.
    package let problem: JSONProblem?
    /// Byte position in the value of what is wrong; 0 if it is about the record as a whole.
    package let position: Int

    init(
        _ reason: RefusalReason,
        field: GiftField? = nil,
        problem: JSONProblem? = nil,
        position: Int = 0
    ) {
        self.reason = reason
        self.field = field
        self.problem = problem
        self.position = position
    }

    /// One sentence without a full stop: what is wrong, in which field, at which byte.
    ///
    /// It holds nothing of the record itself. It is built anew on each call.
    package var detail: String {
        switch reason {
        case .emptyValue: "the value has no bytes"
        case .tooLarge: "the value is longer than input.max.bytes"
        case .notUTF8: "not UTF-8 at byte \(position)"
        case .notJSON: "\((problem ?? .unexpectedByte).description) at byte \(position)"
        case .wrongType:
            if let field {
                "\(field.name) is no \(field.kind.description) at byte \(position)"
            } else {
                "the value is no object"
            }
        case .missingUserID: "user_id is absent or empty"
        case .outOfRange:
            if let field {
                "\(field.name) is not within \(field.bounds.description) at byte \(position)"
            } else {
                "a number is out of range at byte \(position)"
            }
        case .keyMismatch: "the record key is not the user_id"
        }
    }
}
