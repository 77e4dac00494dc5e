import StreamPorts
import Testing

@testable import KafkaClient

@Suite struct `What a consumer keeps in mind` {
    private let json = """
        {"name": "c", "ts": 5016483227792, "brokers": {
         "127.0.0.1:9092/bootstrap": {"nodeid": -1, "state": "UP", "toppars": {}},
         "127.0.0.1:9092/1": {"name": "a \\" {", "nodeid": 1, "state": "UP", "req": {"Fetch": 3},
          "rtt": {"min": 0.5, "list": [1, {"a": "]"}, []]}, "toppars": {"t-0": {"topic": "t"}}},
         "127.0.0.1:9094/2": {"nodeid": 2, "state": "DOWN"}},
         "topics": {"other": {"partitions": {"0": {"partition": 0, "leader": 2}}},
          "t": {"topic": "t", "age": 1, "partitions": {
           "0": {"partition": 0, "broker": 1, "leader": 1, "desired": true},
           "1": {"partition": 1, "leader": 2}, "2": {"partition": 2, "leader": -1},
           "-1": {"partition": -1, "leader": -1}}}},
         "cgrp": {"state": "up"}, "tx": 3 }
        """

    private func read(_ text: String) -> StatisticsReport? {
        let bytes = Array(text.utf8)
        return unsafe StatisticsReport(bytes.span.bytes, topic: "t")
    }

    @Test func `statistics tell which leaders are connected`() throws {
        let report = try #require(read(json))
        #expect(report.connected == [1])
        #expect(report.leaders == [0: 1, 1: 2, 2: -1])
        #expect(report.isLeaderConnected(partition: 0))
        #expect(!report.isLeaderConnected(partition: 1))
        #expect(!report.isLeaderConnected(partition: 2))
        #expect(!report.isLeaderConnected(partition: 3))
    }

    @Test func `statistics that are cut off are no statistics`() {
        for length in 0..<json.utf8.count - 1 {
            #expect(read(String(decoding: json.utf8.prefix(length), as: UTF8.self)) == nil)
        }
        #expect(read("[]") == nil)
        #expect(read("{}") != nil)
    }

    @Test func `a partition is connected from its first end on, until a connection fails`() throws {
        var connections = LeaderConnections(topic: "t")
        #expect(!connections.isConnected(0))
        connections.reachedEnd(0, offset: 5)
        #expect(connections.isConnected(0) && !connections.isConnected(1))
        #expect(connections.isAtEnd(0, position: 5) && !connections.isAtEnd(0, position: 6))
        connections.doubt()
        #expect(!connections.isConnected(0))
        let report = try #require(read(json))
        #expect(connections.update(report) == [0], "its leader is back, its end is in doubt")
        #expect(connections.isConnected(0))
        #expect(connections.update(report) == [])
    }

    @Test func `a leader that the statistics call away casts doubt on its partitions`() throws {
        var connections = LeaderConnections(topic: "t")
        connections.reachedEnd(1, offset: 5)
        #expect(connections.update(try #require(read(json))) == [])
        #expect(!connections.isConnected(1))
        let back = json.replacing("\"state\": \"DOWN\"", with: "\"state\": \"UP\"")
        #expect(connections.update(try #require(read(back))) == [1])
        #expect(connections.isConnected(1))
    }

    @Test func `an outage begins once, and a proven end ends its doubt`() {
        var connections = LeaderConnections(topic: "t")
        connections.reachedEnd(0, offset: 5)
        let first = connections.lostAll()
        let second = connections.lostAll()
        #expect(first && !second && connections.isDown)
        connections.foundOne()
        #expect(!connections.isDown && !connections.isConnected(0))
        connections.reachedEnd(0, offset: 5)
        #expect(connections.isConnected(0))
    }

    @Test func `an outage that is only in the statistics is noticed, once`() throws {
        let up = try #require(read(json))
        let away = try #require(read(json.replacing("\"UP\"", with: "\"CONNECT\"")))
        var connections = LeaderConnections(topic: "t")
        func reports(_ reports: [(StatisticsReport, Bool)]) -> [Bool] {
            reports.map { connections.hasLostAll($0, isReading: $1) }
        }
        // Who reads nothing needs no connection; one report alone proves nothing.
        let calm = reports([(away, false), (away, false), (away, true), (up, true), (away, true)])
        #expect(!calm.contains(true))
        #expect(reports([(up, true)]) == [false])
        #expect(reports([(away, true), (away, true), (away, true)]) == [false, true, false])
        #expect(connections.isDown)
        connections.foundOne()
        #expect(reports([(away, true), (away, true)]) == [false, true])
    }

    @Test func `positions let each record through once, and none where they are closed`() {
        let positions = PositionTable()
        #expect(!positions.admit(partition: 3, offset: 0))
        #expect(positions.position(partition: 3) == nil && !positions.isAnyOpen)
        positions.open(partition: 3, at: 10)
        #expect(!positions.admit(partition: 3, offset: 9))
        #expect(positions.admit(partition: 3, offset: 10))
        #expect(!positions.admit(partition: 3, offset: 10))
        #expect(positions.admit(partition: 3, offset: 15), "offsets have gaps")
        #expect(positions.position(partition: 3) == 16)
        #expect(!positions.admit(partition: 2, offset: 0))
        #expect(!positions.admit(partition: -1, offset: 0))
        positions.open(partition: 3, at: 4)
        #expect(positions.admit(partition: 3, offset: 4))
        positions.close(partition: 3)
        #expect(!positions.admit(partition: 3, offset: 5))
        #expect(positions.position(partition: 3) == nil)
    }
}
