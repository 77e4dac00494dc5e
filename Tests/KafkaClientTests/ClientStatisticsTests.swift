import Testing

@testable import KafkaClient

struct ClientStatisticsTests {
    private let json = """
        { "name": "c#consumer-1", "msg_cnt": 7, "msg_size": 900, "replyq": 0,
          "brokers": {
            "b1:9092/1": {"nodeid": 1, "connects": 2, "disconnects": 1, "req_timeouts": 3,
              "rtt": {"min": 1, "p99": 1500, "hdrsize": 9}, "toppars": {"t-0": {"partition": 0}}},
            "b2:9092/2": {"nodeid": 2, "connects": 1, "disconnects": 0, "req_timeouts": 0,
              "rtt": {"p99": 700}} },
          "topics": {"t": {"topic": "t", "partitions": {
            "0": {"partition": 0, "fetchq_cnt": 5, "fetchq_size": 50, "msgq_cnt": 1},
            "1": {"partition": 1, "fetchq_cnt": 6, "fetchq_size": 70},
            "-1": {"partition": -1, "fetchq_cnt": 0, "fetchq_size": 0}}}},
          "tx": 3 }
        """

    private func read(_ text: String) -> ClientStatistics? {
        let bytes = Array(text.utf8)
        return unsafe ClientStatistics(bytes.span.bytes)
    }

    @Test func `queues, connections and the slowest round trip are read`() throws {
        let statistics = try #require(read(json))
        #expect(statistics.unacknowledgedRecords == 7)
        #expect(statistics.fetchedRecords == 11)
        #expect(statistics.fetchedBytes == 120)
        #expect(statistics.roundTripMicroseconds == 1500)
        #expect(statistics.connects == 3)
        #expect(statistics.disconnects == 1)
        #expect(statistics.requestTimeouts == 3)
    }

    @Test func `statistics that are cut off are no statistics`() {
        for length in 0..<json.utf8.count - 1 {
            #expect(read(String(decoding: json.utf8.prefix(length), as: UTF8.self)) == nil)
        }
    }
}
