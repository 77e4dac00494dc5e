// What librdkafka and the broker let through when they are asked directly, and what the ports make
// of it. These are reasons for rules; should one of them stop holding, its rule may go.
import CRdKafka
import KafkaClient
import StreamPorts
import Testing

extension `On a real broker` {
    @Test func `the broker takes offsets of a member that never joined, unchecked`() throws {
        let input = try fixture.makeTopic(partitions: 1)
        try fixture.write(numbered(0..<10), to: input)
        let member = try Member(fixture.makeSource(topic: input, group: input, member: "m"))
        defer { member.close() }
        try poll(member, until: { member.reachedEnd(at: 10) })
        let good = try #require(member.source.membership())
        let sink = try fixture.makeSink(id: input, input: input, output: input)
        try persisting { try sink.initTransactions(timeoutMilliseconds: 10_000) }
        try sink.begin()
        try sink.sendOffsets(
            [PartitionOffset(partition: 0, offset: 10)],
            membership: good,
            timeoutMilliseconds: 10_000
        )
        try persisting { try sink.commit(timeoutMilliseconds: 10_000) }
        sink.close(timeoutMilliseconds: 5000)

        // Raw: offset 3 over 10, by nobody, while the group has a member that owns the partition.
        let raw = try RawProducer(fixture.settings, id: "\(input)-raw")
        defer { raw.close() }
        try raw.transaction(offset: 3, topic: input, group: input)
        let after = try persisting {
            try member.source.committed([0], timeoutMilliseconds: 10_000)
        }
        #expect(after.first?.offset == 3)

        // Through the port it is refused before it leaves.
        let stranger = try RawProducer.strangerBytes(group: input)
        let careful = try fixture.makeSink(id: "\(input)-2", input: input, output: input)
        defer { careful.close(timeoutMilliseconds: 5000) }
        try persisting { try careful.initTransactions(timeoutMilliseconds: 10_000) }
        try careful.begin()
        let refusal = failure {
            try careful.sendOffsets(
                [PartitionOffset(partition: 0, offset: 7)],
                membership: GroupMembership(bytes: stranger),
                timeoutMilliseconds: 10_000
            )
        }
        #expect(refusal?.disposition == .abortable && refusal?.code == "UNKNOWN_MEMBER_ID")
        try careful.abort(timeoutMilliseconds: 10_000)
    }

    @Test func `a list without one valid offset is taken for sent`() throws {
        let input = try fixture.makeTopic(partitions: 1)
        let raw = try RawProducer(fixture.settings, id: "\(input)-raw")
        defer { raw.close() }
        // Even for a group in which nobody is, by somebody who is in none.
        try raw.transaction(offset: nil, topic: input, group: "\(input)-nobody")
        let admin = try fixture.makeAdmin()
        defer { admin.close(timeoutMilliseconds: 5000) }
        let offsets = try persisting {
            try admin.committedOffsets(
                of: "\(input)-nobody",
                topic: input,
                partitions: [0],
                timeoutMilliseconds: 10_000
            )
        }
        #expect(offsets == [PartitionOffset(partition: 0, offset: nil)])
    }
}

@Suite struct `Offsets that fence nobody` {
    @Test func `an empty list is a mistake of ours`() async {
        await #expect(processExitsWith: .failure) {
            let sink = try unusedSink()
            try sink.sendOffsets(
                [],
                membership: GroupMembership(bytes: []),
                timeoutMilliseconds: 0
            )
        }
    }

    @Test func `an unknown offset is a mistake of ours`() async {
        await #expect(processExitsWith: .failure) {
            let sink = try unusedSink()
            try sink.sendOffsets(
                [
                    PartitionOffset(partition: 0, offset: 1),
                    PartitionOffset(partition: 1, offset: nil),
                ],
                membership: GroupMembership(bytes: []),
                timeoutMilliseconds: 0
            )
        }
    }
}

private func unusedSink() throws -> KafkaSink {
    try KafkaSink(
        KafkaSettings(["bootstrap.servers": "127.0.0.1:9"]),
        transactionalID: "t",
        inputTopic: "i",
        topics: OutputTopics(commands: "c", deadLetters: "d", changelog: "l"),
        clientID: "c",
        events: SilentClientEvents()
    )
}

/// librdkafka's transactional producer with nothing around it.
@safe
private final class RawProducer {
    private let client: OpaquePointer

    init(_ settings: KafkaSettings, id: String) throws {
        let configuration = unsafe try #require(rd_kafka_conf_new())
        for (name, value) in [
            ("bootstrap.servers", settings.bootstrapServers), ("transactional.id", id),
        ] {
            let result = unsafe rd_kafka_conf_set(configuration, name, value, nil, 0)
            try #require(result == RD_KAFKA_CONF_OK)
        }
        unsafe client = try #require(rd_kafka_new(RD_KAFKA_PRODUCER, configuration, nil, 0))
        try unsafe check(rd_kafka_init_transactions(client, 30_000))
    }

    /// Commits a transaction of nothing but an offset, or of no offset, as one who never joined.
    func transaction(offset: Int64?, topic: String, group: String) throws {
        try unsafe check(rd_kafka_begin_transaction(client))
        let list = unsafe rd_kafka_topic_partition_list_new(1)
        defer { unsafe rd_kafka_topic_partition_list_destroy(list) }
        let element = unsafe rd_kafka_topic_partition_list_add(list, topic, 0)
        if let offset { unsafe element?.pointee.offset = offset }
        let stranger = unsafe rd_kafka_consumer_group_metadata_new(group)
        defer { unsafe rd_kafka_consumer_group_metadata_destroy(stranger) }
        try unsafe check(rd_kafka_send_offsets_to_transaction(client, list, stranger, 30_000))
        try unsafe check(rd_kafka_commit_transaction(client, 30_000))
    }

    func close() {
        unsafe rd_kafka_destroy(client)
    }

    /// The standing of one who never joined, as a consumer before its first assignment would give
    /// it.
    static func strangerBytes(group: String) throws -> [UInt8] {
        let stranger = unsafe rd_kafka_consumer_group_metadata_new(group)
        defer { unsafe rd_kafka_consumer_group_metadata_destroy(stranger) }
        var buffer: UnsafeMutableRawPointer?
        var size = 0
        let error = unsafe rd_kafka_consumer_group_metadata_write(stranger, &buffer, &size)
        unsafe try #require(error == nil)
        defer { unsafe rd_kafka_mem_free(nil, buffer) }
        return unsafe Array(UnsafeRawBufferPointer(start: buffer, count: size))
    }

    private func check(_ error: OpaquePointer?) throws {
        guard let error = unsafe error else { return }
        let text = unsafe String(cString: rd_kafka_error_string(error))
        unsafe rd_kafka_error_destroy(error)
        throw ScriptFailure(script: "librdkafka", output: text)
    }
}
