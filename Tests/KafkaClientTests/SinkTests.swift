import KafkaClient
import StreamPorts
import Synchronization
import Testing

extension `On a real broker` {
    @Test func `a topic that is missing is refused before anything is written`() throws {
        let topic = try fixture.makeTopic(partitions: 1)
        let missing = Names.unique("missing")
        let sink = try fixture.makeSink(id: topic, input: topic, output: missing)
        defer { sink.close(timeoutMilliseconds: 5000) }
        let refusal = failure {
            try persisting { try sink.initTransactions(timeoutMilliseconds: 10_000) }
        }
        #expect(refusal?.disposition == .refused)
        #expect(refusal?.detail.contains(missing) == true)
    }

    @Test func `a record that the broker refuses fails the commit, by name, and can be aborted`()
        throws
    {
        let topic = Names.unique()
        let admin = try fixture.makeAdmin()
        defer { admin.close(timeoutMilliseconds: 5000) }
        try persisting {
            try admin.create(
                NewTopic(name: topic, partitions: 1, settings: ["max.message.bytes": "1000"]),
                timeoutMilliseconds: 10_000
            )
        }
        let sink = try fixture.makeSink(id: topic, input: topic, output: topic)
        defer { sink.close(timeoutMilliseconds: 5000) }
        try persisting { try sink.initTransactions(timeoutMilliseconds: 10_000) }
        try sink.begin()
        try sink.produce(Record(value: String(repeating: "x", count: 5000)))
        let refusal = failure { try persisting { try sink.commit(timeoutMilliseconds: 10_000) } }
        #expect(refusal?.disposition == .refused)
        #expect(refusal?.detail.contains("MSG_SIZE_TOO_LARGE") == true)
        #expect(refusal?.detail.contains("xxxx") == false, "payloads stay out of errors")
        try sink.abort(timeoutMilliseconds: 10_000)
        // librdkafka 2.0.2 has counted the record's sequence number, so that producer is done for.
        let successor = try fixture.makeSink(id: topic, input: topic, output: topic)
        defer { successor.close(timeoutMilliseconds: 5000) }
        try persisting { try successor.initTransactions(timeoutMilliseconds: 10_000) }
        try successor.begin()
        try successor.produce(Record(value: "small"))
        try persisting { try successor.commit(timeoutMilliseconds: 10_000) }
        let read = try fixture.read(topic, partitions: 1, readCommitted: true)
        #expect(read.map(\.value) == ["small"])
    }

    @Test func `a partition that doesn't exist is refused at once`() throws {
        let topic = try fixture.makeTopic(partitions: 1)
        let sink = try fixture.makeSink(id: topic, input: topic, output: topic)
        defer { sink.close(timeoutMilliseconds: 5000) }
        try persisting { try sink.initTransactions(timeoutMilliseconds: 10_000) }
        try sink.begin()
        let refusal = failure { try sink.produce(Record(partition: 9, value: "x")) }
        #expect(refusal?.disposition == .refused)
        try sink.abort(timeoutMilliseconds: 10_000)
    }

    @Test func `what is on its way stays bounded, and all of it arrives`() throws {
        let topic = try fixture.makeTopic(partitions: 2)
        let sink = try fixture.makeSink(id: topic, input: topic, output: topic)
        defer { sink.close(timeoutMilliseconds: 5000) }
        try persisting { try sink.initTransactions(timeoutMilliseconds: 10_000) }
        try sink.begin()
        var highest = 0
        for number in 0..<60_000 {
            try sink.produce(Record(partition: Int32(number % 2), value: String(number)))
            highest = max(highest, sink.outstanding)
        }
        #expect(highest > 1000 && highest < 20_100)
        try persisting { try sink.commit(timeoutMilliseconds: 30_000) }
        #expect(sink.outstanding == 0)
        let read = try fixture.read(topic, partitions: 2, readCommitted: true)
        #expect(read.count == 60_000)
    }

    @Test func `a loader writes to the partitions it is told, and counts what fails`() throws {
        let topic = try fixture.makeTopic(partitions: 2)
        let loader = try KafkaLoader(
            fixture.settings,
            topic: topic,
            clientID: "loader",
            events: SilentClientEvents()
        )
        defer { loader.close(timeoutMilliseconds: 5000) }
        try loader.write(partition: 1, timestampMilliseconds: 5, key: [1], value: [2])
        try loader.flush(timeoutMilliseconds: 10_000)
        let refusal = failure {
            try loader.write(partition: 7, timestampMilliseconds: 5, key: nil, value: [2])
        }
        #expect(refusal?.disposition == .refused)
        #expect(loader.handedOver == 1 && loader.failed == 0 && loader.firstFailure == nil)
        let read = try fixture.read(topic, partitions: 2, readCommitted: false)
        #expect(read.map(\.partition) == [1] && read.map(\.timestampMilliseconds) == [5])
    }
}

@Suite struct `Without a broker` {
    private var settings: KafkaSettings {
        get throws { try KafkaSettings(["bootstrap.servers": "127.0.0.1:1"]) }
    }

    @Test func `a source says that the brokers are away, and closes all the same`() throws {
        let source = try KafkaSource(
            settings,
            topic: "t",
            group: "g",
            clientID: "c",
            prefetchBytes: 1 << 20,
            events: SilentClientEvents()
        )
        let member = try Member(source)
        try poll(member, until: { member.events.contains(.brokersDown) })
        let troubles = member.events.compactMap { event -> StreamError? in
            if case .trouble(let error) = event { error } else { nil }
        }
        #expect(troubles.allSatisfy { $0.disposition == .retriable })
        #expect(troubles.contains { $0.detail.contains("127.0.0.1:1") })
        #expect(source.membership() == nil && !source.isConnected(partition: 0))
        let start = ContinuousClock.now
        source.close(timeoutMilliseconds: 2000)
        #expect(ContinuousClock.now - start < .seconds(4))
    }

    @Test func `transactions can't be begun yet, and may be tried again`() throws {
        let heard = HeardEvents()
        let sink = try KafkaSink(
            settings,
            transactionalID: "t",
            inputTopic: "i",
            topics: OutputTopics(commands: "c", deadLetters: "d", changelog: "l"),
            clientID: "sink-1",
            events: heard
        )
        let first = failure { try sink.initTransactions(timeoutMilliseconds: 1000) }
        #expect(first?.disposition == .retriable)
        sink.serve()
        #expect(heard.lines.withLock { $0.contains { $0.contains("127.0.0.1:1") } })
        sink.close(timeoutMilliseconds: 2000)
    }

    @Test func `an admin's questions may be tried again`() throws {
        let admin = try KafkaAdmin(settings, clientID: "a", events: SilentClientEvents())
        let answer = failure { try admin.brokers(timeoutMilliseconds: 500) }
        #expect(answer?.disposition == .retriable)
        let creation = failure {
            try admin.create(NewTopic(name: "t", partitions: 1), timeoutMilliseconds: 500)
        }
        #expect(creation?.disposition == .retriable)
        admin.close(timeoutMilliseconds: 2000)
    }
}
