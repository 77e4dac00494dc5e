import Glibc
import StreamPorts
import Synchronization

/// A topic in memory, with its faults under control.
final class FakeTopic: Sendable {
    struct Record: Sendable {
        var timestamp: Int64
        var value: [UInt8]?
    }

    struct State: Sendable {
        /// By partition; nil: there is no such topic.
        var partitions: [[Record]]?
        /// What every question is answered with.
        var failure: StreamError?
        /// What the next poll throws.
        var fatal: StreamError?
        /// Where each partition was begun, in order of assignment.
        var begun: [PartitionOffset] = []
    }

    let state: Mutex<State>

    init(partitions: Int?) {
        state = Mutex(State(partitions: partitions.map { Array(repeating: [], count: $0) }))
    }

    func write(_ json: String?, partition: Int = 0, timestamp: Int64 = 1_000) {
        let record = Record(timestamp: timestamp, value: json.map { Array($0.utf8) })
        state.withLock { $0.partitions?[partition].append(record) }
    }

    func change(_ body: (inout sending State) -> Void) {
        state.withLock { body(&$0) }
    }
}

/// Reads a ``FakeTopic``.
@safe
final class FakeTail: TopicTail {
    private let topic: FakeTopic
    private var positions: [Int32: Int64] = [:]
    private var memory: [UnsafeMutableRawBufferPointer] = unsafe []
    private let views = UnsafeMutablePointer<RecordView>.allocate(capacity: capacity)
    private var count = 0
    private static let capacity = 1_000

    init(_ topic: FakeTopic) {
        self.topic = topic
    }

    deinit {
        release()
        unsafe views.deallocate()
    }

    private func release() {
        unsafe memory.forEach { unsafe $0.deallocate() }
        unsafe memory = []
        count = 0
    }

    private func ask() throws(StreamError) -> [[FakeTopic.Record]]? {
        let (partitions, failure) = topic.state.withLock { ($0.partitions, $0.failure) }
        if let failure { throw failure }
        return partitions
    }

    func partitions(timeoutMilliseconds: Int32) throws(StreamError) -> [Int32]? {
        try ask().map { (0..<Int32($0.count)).map { $0 } }
    }

    func watermarks(
        partition: Int32,
        timeoutMilliseconds: Int32
    ) throws(StreamError) -> (low: Int64, high: Int64) {
        (0, Int64(try ask()?[Int(partition)].count ?? 0))
    }

    func offsets(
        at timestampMilliseconds: Int64,
        of partitions: [Int32],
        timeoutMilliseconds: Int32
    ) throws(StreamError) -> [PartitionOffset] {
        let records = try ask() ?? []
        return partitions.map { partition in
            let index = records[Int(partition)].firstIndex {
                $0.timestamp >= timestampMilliseconds
            }
            return PartitionOffset(partition: partition, offset: index.map { Int64($0) })
        }
    }

    func assign(_ offsets: [PartitionOffset]) throws(StreamError) {
        let wanted = Set(offsets.map(\.partition))
        positions = positions.filter { wanted.contains($0.key) }
        for offset in offsets where positions[offset.partition] == nil {
            positions[offset.partition] = offset.offset ?? 0
            topic.state.withLock { $0.begun.append(offset) }
        }
    }

    func poll(limit: Int, timeoutMilliseconds: Int32) throws(StreamError) {
        release()
        let (partitions, fatal) = topic.state.withLock { state in
            defer { state.fatal = nil }
            return (state.partitions ?? [], state.fatal)
        }
        if let fatal { throw fatal }
        for partition in positions.keys.sorted() where Int(partition) < partitions.count {
            while let position = positions[partition], count < min(limit, Self.capacity),
                position < partitions[Int(partition)].count
            {
                let record = partitions[Int(partition)][Int(position)]
                append(record, partition, position)
                positions[partition] = position + 1
            }
        }
        // As a broker that has nothing new.
        if count == 0 { Glibc.poll(nil, 0, min(timeoutMilliseconds, 5)) }
    }

    private func append(_ record: FakeTopic.Record, _ partition: Int32, _ offset: Int64) {
        let none = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
        var value = unsafe none
        if let bytes = record.value {
            let copy = UnsafeMutableRawBufferPointer.allocate(
                byteCount: max(1, bytes.count),
                alignment: 8
            )
            unsafe copy.copyBytes(from: bytes)
            unsafe memory.append(copy)
            unsafe value = UnsafeRawBufferPointer(rebasing: copy[..<bytes.count])
        }
        unsafe views[count] = RecordView(
            partition: partition,
            offset: offset,
            timestampMilliseconds: record.timestamp,
            key: none,
            value: value
        )
        count += 1
    }

    var batch: RecordBatch {
        unsafe RecordBatch(UnsafeBufferPointer(start: views, count: count))
    }
    var events: [SourceEvent] { [] }

    func position(partition: Int32) -> Int64? { positions[partition] }

    func close(timeoutMilliseconds: Int32) {}
}
