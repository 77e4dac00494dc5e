// What the contract needs of a cluster. It names ports only, so that any implementation of them can
// be held to the same behaviours.
import StreamPorts
import Testing

/// A cluster, or something that says it is one.
protocol PortFixture: Sendable {
    /// Makes a topic of a new name.
    func makeTopic(partitions: Int) throws -> String
    /// A member of a group.
    func makeSource(topic: String, group: String, member: String) throws -> any RecordSource
    /// A transactional producer; everything it writes goes to `output`.
    func makeSink(
        id: String,
        input: String,
        output: String
    ) throws -> any TransactionalSink
    /// Reads `topic` as a changelog.
    func makeChangelogReader(topic: String) throws -> any ChangelogReader
    /// Writes records without a transaction, and waits until they are there.
    func write(_ records: [Record], to topic: String) throws
    /// Everything in a topic up to its end, by partition and offset.
    func read(_ topic: String, partitions: Int, readCommitted: Bool) throws -> [Record]
    /// Cuts the cluster off.
    func interrupt() throws
    /// Brings it back, with what it held.
    func restore() throws
}

/// A record as a value.
struct Record: Equatable {
    var partition: Int32? = 0
    var offset: Int64?
    var timestampMilliseconds: Int64 = 1_700_000_000_000
    var key: String?
    var value: String?
    var headers: [RecordHeader] = []

    init(
        partition: Int32? = 0,
        offset: Int64? = nil,
        timestampMilliseconds: Int64 = 1_700_000_000_000,
        key: String? = nil,
        value: String?,
        headers: [RecordHeader] = []
    ) {
        self.partition = partition
        self.offset = offset
        self.timestampMilliseconds = timestampMilliseconds
        self.key = key
        self.value = value
        self.headers = headers
    }

    init(_ view: RecordView, headers: [RecordHeader] = []) {
        partition = view.partition
        offset = view.offset
        timestampMilliseconds = view.timestampMilliseconds
        key = unsafe text(view.key)
        value = unsafe text(view.value)
        self.headers = headers
    }
}

private func text(_ bytes: UnsafeRawBufferPointer) -> String? {
    unsafe bytes.baseAddress == nil ? nil : String(decoding: bytes, as: UTF8.self)
}

/// Numbered values "0", "1", … in one partition.
func numbered(_ range: Range<Int>, partition: Int32 = 0) -> [Record] {
    range.map { Record(partition: partition, value: String($0)) }
}

extension TransactionalSink {
    /// Produces one record of text to the commands topic.
    func produce(_ record: Record, topic: OutputTopic = .commands) throws(StreamError) {
        let key = record.key.map { Array($0.utf8) }
        let value = record.value.map { Array($0.utf8) }
        try unsafe withBytes(key) { (key) throws(StreamError) in
            try unsafe withBytes(value) { (value) throws(StreamError) in
                let outgoing = unsafe OutgoingRecord(
                    topic: topic,
                    partition: record.partition ?? OutgoingRecord.partitionByKey,
                    timestampMilliseconds: record.timestampMilliseconds,
                    key: key,
                    value: value
                )
                if record.headers.isEmpty {
                    try unsafe withUnsafePointer(to: outgoing) { (pointer) throws(StreamError) in
                        try unsafe produce(UnsafeBufferPointer(start: pointer, count: 1))
                    }
                } else {
                    try produce(outgoing, headers: record.headers)
                }
            }
        }
    }
}

/// Bytes at an address: none for nil, some for an empty array.
private func withBytes(
    _ bytes: [UInt8]?,
    _ body: (UnsafeRawBufferPointer) throws(StreamError) -> Void
) throws(StreamError) {
    guard let bytes else { return try unsafe body(UnsafeRawBufferPointer(start: nil, count: 0)) }
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count + 1, alignment: 1)
    defer { unsafe memory.deallocate() }
    unsafe memory.copyBytes(from: bytes)
    try unsafe body(UnsafeRawBufferPointer(start: memory.baseAddress, count: bytes.count))
}
