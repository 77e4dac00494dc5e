/// What went wrong at a port, and what the caller must do about it.
package struct StreamError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What the caller must do.
    package enum Disposition: Sendable {
        /// The same call may be made again.
        case retriable
        /// The transaction must be aborted; then work goes on from the committed offsets.
        case abortable
        /// Another producer with this transactional id has begun, or one's own transaction timed
        /// out: this producer is of no more use; a new one may be made.
        case fenced
        /// The client is of no more use; a new one may be made.
        case fatal
        /// The call can't succeed as it is: something that a person must change (a missing topic,
        /// a refused login, a wrong setting).
        case refused
    }

    /// What the caller must do.
    package var disposition: Disposition
    /// The call that failed, as Kafka names it: `commit_transaction`.
    package var operation: String
    /// The client library's name of the error: `_TIMED_OUT`.
    package var code: String
    /// A sentence for people.
    package var detail: String

    /// Creates an error.
    package init(
        _ disposition: Disposition,
        operation: String,
        code: String,
        detail: String
    ) {
        self.disposition = disposition
        self.operation = operation
        self.code = code
        self.detail = detail
    }

    /// The call, the sentence and the code.
    package var description: String { "\(operation): \(detail) (\(code))" }

    /// Whether it is a right that is missing.
    package var isMissingRight: Bool { code.hasSuffix("AUTHORIZATION_FAILED") }

    /// The description, and where a right is missing how to find out which.
    package var withAdvice: String {
        isMissingRight ? "\(self); grant the right: giftcombo check says which" : "\(self)"
    }
}
