internal import StreamPorts

/// Where a reader stands in one partition.
struct LogCursor: Sendable {
    let partition: Int32
    /// The next offset to fetch; nil: it was not sought yet.
    var position: Int64?
    var isPaused = false
    /// The end that was reported last; a new end, or a seek, is reported anew.
    var reportedEnd: Int64?
    var isOutOfRange = false
    /// The end as of the last fetch.
    var cachedEnd: Int64?

    /// What one fetch brings.
    struct Fetch: Sendable {
        var records: [LogRecord] = []
        var event: SourceEvent?
    }

    /// Takes at most `limit` records, and tells of the end if it is reached.
    mutating func fetch(_ log: PartitionLog, limit: Int, readCommitted: Bool) -> Fetch {
        var fetch = Fetch()
        guard let start = position, !isPaused, !isOutOfRange, limit > 0 else { return fetch }
        let end = readCommitted ? log.lastStable : log.end
        cachedEnd = end
        // Above the last stable offset a reader waits; only above the end there is nothing.
        guard start >= log.start, start <= log.end else {
            isOutOfRange = true
            fetch.event = .outOfRange(partition: partition)
            return fetch
        }
        var index = log.index(from: start)
        var next = start
        while index < log.records.count, fetch.records.count < limit {
            let record = log.records[index]
            guard record.offset < end else { break }
            if log.isDelivered(record, readCommitted: readCommitted) {
                fetch.records.append(record)
            }
            next = record.offset + 1
            index += 1
        }
        if index == log.records.count || log.records[index].offset >= end { next = max(next, end) }
        position = next
        if next >= end, reportedEnd != next {
            reportedEnd = next
            fetch.event = .endOfPartition(partition: partition, offset: next)
        }
        return fetch
    }

    mutating func seek(_ offset: Int64) {
        position = offset
        reportedEnd = nil
        isOutOfRange = false
    }
}
