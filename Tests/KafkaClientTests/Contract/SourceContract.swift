// What every source must do, with or without real transactions behind it.
import StreamPorts
import Testing

struct SourceContract<Fixture: PortFixture> {
    let fixture: Fixture

    /// Null and empty keys and values, timestamps and headers survive the way through the cluster.
    func recordsSurvive() throws {
        let topic = try fixture.makeTopic(partitions: 1)
        let header = RecordHeader(name: "error", value: "not-json")
        let records = [
            Record(timestampMilliseconds: 1, key: "k", value: "v"),
            Record(key: nil, value: "no key"),
            Record(key: "tombstone", value: nil),
            Record(key: "", value: ""),
            Record(key: "禮物", value: "🎁 x1314"),
            Record(
                key: "h",
                value: "with headers",
                headers: [header, RecordHeader(name: "e", value: "")]
            ),
        ]
        let sink = try fixture.makeSink(id: topic, input: topic, output: topic)
        try persisting { try sink.initTransactions(timeoutMilliseconds: 10_000) }
        try sink.begin()
        for record in records { try sink.produce(record) }
        try persisting { try sink.commit(timeoutMilliseconds: 10_000) }
        sink.close(timeoutMilliseconds: 5000)
        var read = try fixture.read(topic, partitions: 1, readCommitted: true)
        #expect(read.map(\.offset) == records.indices.map { Int64($0) })
        for index in read.indices { read[index].offset = nil }
        #expect(read == records)
    }

