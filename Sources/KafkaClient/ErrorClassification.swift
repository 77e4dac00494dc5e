// What an error of librdkafka asks of the caller: one table and one order of questions.
internal import CRdKafka
package import StreamPorts

/// What librdkafka says of an error: its code, and the flags of `rd_kafka_error_t`.
package struct ErrorFacts: Equatable, Sendable {
    /// The number of `rd_kafka_resp_err_t`: negative for the client's own, positive for a broker's.
    package var code: Int32
    /// The client instance can't go on.
    package var isFatal = false
    /// The call may be made again.
    package var isRetriable = false
    /// The transaction can only be aborted.
    package var requiresAbort = false

    /// Creates the facts of an error; without flags where librdkafka gives only a code.
    package init(
        code: Int32,
        isFatal: Bool = false,
        isRetriable: Bool = false,
        requiresAbort: Bool = false
    ) {
        self.code = code
        self.isFatal = isFatal
        self.isRetriable = isRetriable
        self.requiresAbort = requiresAbort
    }

    /// What the caller must do.
    ///
    /// A code whose meaning is fixed for this program is looked up first: librdkafka flags a fenced
    /// producer as fatal and a lost membership sometimes as fatal, sometimes as abortable. Then the
    /// flags decide, the most severe first, and last what the bare code is known for. What nothing
    /// is known about is fatal: a new client is the one answer that is always safe.
    package var disposition: StreamError.Disposition {
        if let fixed = Self.fixed[code] { return fixed }
        if isFatal { return .fatal }
        if requiresAbort { return .abortable }
        if isRetriable || Self.transient.contains(code) { return .retriable }
        return .fatal
    }

    /// Codes that mean one thing whatever their flags say.
    private static let fixed: [Int32: StreamError.Disposition] = {
        var table: [Int32: StreamError.Disposition] = [:]
        for code in fencedCodes { table[code.rawValue] = .fenced }
        for code in membershipCodes { table[code.rawValue] = .abortable }
        for code in refusedCodes { table[code.rawValue] = .refused }
        // librdkafka flags it as retriable, but an abort is refused for as long as a commit that
        // ran into its time-out goes on inside, and only the same call again would end that one.
        table[RD_KAFKA_RESP_ERR__CONFLICT.rawValue] = .fatal
        return table
    }()

    /// Another client has taken over this one's identity.
    private static let fencedCodes: [rd_kafka_resp_err_t] = [
        RD_KAFKA_RESP_ERR__FENCED,
        RD_KAFKA_RESP_ERR_PRODUCER_FENCED,
        RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH,
        RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID,
        RD_KAFKA_RESP_ERR_TRANSACTION_COORDINATOR_FENCED,
    ]

    /// The group has moved on without this member (KIP-447): abort, and take part anew.
    private static let membershipCodes: [rd_kafka_resp_err_t] = [
        RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION,
        RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID,
        RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS,
        RD_KAFKA_RESP_ERR__ASSIGNMENT_LOST,
    ]

    /// A person must change something first.
    private static let refusedCodes: [rd_kafka_resp_err_t] = [
        RD_KAFKA_RESP_ERR__AUTHENTICATION,
        RD_KAFKA_RESP_ERR__INVALID_ARG,
        RD_KAFKA_RESP_ERR__UNKNOWN_GROUP,
        RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION,
        RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC,
        RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE,
        RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED,
        RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED,
        RD_KAFKA_RESP_ERR_GROUP_ID_NOT_FOUND,
        RD_KAFKA_RESP_ERR_ILLEGAL_SASL_STATE,
        RD_KAFKA_RESP_ERR_INCONSISTENT_GROUP_PROTOCOL,
        RD_KAFKA_RESP_ERR_INVALID_CONFIG,
        RD_KAFKA_RESP_ERR_INVALID_GROUP_ID,
        RD_KAFKA_RESP_ERR_INVALID_PARTITIONS,
        RD_KAFKA_RESP_ERR_INVALID_RECORD,
        RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR,
        RD_KAFKA_RESP_ERR_INVALID_REQUEST,
        RD_KAFKA_RESP_ERR_INVALID_SESSION_TIMEOUT,
        RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP,
        RD_KAFKA_RESP_ERR_INVALID_TRANSACTION_TIMEOUT,
        RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE,
        RD_KAFKA_RESP_ERR_NON_EMPTY_GROUP,
        RD_KAFKA_RESP_ERR_OFFSET_METADATA_TOO_LARGE,
        RD_KAFKA_RESP_ERR_POLICY_VIOLATION,
        RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE,
        RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED,
        RD_KAFKA_RESP_ERR_SECURITY_DISABLED,
        RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS,
        RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED,
        RD_KAFKA_RESP_ERR_TOPIC_DELETION_DISABLED,
        RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION,
        RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART,
        RD_KAFKA_RESP_ERR_UNSUPPORTED_FOR_MESSAGE_FORMAT,
        RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM,
        RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION,
    ]

    /// Passes by itself: a broker that is away or busy, a leader or coordinator that moves.
    private static let transient: Set<Int32> = Set(
        [
            RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN,
            RD_KAFKA_RESP_ERR__BAD_MSG,
            RD_KAFKA_RESP_ERR__INTR,
            RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED,
            RD_KAFKA_RESP_ERR__NODE_UPDATE,
            RD_KAFKA_RESP_ERR__QUEUE_FULL,
            RD_KAFKA_RESP_ERR__RESOLVE,
            RD_KAFKA_RESP_ERR__RETRY,
            RD_KAFKA_RESP_ERR__SSL,
            RD_KAFKA_RESP_ERR__TIMED_OUT,
            RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE,
            RD_KAFKA_RESP_ERR__TRANSPORT,
            RD_KAFKA_RESP_ERR__WAIT_CACHE,
            RD_KAFKA_RESP_ERR__WAIT_COORD,
            RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE,
            RD_KAFKA_RESP_ERR_CONCURRENT_TRANSACTIONS,
            RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS,
            RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE,
            RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR,
            RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE,
            RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION,
            RD_KAFKA_RESP_ERR_NOT_CONTROLLER,
            RD_KAFKA_RESP_ERR_NOT_COORDINATOR,
            RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS,
            RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND,
            RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
            RD_KAFKA_RESP_ERR_OFFSET_NOT_AVAILABLE,
            RD_KAFKA_RESP_ERR_REPLICA_NOT_AVAILABLE,
            RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT,
            RD_KAFKA_RESP_ERR_THROTTLING_QUOTA_EXCEEDED,
            RD_KAFKA_RESP_ERR_UNSTABLE_OFFSET_COMMIT,
        ].map(\.rawValue)
    )
}

