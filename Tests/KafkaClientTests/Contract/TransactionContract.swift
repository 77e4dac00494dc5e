// What only real transactions can show: that output and offsets move together or not at all.
import StreamPorts
import Testing

struct TransactionContract<Fixture: PortFixture> {
    let fixture: Fixture

    /// What an aborted transaction wrote is there, but nobody reads it.
    func abortedOutputIsInvisible() throws {
        let topic = try fixture.makeTopic(partitions: 1)
        let sink = try makeSink(topic, topic)
        defer { sink.close(timeoutMilliseconds: 5000) }
        try sink.begin()
        try sink.produce(Record(value: "aborted"))
        while sink.outstanding > 0 { sink.serve() }
        try sink.abort(timeoutMilliseconds: 10_000)
        try sink.begin()
        try sink.produce(Record(value: "committed"))
        try persisting { try sink.commit(timeoutMilliseconds: 10_000) }
        let committed = try fixture.read(topic, partitions: 1, readCommitted: true)
        #expect(committed.map(\.value) == ["committed"])
        let all = try fixture.read(topic, partitions: 1, readCommitted: false)
        #expect(all.map(\.value).filter { $0 == "committed" }.count == 1)
    }

    /// Offsets and their metadata appear with the output, and vanish with it.
    func outputAndOffsetsMoveTogether() throws {
        let (input, output) = try (makeInput(3), fixture.makeTopic(partitions: 1))
        let member = try makeMember(input)
        defer { member.close() }
        let sink = try makeSink(input, output)
        defer { sink.close(timeoutMilliseconds: 5000) }
        try poll(member, until: { member.reachedEnd(at: 3) })
        #expect(try committed(member) == PartitionOffset(partition: 0, offset: nil))
        // The first offset is aborted with its record, the second committed with it.
        for (value, offset) in [("aborted", Int64(1)), ("committed", 2)] {
            try sink.begin()
            try sink.produce(Record(value: value))
            try sendOffset(offset, metadata: "clock=\(offset)", sink: sink, member: member)
            if value == "aborted" {
                try sink.abort(timeoutMilliseconds: 10_000)
                #expect(try committed(member) == PartitionOffset(partition: 0, offset: nil))
            } else {
                try persisting { try sink.commit(timeoutMilliseconds: 10_000) }
            }
        }
        let expected = PartitionOffset(partition: 0, offset: 2, metadata: "clock=2")
        #expect(try committed(member) == expected)
        let read = try fixture.read(output, partitions: 1, readCommitted: true)
        #expect(read.map(\.value) == ["committed"])
        // Offsets alone, without a record, do as well.
        try sink.begin()
        try sendOffset(3, metadata: nil, sink: sink, member: member)
        try persisting { try sink.commit(timeoutMilliseconds: 10_000) }
        #expect(try committed(member) == PartitionOffset(partition: 0, offset: 3))
    }

    /// A reader of committed offsets waits for the transaction that is about to change them.
    func committedOffsetsWaitForTransactions() throws {
        let input = try makeInput(3)
        let member = try makeMember(input)
        defer { member.close() }
        let sink = try makeSink(input, input)
        defer { sink.close(timeoutMilliseconds: 5000) }
        try poll(member, until: { member.reachedEnd(at: 3) })
        try sink.begin()
        try sendOffset(2, metadata: "pending", sink: sink, member: member)
        let pending = failure { try member.source.committed([0], timeoutMilliseconds: 1000) }
        #expect(pending?.disposition == .retriable)
        try persisting { try sink.commit(timeoutMilliseconds: 10_000) }
        let expected = PartitionOffset(partition: 0, offset: 2, metadata: "pending")
        #expect(try committed(member) == expected)
    }

    /// A member that has lost its partition to another can't commit for it any more.
    func zombiesAreRefused() throws {
        let (input, output) = try (makeInput(3), fixture.makeTopic(partitions: 1))
        let zombie = try makeMember(input)
        defer { zombie.close() }
        let sink = try makeSink(input, output)
        defer { sink.close(timeoutMilliseconds: 5000) }
        try poll(zombie, until: { zombie.reachedEnd(at: 3) })
        let stale = try #require(zombie.source.membership())
        try sink.begin()
        try sink.produce(Record(value: "zombie"))
        let heir = try makeMember(input, name: "heir")
        defer { heir.close() }
        zombie.close()
        try poll(heir, until: { heir.owned == [0] })
        let refusal = failure {
            try persisting {
                try sink.sendOffsets(
                    [PartitionOffset(partition: 0, offset: 3)],
                    membership: stale,
                    timeoutMilliseconds: 10_000
                )
            }
        }
        #expect(refusal?.disposition == .abortable)
        #expect(["ILLEGAL_GENERATION", "UNKNOWN_MEMBER_ID"].contains(refusal?.code))
        try sink.abort(timeoutMilliseconds: 10_000)
        #expect(try committed(heir) == PartitionOffset(partition: 0, offset: nil))
        #expect(try fixture.read(output, partitions: 1, readCommitted: true).isEmpty)
    }

