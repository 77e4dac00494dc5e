import KafkaClient
import StreamPorts
import Testing

extension `On a real broker` {
    @Test func `topics are made, described, grown and deleted`() throws {
        let admin = try fixture.makeAdmin()
        defer { admin.close(timeoutMilliseconds: 5000) }
        let topic = Names.unique()
        #expect(try admin.partitions(of: topic, timeoutMilliseconds: 10_000) == nil)
        let brokers = try admin.brokers(timeoutMilliseconds: 10_000)
        #expect(brokers.map(\.host) == ["127.0.0.1"])
        let new = NewTopic(
            name: topic,
            partitions: 3,
            replication: 1,
            settings: ["cleanup.policy": "compact", "segment.bytes": "33554432"]
        )
        try persisting { try admin.create(new, timeoutMilliseconds: 10_000) }
        let again = failure { try admin.create(new, timeoutMilliseconds: 10_000) }
        #expect(again?.disposition == .refused && again?.code == "TOPIC_ALREADY_EXISTS")
        try waitForPartitions(3, of: topic, admin)
        let settings = try admin.settings(of: topic, timeoutMilliseconds: 10_000)
        #expect(settings["cleanup.policy"] == "compact" && settings["segment.bytes"] == "33554432")
        #expect(settings["retention.ms"] != nil, "defaults are there too")
        try admin.grow(topic, toPartitions: 5, timeoutMilliseconds: 10_000)
        try waitForPartitions(5, of: topic, admin)
        try admin.delete(topic, timeoutMilliseconds: 10_000)
        try waitForPartitions(nil, of: topic, admin)
    }

    @Test func `what a topic can't be is refused with the cluster's reason`() throws {
        let admin = try fixture.makeAdmin()
        defer { admin.close(timeoutMilliseconds: 5000) }
        let copies = failure {
            try admin.create(
                NewTopic(name: Names.unique(), partitions: 1, replication: 3),
                timeoutMilliseconds: 10_000
            )
        }
        #expect(copies?.disposition == .refused && copies?.code == "INVALID_REPLICATION_FACTOR")
        let setting = failure {
            try admin.create(
                NewTopic(name: Names.unique(), partitions: 1, settings: ["no.such": "1"]),
                timeoutMilliseconds: 10_000
            )
        }
        #expect(setting?.disposition == .refused && setting?.code == "INVALID_CONFIG")
        let missing = failure { try admin.delete(Names.unique(), timeoutMilliseconds: 10_000) }
        #expect(missing?.disposition == .refused && missing?.code == "UNKNOWN_TOPIC_OR_PART")
        let unknown = failure {
            try admin.settings(of: Names.unique(), timeoutMilliseconds: 10_000)
        }
        #expect(unknown?.disposition == .refused)
    }

    @Test func `committed offsets are set, read with their metadata, and forgotten`() throws {
        let admin = try fixture.makeAdmin()
        defer { admin.close(timeoutMilliseconds: 5000) }
        let topic = try fixture.makeTopic(partitions: 2)
        let set = [
            PartitionOffset(partition: 0, offset: 5, metadata: "clock=1700000000000"),
            PartitionOffset(partition: 1, offset: 0),
        ]
        func committed() throws -> [PartitionOffset] {
            try persisting {
                try admin.committedOffsets(
                    of: topic,
                    topic: topic,
                    partitions: [0, 1],
                    timeoutMilliseconds: 10_000
                )
            }
        }
        try persisting {
            try admin.setCommittedOffsets(
                of: topic,
                topic: topic,
                to: set,
                timeoutMilliseconds: 10_000
            )
        }
        #expect(try committed() == set)
        try persisting {
            try admin.deleteCommittedOffsets(
                of: topic,
                topic: topic,
                partitions: [0],
                timeoutMilliseconds: 10_000
            )
        }
        #expect(try committed() == [PartitionOffset(partition: 0, offset: nil), set[1]])
    }

