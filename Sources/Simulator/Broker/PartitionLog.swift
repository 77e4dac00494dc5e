internal import StreamPorts

/// A record as a log holds it.
///
/// Its bytes are one object, for records are copied from log to batch and back by the million.
struct LogRecord: Sendable {
    private final class Content: Sendable {
        let key: [UInt8]?
        let value: [UInt8]?
        let headers: [RecordHeader]

        init(key: [UInt8]?, value: [UInt8]?, headers: [RecordHeader]) {
            self.key = key
            self.value = value
            self.headers = headers
        }
    }

    var offset: Int64 = 0
    var timestamp: Int64
    /// The transaction that wrote it; nil: none.
    var transaction: Int?
    private let content: Content?

    var key: [UInt8]? { content?.key }
    var value: [UInt8]? { content?.value }
    var headers: [RecordHeader] { content?.headers ?? [] }
    /// Whether it is a control record, which no reader sees.
    var isMarker: Bool { content == nil }

    /// A record that is to be appended.
    init(timestamp: Int64, key: [UInt8]?, value: [UInt8]?, headers: [RecordHeader] = []) {
        self.timestamp = timestamp
        content = Content(key: key, value: value, headers: headers)
    }

    /// A control record.
    init(endOf transaction: Int, timestamp: Int64) {
        self.timestamp = timestamp
        self.transaction = transaction
        content = nil
    }
}

/// One partition of one topic.
///
/// Offsets rise, with gaps where compaction took records away. A reader under read_committed sees
/// what lies below ``lastStable`` and was not aborted; control records take offsets and are never
/// delivered.
struct PartitionLog: Sendable {
    private(set) var records: [LogRecord] = []
    /// The next offset to be written: the high watermark, for nothing here is not replicated.
    private(set) var end: Int64 = 0
    /// The first offset that is still there.
    private(set) var start: Int64 = 0
    /// Transactions without a marker and their first offsets here, in order of these.
    private var open: [(transaction: Int, first: Int64)] = []
    private var aborted: Set<Int> = []

    /// The end of what a reader under read_committed gets.
    var lastStable: Int64 { open.first?.first ?? end }

    /// Appends a record; answers its offset.
    @discardableResult
    mutating func append(_ record: LogRecord) -> Int64 {
        var record = record
        record.offset = end
        if let transaction = record.transaction, !record.isMarker,
            !open.contains(where: { $0.transaction == transaction })
        {
            open.append((transaction, end))
        }
        records.append(record)
        end += 1
        return record.offset
    }

    /// Writes the marker that ends a transaction here.
    mutating func endTransaction(_ transaction: Int, isCommit: Bool, at timestamp: Int64) {
        if !isCommit { aborted.insert(transaction) }
        open.removeAll { $0.transaction == transaction }
        append(LogRecord(endOf: transaction, timestamp: timestamp))
    }

    /// Index of the first record at or after `offset`.
    func index(from offset: Int64) -> Int {
        var (low, high) = (0, records.count)
        while low < high {
            let middle = (low + high) / 2
            if records[middle].offset < offset { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Whether a reader gets this record, which lies below the end that it may read to.
    func isDelivered(_ record: LogRecord, readCommitted: Bool) -> Bool {
        if record.isMarker { return false }
        guard readCommitted, let transaction = record.transaction else { return true }
        return !aborted.contains(transaction)
    }

    /// What a reader under read_committed gets of the whole log.
    var committed: [LogRecord] {
        records.filter { $0.offset < lastStable && isDelivered($0, readCommitted: true) }
    }

    /// The last committed value of each key that has one.
    var latestByKey: [[UInt8]: [UInt8]] {
        var latest: [[UInt8]: [UInt8]] = [:]
        for record in records
        where record.offset < lastStable && isDelivered(record, readCommitted: true) {
            if let key = record.key { latest[key] = record.value }
        }
        return latest
    }

    /// Whether a committed record says that its key is gone.
    var holdsTombstones: Bool { committed.contains { $0.value == nil } }

    /// Keeps of what is committed the last record of each key, below `limit`.
    ///
    /// Aborted records and control records go too. Tombstones stay: `delete.retention.ms` is longer
    /// than any simulation.
    mutating func compact(below limit: Int64) {
        let limit = min(limit, lastStable)
        var seen: Set<[UInt8]> = []
        var kept: [LogRecord] = []
        for record in records.reversed() {
            guard record.offset < limit else {
                if isDelivered(record, readCommitted: true), let key = record.key,
                    record.offset < lastStable
                {
                    seen.insert(key)
                }
                kept.append(record)
                continue
            }
            guard isDelivered(record, readCommitted: true) else { continue }
            if let key = record.key, !seen.insert(key).inserted { continue }
            kept.append(record)
        }
        records = kept.reversed()
    }
}
