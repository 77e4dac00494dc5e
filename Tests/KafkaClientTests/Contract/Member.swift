import StreamPorts
import Testing

/// A member of a group as a worker would be one: it begins where the group has committed, or at a
/// start of its own, and keeps what it is given.
final class Member: RebalanceListener {
    let source: any RecordSource
    /// Where a partition begins; nil: where the group has committed, else at 0.
    var start: Int64?
    /// Whether an assigned partition is sought and resumed at once.
    var startsAtOnce = true
    /// What to do when partitions are about to be taken.
    var beforeRevoke: (([Int32]) -> Void)?
    private(set) var owned: Set<Int32> = []
    private(set) var records: [Record] = []
    private(set) var events: [SourceEvent] = []
    private(set) var revoked: [[Int32]] = []
    private(set) var lost: [[Int32]] = []

    init(_ source: any RecordSource) throws {
        self.source = source
        try source.subscribe(listener: self)
    }

    func partitionsAssigned(_ partitions: [Int32]) {
        owned.formUnion(partitions)
        guard startsAtOnce else { return }
        do {
            for offset in try source.committed(partitions, timeoutMilliseconds: 10_000) {
                let begin = start ?? offset.offset ?? 0
                try source.seek(partition: offset.partition, offset: begin)
            }
            try source.resume(partitions)
        } catch {
            Issue.record(error)
        }
    }

    func partitionsRevoked(_ partitions: [Int32]) {
        beforeRevoke?(partitions)
        revoked.append(partitions)
        owned.subtract(partitions)
    }

    func partitionsLost(_ partitions: [Int32]) {
        lost.append(partitions)
        owned.subtract(partitions)
    }

    /// Polls once, and checks that what comes is in order and its own.
    func poll(limit: Int = 1000, milliseconds: Int32 = 20) throws {
        try source.poll(limit: limit, timeoutMilliseconds: milliseconds)
        #expect(source.batch.count <= limit)
        for index in 0..<source.batch.count {
            let record = Record(source.batch[index])
            #expect(record.partition.map(owned.contains) == true, "a record of another's partition")
            records.append(record)
        }
        events += source.events
    }

    /// Values by partition, in order of arrival.
    func values(partition: Int32 = 0) -> [String] {
        records.filter { $0.partition == partition }.compactMap(\.value)
    }

    func forget() {
        records = []
        events = []
    }

    /// Whether the end of a partition was reported there.
    func reachedEnd(_ partition: Int32 = 0, at offset: Int64) -> Bool {
        events.contains(.endOfPartition(partition: partition, offset: offset))
    }

    func close() {
        source.close(timeoutMilliseconds: 10_000)
    }
}

/// How long anything may take here; only failures wait for it.
let patience = Duration.seconds(45)

/// Polls the members in turn until something is so.
func poll(
    _ members: Member...,
    until isDone: () throws -> Bool,
    for patience: Duration = patience,
    location: SourceLocation = #_sourceLocation
) throws {
    let deadline = ContinuousClock.now.advanced(by: patience)
    while try !isDone() {
        guard ContinuousClock.now < deadline else {
            let seen = members.map { "\($0.records.count) records, \($0.events.suffix(8))" }
            Issue.record("nothing came of it: \(seen)", sourceLocation: location)
            throw Impatience()
        }
        for member in members { try member.poll() }
    }
}

struct Impatience: Error {}

/// Makes a call until it does not ask to be made again.
@discardableResult
func persisting<Result>(_ call: () throws -> Result) throws -> Result {
    let deadline = ContinuousClock.now.advanced(by: patience)
    while true {
        do {
            return try call()
        } catch let error as StreamError where error.disposition == .retriable {
            guard ContinuousClock.now < deadline else { throw error }
        }
    }
}

/// The error that a call must throw.
func failure<Result>(
    of call: () throws -> Result,
    location: SourceLocation = #_sourceLocation
) -> StreamError? {
    do {
        _ = try call()
        Issue.record("it went through", sourceLocation: location)
        return nil
    } catch {
        let failure = error as? StreamError
        if failure == nil { Issue.record(error, sourceLocation: location) }
        return failure
    }
}