    /// A rebalance commits inside the listener's call, before the partition moves.
    func revokedPartitionsAreCommittedFirst() throws {
        let input = try fixture.makeTopic(partitions: 2)
        try fixture.write(numbered(0..<5) + numbered(0..<5, partition: 1), to: input)
        let first = try makeMember(input)
        defer { first.close() }
        let sink = try makeSink(input, input)
        defer { sink.close(timeoutMilliseconds: 5000) }
        first.beforeRevoke = { partitions in
            do {
                try sink.begin()
                let membership = try #require(first.source.membership())
                let offsets = partitions.map {
                    PartitionOffset(partition: $0, offset: 5, metadata: "revoked")
                }
                try sink.sendOffsets(offsets, membership: membership, timeoutMilliseconds: 10_000)
                try persisting { try sink.commit(timeoutMilliseconds: 10_000) }
            } catch {
                Issue.record(error)
            }
        }
        try poll(first, until: { first.records.count == 10 })
        let second = try makeMember(input, name: "second")
        defer { second.close() }
        try poll(first, second, until: { first.owned.count == 1 && second.owned.count == 1 })
        try poll(
            first,
            second,
            until: { second.reachedEnd(try #require(second.owned.first), at: 5) }
        )
        #expect(second.records.isEmpty, "the new owner begins where the old one has committed")
        first.beforeRevoke = nil
    }

    /// A second producer of the same id fences the first, and ends what that one left open.
    func secondProducersFenceTheFirst() throws {
        let topic = try fixture.makeTopic(partitions: 1)
        let first = try makeSink(topic, topic)
        defer { first.close(timeoutMilliseconds: 5000) }
        try first.begin()
        try first.produce(Record(value: "left open"))
        while first.outstanding > 0 { first.serve() }
        let second = try makeSink(topic, topic)
        defer { second.close(timeoutMilliseconds: 5000) }
        let fenced = failure { try persisting { try first.commit(timeoutMilliseconds: 10_000) } }
        #expect(fenced?.disposition == .fenced)
        let again = failure { try first.begin() }
        #expect(again?.disposition == .fenced)
        try second.begin()
        try second.produce(Record(value: "second"))
        try persisting { try second.commit(timeoutMilliseconds: 10_000) }
        let read = try fixture.read(topic, partitions: 1, readCommitted: true)
        #expect(read.map(\.value) == ["second"])
    }

    /// An open transaction hides the log's end from readers, but not from the changelog's
    /// watermark.
    func highWatermarksCountOpenTransactions() throws {
        let topic = try fixture.makeTopic(partitions: 1)
        try fixture.write(numbered(0..<2), to: topic)
        let sink = try makeSink(topic, topic)
        defer { sink.close(timeoutMilliseconds: 5000) }
        let changelog = try fixture.makeChangelogReader(topic: topic)
        defer { changelog.close(timeoutMilliseconds: 5000) }
        try sink.begin()
        try sink.produce(Record(value: "2"), topic: .changelog)
        while sink.outstanding > 0 { sink.serve() }
        let high = try changelog.highWatermark(partition: 0, timeoutMilliseconds: 10_000)
        #expect(high == 3)
        try changelog.assign([0])
        #expect(changelog.position(partition: 0) == nil)
        var values: [String?] = []
        var ends: [Int64] = []
        func read(until isDone: () -> Bool) throws {
            let deadline = ContinuousClock.now.advanced(by: patience)
            while !isDone() {
                guard ContinuousClock.now < deadline else { throw Impatience() }
                try changelog.poll(limit: 10, timeoutMilliseconds: 50)
                for index in 0..<changelog.batch.count {
                    values.append(Record(changelog.batch[index]).value)
                }
                for case .endOfPartition(0, let offset) in changelog.events { ends.append(offset) }
            }
        }
        try read(until: { !ends.isEmpty })
        #expect(ends == [2], "an end below the watermark: the transaction is in doubt")
        #expect(changelog.position(partition: 0) == 2)
        #expect(values == ["0", "1"])
        try persisting { try sink.commit(timeoutMilliseconds: 10_000) }
        try read(until: { (changelog.position(partition: 0) ?? 0) > high })
        #expect(values == ["0", "1", "2"])
        #expect(ends.last == 4, "the end lies behind the commit marker")
        // Another partition set, and back: it is read from its start again.
        try changelog.assign([])
        values = []
        try changelog.assign([0])
        try read(until: { values.count == 3 })
    }

    private func makeInput(_ count: Int) throws -> String {
        let topic = try fixture.makeTopic(partitions: 1)
        try fixture.write(numbered(0..<count), to: topic)
        return topic
    }

    private func makeMember(_ topic: String, name: String = "first") throws -> Member {
        try Member(fixture.makeSource(topic: topic, group: topic, member: name))
    }

    private func makeSink(_ input: String, _ output: String) throws -> any TransactionalSink {
        let sink = try fixture.makeSink(id: input, input: input, output: output)
        try persisting { try sink.initTransactions(timeoutMilliseconds: 10_000) }
        return sink
    }

    private func committed(_ member: Member) throws -> PartitionOffset? {
        try persisting { try member.source.committed([0], timeoutMilliseconds: 10_000) }.first
    }

    private func sendOffset(
        _ offset: Int64,
        metadata: String?,
        sink: any TransactionalSink,
        member: Member
    ) throws {
        let membership = try #require(member.source.membership())
        try persisting {
            try sink.sendOffsets(
                [PartitionOffset(partition: 0, offset: offset, metadata: metadata)],
                membership: membership,
                timeoutMilliseconds: 10_000
            )
        }
    }
}