extension StreamError {
    /// An error that librdkafka gives as a bare code.
    init(_ code: rd_kafka_resp_err_t, operation: String, detail: String? = nil) {
        self.init(
            ErrorFacts(code: code.rawValue).disposition,
            operation: operation,
            code: Self.name(of: code),
            detail: unsafe detail ?? String(cString: rd_kafka_err2str(code))
        )
    }

    /// Takes over an `rd_kafka_error_t`, which is destroyed; nil: no error.
    ///
    /// A fatal error carries the code `_FATAL`; its cause is the client's.
    init?(taking error: OpaquePointer?, operation: String, client: OpaquePointer?) {
        guard let error = unsafe error else { return nil }
        var code = unsafe rd_kafka_error_code(error)
        var detail = unsafe String(cString: rd_kafka_error_string(error))
        if code == RD_KAFKA_RESP_ERR__FATAL, let client = unsafe client,
            let cause = unsafe Self.fatalCause(of: client)
        {
            (code, detail) = cause
        }
        let facts = unsafe ErrorFacts(
            code: code.rawValue,
            isFatal: rd_kafka_error_is_fatal(error) != 0,
            isRetriable: rd_kafka_error_is_retriable(error) != 0,
            requiresAbort: rd_kafka_error_txn_requires_abort(error) != 0
        )
        unsafe rd_kafka_error_destroy(error)
        self.init(
            facts.disposition,
            operation: operation,
            code: Self.name(of: code),
            detail: detail
        )
    }

    /// The error that made the client unusable; nil while it is well.
    init?(fatalOf client: OpaquePointer, operation: String) {
        guard let (code, detail) = unsafe Self.fatalCause(of: client) else { return nil }
        self.init(
            ErrorFacts(code: code.rawValue, isFatal: true).disposition,
            operation: operation,
            code: Self.name(of: code),
            detail: detail
        )
    }

    /// Runs a call that answers with an `rd_kafka_error_t`, and throws what it answers.
    static func check(
        _ operation: String,
        client: OpaquePointer?,
        _ error: OpaquePointer?
    )
        throws(StreamError)
    {
        if let error = unsafe StreamError(taking: error, operation: operation, client: client) {
            throw error
        }
    }

    static func name(of code: rd_kafka_resp_err_t) -> String {
        unsafe String(cString: rd_kafka_err2name(code))
    }

    private static func fatalCause(of client: OpaquePointer) -> (rd_kafka_resp_err_t, String)? {
        let (code, text) = unsafe withErrorText { bytes, size in
            unsafe rd_kafka_fatal_error(client, bytes, size)
        }
        return code == RD_KAFKA_RESP_ERR_NO_ERROR ? nil : (code, text)
    }
}

/// Gives a call room for its error sentence, and returns both its result and the sentence.
func withErrorText<Result>(
    _ call: (UnsafeMutablePointer<CChar>, Int) -> Result
) -> (Result, String) {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { bytes in
        guard let base = bytes.baseAddress else {
            preconditionFailure("an allocation of 512 bytes has an address")
        }
        unsafe base.pointee = 0
        let result = unsafe call(base, bytes.count)
        return unsafe (result, String(cString: base))
    }
}
