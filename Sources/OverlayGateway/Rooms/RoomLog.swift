internal import ComboWire

/// The latest bytes of a room's stream, which all of its clients share.
///
/// The stream of a room is endless; a position is a number of bytes since its start. The log holds
/// its last part. A client is a position in it and nothing else: what it has not been sent yet is
/// in the log, or it is too far behind and dropped. Positions behind a command are found by the
/// command's id, for clients that resume.
struct RoomLog {
    /// Where an event ends.
    struct Mark {
        /// Nil: it is no command's.
        var id: CommandID?
        var end: Int64
    }

    private var bytes: [UInt8] = []
    /// The position of the first of `bytes`.
    private var origin: Int64 = 0
    private var marks: [Mark] = []
    private var newest: Mark?
    /// How many of `marks` are out of the log.
    private var goneMarks = 0
    /// The first position that can still be read.
    private(set) var start: Int64 = 0
    /// Commands appended since the start of the stream.
    private(set) var commands = 0

    /// Creates a log at position 0.
    init() {}

    /// The position behind the last byte.
    var end: Int64 { origin + Int64(bytes.count) }
    /// How many bytes can be read.
    var count: Int { Int(end - start) }
    /// The id of the latest command that is in the log; nil: there is none.
    var latest: CommandID? {
        newest.flatMap { $0.end > start ? $0.id : nil }
    }

    /// Appends an event: a command's, or without an id one that is none, such as a heartbeat.
    mutating func append(_ id: CommandID?, _ event: some Sequence<UInt8>) {
        bytes.append(contentsOf: event)
        let mark = Mark(id: id, end: end)
        marks.append(mark)
        if id != nil {
            commands += 1
            newest = mark
        }
    }

    /// Drops what is over `limit` bytes, from the start, whole events at a time.
    ///
    /// The last event stays however long it is. Amortised O(1) for each byte appended.
    mutating func trim(to limit: Int) {
        while count > limit, goneMarks < marks.count - 1 {
            start = marks[goneMarks].end
            goneMarks += 1
        }
        guard Int(start - origin) > bytes.count / 2 else { return }
        bytes.removeFirst(Int(start - origin))
        origin = start
        marks.removeFirst(goneMarks)
        goneMarks = 0
    }

    /// The position behind a command, and how many commands follow it; nil: the log does not hold
    /// it.
    func position(behind id: CommandID) -> (position: Int64, following: Int)? {
        guard let index = marks[goneMarks...].lastIndex(where: { $0.id == id }) else { return nil }
        return (marks[index].end, marks[(index + 1)...].count { $0.id != nil })
    }

    /// Gives the bytes from `position` on to `body`.
    ///
    /// - Precondition: `position` is from ``start`` to ``end``.
    func read<Result>(
        from position: Int64,
        _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        precondition(position >= start && position <= end, "no such position in the log")
        return unsafe bytes.withUnsafeBytes { all in
            unsafe body(UnsafeRawBufferPointer(rebasing: all[Int(position - origin)...]))
        }
    }
}