    @Test func `committed offsets that a transaction is about to change are waited for`() throws {
        let admin = try fixture.makeAdmin()
        defer { admin.close(timeoutMilliseconds: 5000) }
        let topic = try fixture.makeTopic(partitions: 1)
        try fixture.write(numbered(0..<3), to: topic)
        let member = try Member(fixture.makeSource(topic: topic, group: topic, member: "m"))
        defer { member.close() }
        let sink = try fixture.makeSink(id: Names.unique(), input: topic, output: topic)
        defer { sink.close(timeoutMilliseconds: 5000) }
        try persisting { try sink.initTransactions(timeoutMilliseconds: 10_000) }
        try poll(member, until: { member.reachedEnd(at: 3) })
        let membership = try #require(member.source.membership())
        let offsets = [PartitionOffset(partition: 0, offset: 2, metadata: "clock=2")]
        func committed(_ timeoutMilliseconds: Int32) throws(StreamError) -> [PartitionOffset] {
            try admin.committedOffsets(
                of: topic,
                topic: topic,
                partitions: [0],
                timeoutMilliseconds: timeoutMilliseconds
            )
        }
        try sink.begin()
        try persisting {
            try sink.sendOffsets(offsets, membership: membership, timeoutMilliseconds: 10_000)
        }
        let start = ContinuousClock.now
        let pending = failure { _ = try committed(700) }
        #expect(pending?.disposition == .retriable && pending?.code == "UNSTABLE_OFFSET_COMMIT")
        #expect(ContinuousClock.now - start >= .milliseconds(700))
        // The coordinator may mark the end of a transaction after this call returns.
        try persisting { try sink.commit(timeoutMilliseconds: 10_000) }
        #expect(try committed(10_000) == offsets)
    }

    @Test func `a position below the log's start is reported, and goes on after a seek`() throws {
        let topic = try fixture.makeTopic(partitions: 1)
        try fixture.write(numbered(0..<10), to: topic)
        let admin = try fixture.makeAdmin()
        defer { admin.close(timeoutMilliseconds: 5000) }
        try persisting {
            try admin.deleteRecords(
                of: topic,
                below: [PartitionOffset(partition: 0, offset: 6)],
                timeoutMilliseconds: 10_000
            )
        }
        let member = try Member(fixture.makeSource(topic: topic, group: topic, member: "m"))
        defer { member.close() }
        member.start = 2
        try poll(member, until: { member.events.contains(.outOfRange(partition: 0)) })
        #expect(member.records.isEmpty)
        let (low, high) = try member.source.watermarks(partition: 0, timeoutMilliseconds: 10_000)
        #expect(low == 6 && high == 10)
        try member.source.seek(partition: 0, offset: low)
        try poll(member, until: { member.reachedEnd(at: 10) })
        #expect(member.values() == ["6", "7", "8", "9"])
    }

    @Test func `a partition whose log begins late starts without a false alarm`() throws {
        // It is assigned at offset 0, paused; a fetch from there would be out of range.
        let topic = try fixture.makeTopic(partitions: 1)
        try fixture.write(numbered(0..<10), to: topic)
        let admin = try fixture.makeAdmin()
        defer { admin.close(timeoutMilliseconds: 5000) }
        try persisting {
            try admin.deleteRecords(
                of: topic,
                below: [PartitionOffset(partition: 0, offset: 8)],
                timeoutMilliseconds: 10_000
            )
        }
        for name in 0..<5 {
            let member = try Member(
                fixture.makeSource(topic: topic, group: "\(topic)-\(name)", member: "m")
            )
            member.start = 8
            try poll(member, until: { member.reachedEnd(at: 10) })
            #expect(member.values() == ["8", "9"])
            #expect(!member.events.contains(.outOfRange(partition: 0)))
            member.close()
        }
    }

    private func waitForPartitions(_ count: Int?, of topic: String, _ admin: KafkaAdmin) throws {
        let deadline = ContinuousClock.now.advanced(by: patience)
        while try admin.partitions(of: topic, timeoutMilliseconds: 10_000)?.count != count {
            guard ContinuousClock.now < deadline else { throw Impatience() }
        }
    }
}