    /// Java clients find a key in the same partition (the values are those of Kafka's UtilsTest).
    func keysGoWhereJavaPutsThem() throws {
        let hashes: [(String, Int32)] = [
            ("21", -973_932_308), ("foobar", -790_332_482),
            ("a-little-bit-long-string", -985_981_536),
            ("a-little-bit-longer-string", -1_486_304_829),
            ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58_897_971),
            ("abc", 479_470_107), ("", 275_646_681),
        ]
        let partitions: Int32 = 7
        let topic = try fixture.makeTopic(partitions: Int(partitions))
        let sink = try fixture.makeSink(id: topic, input: topic, output: topic)
        try persisting { try sink.initTransactions(timeoutMilliseconds: 10_000) }
        try sink.begin()
        for (key, _) in hashes { try sink.produce(Record(partition: nil, key: key, value: key)) }
        try persisting { try sink.commit(timeoutMilliseconds: 10_000) }
        sink.close(timeoutMilliseconds: 5000)
        let read = try fixture.read(topic, partitions: Int(partitions), readCommitted: true)
        for (key, hash) in hashes {
            let expected = (hash & 0x7FFF_FFFF) % partitions
            #expect(read.first { $0.key == key }?.partition == expected, "key \(key)")
        }
    }

    /// The end is told once it is reached, again after new records, and again after a seek.
    func endsAreReported() throws {
        let topic = try fixture.makeTopic(partitions: 1)
        try fixture.write(numbered(0..<3), to: topic)
        let member = try makeMember(topic)
        defer { member.close() }
        try poll(member, until: { member.reachedEnd(at: 3) })
        #expect(member.values() == ["0", "1", "2"])
        #expect(member.source.cachedEnd(partition: 0) == 3)
        #expect(member.source.isConnected(partition: 0))
        member.forget()
        try fixture.write(numbered(3..<4), to: topic)
        try poll(member, until: { member.reachedEnd(at: 4) })
        member.forget()
        try member.source.seek(partition: 0, offset: 4)
        try poll(member, until: { member.reachedEnd(at: 4) })
        #expect(member.records.isEmpty)
    }

    /// An assigned partition gives nothing until it is sought and resumed, then exactly from there.
    func assignedPartitionsWait() throws {
        let topic = try fixture.makeTopic(partitions: 1)
        try fixture.write(numbered(0..<100), to: topic)
        let member = try makeMember(topic) { $0.startsAtOnce = false }
        defer { member.close() }
        try poll(member, until: { member.owned == [0] })
        let (low, high) = try member.source.watermarks(partition: 0, timeoutMilliseconds: 10_000)
        #expect(low == 0 && high == 100)
        for _ in 0..<25 { try member.poll() }
        #expect(member.records.isEmpty && member.events.isEmpty)
        try member.source.seek(partition: 0, offset: 60)
        for _ in 0..<10 { try member.poll() }
        #expect(member.records.isEmpty, "it is still paused")
        try member.source.resume([0])
        try poll(member, until: { member.reachedEnd(at: 100) })
        #expect(member.values() == (60..<100).map(String.init))
    }

    /// After a pause, a seek and a resume exactly the records from there on come, forward and back,
    /// whatever had been fetched before.
    func seeksAreExact() throws {
        let count = 2000
        let topic = try fixture.makeTopic(partitions: 1)
        try fixture.write(numbered(0..<count), to: topic)
        let member = try makeMember(topic)
        defer { member.close() }
        for target in [1500, 10, 700, 699, 0, 1999, 2000, 3] {
            try poll(member, until: { !member.records.isEmpty || member.reachedEnd(at: 2000) })
            // The rest of what was fetched lies ready in the client now.
            try member.source.pause([0])
            try member.source.seek(partition: 0, offset: Int64(target))
            member.forget()
            for _ in 0..<3 { try member.poll() }
            #expect(member.records.isEmpty, "it is paused")
            try member.source.resume([0])
            try poll(member, until: { member.reachedEnd(at: Int64(count)) })
            #expect(member.values() == (target..<count).map(String.init), "seek to \(target)")
            member.forget()
            try member.source.seek(partition: 0, offset: 0)
        }
    }

    /// A batch holds at most its limit, and what is left comes with the next.
    func batchesAreBounded() throws {
        let topic = try fixture.makeTopic(partitions: 1)
        try fixture.write(numbered(0..<500), to: topic)
        let member = try makeMember(topic)
        defer { member.close() }
        while member.records.count < 500 { try member.poll(limit: 7) }
        #expect(member.values() == (0..<500).map(String.init))
    }

    /// When a second member joins, each record goes to exactly one owner, in order.
    func rebalancesKeepRecords() throws {
        let partitions = 4
        let topic = try fixture.makeTopic(partitions: partitions)
        let all = (0..<Int32(partitions)).flatMap { numbered(0..<200, partition: $0) }
        try fixture.write(all, to: topic)
        var positions: [Int32: Int64] = [:]
        let first = try makeMember(topic)
        defer { first.close() }
        try poll(first, until: { first.records.count == all.count })
        #expect(first.owned.count == partitions)
        let second = try Member(
            fixture.makeSource(topic: topic, group: topic, member: "second")
        )
        defer { second.close() }
        second.start = 200
        try poll(first, second, until: { first.owned.count == 2 && second.owned.count == 2 })
        #expect(first.owned.isDisjoint(with: second.owned))
        #expect(first.lost.isEmpty && second.lost.isEmpty)
        let more = (0..<Int32(partitions)).flatMap { numbered(200..<300, partition: $0) }
        try fixture.write(more, to: topic)
        try poll(
            first,
            second,
            until: { first.records.count + second.records.count >= all.count + more.count }
        )
        for record in first.records + second.records {
            let partition = try #require(record.partition)
            #expect(record.offset == positions[partition, default: 0])
            positions[partition, default: 0] += 1
        }
        #expect(positions.values.allSatisfy { $0 == 300 })
        // What one gives up on leaving, the other takes.
        second.close()
        try poll(first, until: { first.owned.count == partitions })
    }

    /// A position above the log's end is reported, and the partition goes on after a seek.
    func positionsAboveTheEndAreReported() throws {
        let topic = try fixture.makeTopic(partitions: 1)
        try fixture.write(numbered(0..<3), to: topic)
        let member = try makeMember(topic) { $0.start = 10 }
        defer { member.close() }
        try poll(member, until: { member.events.contains(.outOfRange(partition: 0)) })
        #expect(member.records.isEmpty)
        let (_, high) = try member.source.watermarks(partition: 0, timeoutMilliseconds: 10_000)
        #expect(high == 3)
        try member.source.seek(partition: 0, offset: 1)
        try poll(member, until: { member.reachedEnd(at: 3) })
        #expect(member.values() == ["1", "2"])
    }

    /// A cluster that goes away is reported, once, and so is its coming back; then its ends are.
    func outagesAreReported() throws {
        let topic = try fixture.makeTopic(partitions: 1)
        try fixture.write(numbered(0..<3), to: topic)
        let member = try makeMember(topic)
        defer { member.close() }
        try poll(
            member,
            until: { member.reachedEnd(at: 3) && member.source.isConnected(partition: 0) }
        )
        member.forget()
        try fixture.interrupt()
        try poll(member, until: { member.events.contains(.brokersDown) })
        #expect(!member.source.isConnected(partition: 0))
        for _ in 0..<50 { try member.poll() }
        #expect(member.events.filter { $0 == .brokersDown }.count == 1)
        #expect(!member.events.contains(.brokersUp))
        member.forget()
        try fixture.restore()
        try poll(
            member,
            until: {
                member.events.contains(.brokersUp) && member.reachedEnd(at: 3)
                    && member.source.isConnected(partition: 0)
            }
        )
        #expect(member.owned == [0])
        try persisting { try fixture.write(numbered(3..<5), to: topic) }
        try poll(member, until: { member.reachedEnd(at: 5) })
        // An outage that outlasts the session gives the partition anew, from its start.
        #expect(member.values().suffix(2) == ["3", "4"])
    }

    /// No membership before the first assignment, one after it, none after closing.
    func membershipFollowsTheAssignment() throws {
        let topic = try fixture.makeTopic(partitions: 1)
        let member = try makeMember(topic)
        #expect(member.source.membership() == nil)
        try poll(member, until: { member.owned == [0] })
        #expect(member.source.membership() != nil)
        #expect(member.revoked.isEmpty)
        member.close()
        #expect(member.revoked == [[0]])
    }

    /// A member that leaves while records are on their way to it leaves in peace, with them.
    func leavesAmidRecords() throws {
        let topic = try fixture.makeTopic(partitions: 4)
        let payload = String(repeating: "x", count: 500)
        let all = (0..<Int32(4)).flatMap { partition in
            (0..<1000).map { _ in Record(partition: partition, value: payload) }
        }
        try fixture.write(all, to: topic)
        for round in 0..<4 {
            let member = try Member(
                fixture.makeSource(topic: topic, group: "\(topic)-\(round)", member: "m")
            )
            try poll(member, until: { !member.records.isEmpty })
            // Fetches everything again, just now.
            for partition: Int32 in 0..<4 {
                try member.source.seek(partition: partition, offset: 0)
            }
            member.close()
            #expect(member.revoked.flatMap(\.self).sorted() == [0, 1, 2, 3])
            #expect(member.lost.isEmpty)
        }
    }

    private func makeMember(
        _ topic: String,
        _ prepare: (Member) -> Void = { _ in }
    ) throws -> Member {
        let member = try Member(fixture.makeSource(topic: topic, group: topic, member: "first"))
        prepare(member)
        return member
    }
}
