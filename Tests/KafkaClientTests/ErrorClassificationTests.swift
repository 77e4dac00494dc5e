import CRdKafka
import StreamPorts
import Testing

@testable import KafkaClient

@Suite struct `Errors say what to do` {
    @Test(arguments: [
        RD_KAFKA_RESP_ERR__FENCED, RD_KAFKA_RESP_ERR_PRODUCER_FENCED,
        RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH, RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID,
    ])
    func `a client whose identity was taken over is fenced, whatever the flags say`(
        code: rd_kafka_resp_err_t
    ) {
        for flags in allFlags(code) { #expect(flags.disposition == .fenced) }
    }

    @Test(arguments: [
        RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION, RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID,
        RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS,
    ])
    func `a member that the group has left behind aborts`(code: rd_kafka_resp_err_t) {
        for flags in allFlags(code) { #expect(flags.disposition == .abortable) }
    }

    @Test(arguments: [
        RD_KAFKA_RESP_ERR__AUTHENTICATION, RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED,
        RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED,
        RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC,
        RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION, RD_KAFKA_RESP_ERR_INVALID_TRANSACTION_TIMEOUT,
        RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE,
    ])
    func `what a person must change is refused`(code: rd_kafka_resp_err_t) {
        for flags in allFlags(code) { #expect(flags.disposition == .refused) }
    }

    @Test func `a call that another one is in the way of needs a new client`() {
        for flags in allFlags(RD_KAFKA_RESP_ERR__CONFLICT) { #expect(flags.disposition == .fatal) }
    }

    @Test(arguments: [
        RD_KAFKA_RESP_ERR__TRANSPORT, RD_KAFKA_RESP_ERR__TIMED_OUT,
        RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, RD_KAFKA_RESP_ERR_NOT_COORDINATOR,
        RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS,
        RD_KAFKA_RESP_ERR_UNSTABLE_OFFSET_COMMIT, RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
    ])
    func `what passes by itself may be tried again, unless a flag says worse`(
        code: rd_kafka_resp_err_t
    ) {
        var facts = ErrorFacts(code: code.rawValue)
        #expect(facts.disposition == .retriable)
        facts.isRetriable = true
        #expect(facts.disposition == .retriable)
        facts.requiresAbort = true
        #expect(facts.disposition == .abortable)
        facts.isFatal = true
        #expect(facts.disposition == .fatal)
    }

    @Test func `of an unknown error the flags decide, and without flags it is fatal`() {
        let code = RD_KAFKA_RESP_ERR__INCONSISTENT.rawValue
        #expect(ErrorFacts(code: code).disposition == .fatal)
        #expect(ErrorFacts(code: code, isRetriable: true).disposition == .retriable)
        #expect(ErrorFacts(code: code, requiresAbort: true).disposition == .abortable)
        #expect(ErrorFacts(code: 9999).disposition == .fatal)
    }

    @Test func `an error carries librdkafka's name and sentence`() {
        let error = StreamError(RD_KAFKA_RESP_ERR__TIMED_OUT, operation: "commit_transaction")
        #expect(error.description == "commit_transaction: Local: Timed out (_TIMED_OUT)")
    }

    private func allFlags(_ code: rd_kafka_resp_err_t) -> [ErrorFacts] {
        (0..<8).map { bits in
            ErrorFacts(
                code: code.rawValue,
                isFatal: bits & 1 != 0,
                isRetriable: bits & 2 != 0,
                requiresAbort: bits & 4 != 0
            )
        }
    }
}
