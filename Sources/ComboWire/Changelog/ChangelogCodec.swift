package import ComboCore

/// Why a changelog record can't be read.
package enum ChangelogError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The key is not 16 bytes.
    case badKey(byteCount: Int)
    /// The value was written by a version that this program does not know.
    case unknownVersion(UInt8)
    /// The value ends early, goes on too long, or says something impossible, at this byte.
    case malformed(position: Int)

    package var description: String {
        switch self {
        case .badKey(let byteCount):
            "a changelog key has 16 bytes, this one \(byteCount)"
        case .unknownVersion(let version):
            "the changelog record has version \(version), this program reads version "
                + "\(ChangelogCodec.version): it was written by a newer program, or is no changelog"
        case .malformed(let position):
            "the changelog record is damaged at byte \(position)"
        }
    }
}

/// Writes keys' states as changelog records and reads them back.
///
/// The record's key is the key's hash, 16 bytes, most significant first. The value of version 1:
///
///     version  1 byte
///     flags    1 byte: combo lives, is displayed, is conflated, holds an update
///     last offset
///     if it lives:  last offset − first offset, count, value, hide_at, sequence,
///                   if conflated: shown count, shown at,
///                   eight texts, each its length and its bytes
///     otherwise:    end_at
///     total of the unnamed streak
///     streaks: number, then for each 8 bytes of hash and its total
///     event ids: number, then 8 bytes of hash each
///
/// Numbers are of variable length (seven bits a byte, the lowest first; negative ones take ten
/// bytes), hashes least significant byte first. Another layout gets another version.
package enum ChangelogCodec {
    /// The version that is written.
    package static let version: UInt8 = 1
    /// Bytes of a record's key.
    package static let keySize = 16

    private static let lives: UInt8 = 1
    private static let displayed: UInt8 = 2
    private static let conflated: UInt8 = 4
    private static let holding: UInt8 = 8
    /// Commands that no combo has had, and room for as many more.
    private static let sequenceMax = Int64(Int32.max)
    /// More ids than any configuration lets a key remember.
    private static let idsMax: UInt64 = 1024

    /// Appends a record's key.
    package static func appendKey(_ key: KeyHash, to output: inout OutputBytes) {
        var bytes = output.reserve(keySize)
        for word in [key.high, key.low] {
            for shift in stride(from: UInt64(56), through: 0, by: -8) {
                bytes.write(UInt8(truncatingIfNeeded: word >> shift))
            }
        }
        output.commit(bytes)
    }

    /// Reads a record's key.
    package static func key(_ bytes: UnsafeRawBufferPointer) throws(ChangelogError) -> KeyHash {
        guard bytes.count == keySize else { throw .badKey(byteCount: bytes.count) }
        let high = unsafe bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)
        let low = unsafe bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        return KeyHash(high: UInt64(bigEndian: high), low: UInt64(bigEndian: low))
    }

    /// Appends a record's value.
    package static func appendValue(_ state: KeyState, to output: inout OutputBytes) {
        let memory = state.memory
        var room = unsafe 160 + memory.streaks.count * 18 + memory.ids.count * 8
        if let combo = state.combo { room += textBytes(combo.fields) }
        var bytes = output.reserve(room)
        bytes.write(version)
        if let combo = state.combo {
            append(combo, state.lastOffset, to: &bytes)
        } else {
            bytes.write(0)
            bytes.writeNumber(state.lastOffset)
            bytes.writeNumber(state.endAt.milliseconds)
        }
        bytes.writeNumber(memory.unnamedTotal)
        bytes.writeNumber(Int64(unsafe memory.streaks.count))
        for index in 0..<(unsafe memory.streaks.count) {
            bytes.writeWord(unsafe memory.streaks[index].id)
            bytes.writeNumber(unsafe memory.streaks[index].total)
        }
        bytes.writeNumber(Int64(unsafe memory.ids.count))
        for index in 0..<(unsafe memory.ids.count) { bytes.writeWord(unsafe memory.ids[index]) }
        output.commit(bytes)
    }

    private static func append(
        _ combo: KeyState.Combo,
        _ lastOffset: Int64,
        to bytes: inout ReservedBytes
    ) {
        let isConflated = combo.shownAt != .zero || combo.isHolding
        var flags = lives
        if combo.isDisplayed { flags |= displayed }
        if isConflated { flags |= conflated }
        if combo.isHolding { flags |= holding }
        bytes.write(flags)
        bytes.writeNumber(lastOffset)
        bytes.writeNumber(lastOffset - combo.firstOffset)
        bytes.writeNumber(combo.count)
        bytes.writeNumber(combo.value)
        bytes.writeNumber(combo.hideAt.milliseconds)
        bytes.writeNumber(Int64(combo.sequence))
        if isConflated {
            bytes.writeNumber(combo.shownCount)
            bytes.writeNumber(combo.shownAt.milliseconds)
        }
        let texts = texts(combo.fields)
        for index in texts.indices {
            bytes.writeNumber(Int64(texts[index].count))
            unsafe bytes.write(texts[index].bytes)
        }
    }

    /// Reads a record's value; its texts and hashes lie in `bytes` or in `scratch`.
    ///
    /// - Parameters:
    ///   - bytes: The value.
    ///   - key: The record's key, as ``key(_:)`` gives it.
    ///   - scratch: Memory for the hashes, used again with each call.
    /// - Returns: The state, valid as long as `bytes` and `scratch` stay as they are.
    /// - Throws: The value is of another version, or damaged.
    package static func state(
        _ bytes: UnsafeRawBufferPointer,
        key: KeyHash,
        scratch: ChangelogScratch
    ) throws(ChangelogError) -> KeyState {
        var reader = unsafe ValueReader(bytes)
        let version = try reader.byte()
        guard version == Self.version else { throw .unknownVersion(version) }
        let flags = try reader.byte()
        guard flags & ~(lives | displayed | conflated | holding) == 0 else {
            throw .malformed(position: 1)
        }
        let lastOffset = try reader.number()
        var state = KeyState(
            key: key,
            lastOffset: lastOffset,
            combo: nil,
            endAt: .zero,
            memory: KeyMemoryView()
        )
        if flags & lives != 0 {
            state.combo = try combo(&reader, flags, lastOffset)
        } else {
            guard flags == 0 else { throw .malformed(position: 1) }
            state.endAt = EventTime(milliseconds: try reader.number())
        }
        state.memory = try memory(&reader, scratch)
        try reader.finish()
        return state
    }

    private static func combo(
        _ reader: inout ValueReader,
        _ flags: UInt8,
        _ lastOffset: Int64
    ) throws(ChangelogError) -> KeyState.Combo {
        let span = try reader.number(in: 0...(.max))
        let (firstOffset, overflow) = lastOffset.subtractingReportingOverflow(span)
        guard !overflow else { throw .malformed(position: reader.position) }
        let count = try reader.number(in: 0...(.max))
        let value = try reader.number(in: 0...(.max))
        let hideAt = EventTime(milliseconds: try reader.number())
        let sequence = UInt32(try reader.number(in: 1...sequenceMax))
        var (shownCount, shownAt) = (count, EventTime.zero)
        if flags & conflated != 0 {
            // Without a held update, the last command has shown everything.
            let least = flags & holding != 0 ? 0 : count
            shownCount = try reader.number(in: least...count)
            shownAt = EventTime(milliseconds: try reader.number())
        } else if flags & holding != 0 {
            throw .malformed(position: 1)
        }
        var texts = InlineArray<8, Text>(repeating: .empty)
        for index in texts.indices { texts[index] = try reader.text() }
        // Every gift has a sender.
        guard !texts[1].isEmpty else { throw .malformed(position: reader.position) }
        return KeyState.Combo(
            isDisplayed: flags & displayed != 0,
            firstOffset: firstOffset,
            count: count,
            value: value,
            hideAt: hideAt,
            sequence: sequence,
            shownCount: shownCount,
            shownAt: shownAt,
            isHolding: flags & holding != 0,
            fields: CommandFields(
                roomID: texts[0],
                userID: texts[1],
                userName: texts[2],
                userAvatar: texts[3],
                recipientID: texts[4],
                giftID: texts[5],
                giftName: texts[6],
                giftImage: texts[7]
            )
        )
    }

    private static func memory(
        _ reader: inout ValueReader,
        _ scratch: ChangelogScratch
    ) throws(ChangelogError) -> KeyMemoryView {
        let unnamedTotal = try reader.number(in: 0...(.max))
        let streakCount = Int(try reader.number(in: 0...Int64(ChangelogScratch.streaksMax)))
        for index in 0..<streakCount {
            let id = try reader.word()
            let total = try reader.number(in: 1...(.max))
            unsafe scratch.streaks[index] = StreakTotal(id: id, total: total)
        }
        let idCount = Int(try reader.number(in: 0...Int64(idsMax)))
        for index in 0..<idCount { unsafe scratch.ids[index] = try reader.word() }
        return unsafe KeyMemoryView(
            unnamedTotal: unnamedTotal,
            streaks: UnsafeBufferPointer(rebasing: scratch.streaks[..<streakCount]),
            ids: UnsafeBufferPointer(rebasing: scratch.ids[..<idCount])
        )
    }

    private static func texts(_ fields: CommandFields) -> InlineArray<8, Text> {
        [
            fields.roomID, fields.userID, fields.userName, fields.userAvatar, fields.recipientID,
            fields.giftID, fields.giftName, fields.giftImage,
        ]
    }

    private static func textBytes(_ fields: CommandFields) -> Int {
        let texts = texts(fields)
        var bytes = 0
        for index in texts.indices { bytes += texts[index].count }
        return bytes
    }
}

/// Aligned memory for the hashes of one changelog record.
@safe
package final class ChangelogScratch {
    static let streaksMax = 4
    let streaks = UnsafeMutableBufferPointer<StreakTotal>.allocate(capacity: streaksMax)
    let ids = UnsafeMutableBufferPointer<UInt64>.allocate(capacity: 1024)

    /// Allocates the memory.
    package init() {}

    deinit {
        unsafe streaks.deallocate()
        unsafe ids.deallocate()
    }
}

/// Reads the pieces of a changelog value; never beyond its end.
@safe
private struct ValueReader {
    private let bytes: UnsafeRawBufferPointer
    private let count: Int
    private(set) var position = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        unsafe self.bytes = bytes
        count = bytes.count
    }

    mutating func byte() throws(ChangelogError) -> UInt8 {
        guard position < count else { throw .malformed(position: position) }
        defer { position += 1 }
        return unsafe bytes[position]
    }

    mutating func number() throws(ChangelogError) -> Int64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let byte = try byte()
            // The tenth byte has room for one bit.
            guard shift < 63 || byte <= 1 else { throw .malformed(position: position) }
            value |= UInt64(byte & 0x7f) << shift
            if byte & 0x80 == 0 { return Int64(bitPattern: value) }
            shift += 7
        }
    }

    mutating func number(in range: ClosedRange<Int64>) throws(ChangelogError) -> Int64 {
        let value = try number()
        guard range.contains(value) else { throw .malformed(position: position) }
        return value
    }

    mutating func word() throws(ChangelogError) -> UInt64 {
        guard count - position >= 8 else { throw .malformed(position: position) }
        defer { position += 8 }
        return UInt64(
            littleEndian: unsafe bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
        )
    }

    mutating func text() throws(ChangelogError) -> Text {
        let count = Int(try number(in: 0...Int64(self.count)))
        guard self.count - position >= count else { throw .malformed(position: position) }
        defer { position += count }
        return unsafe Text(UnsafeRawBufferPointer(rebasing: bytes[position..<position + count]))
    }

    func finish() throws(ChangelogError) {
        guard position == count else { throw .malformed(position: position) }
    }
}

extension ReservedBytes {
    /// Writes a number of variable length: at most ten bytes.
    fileprivate mutating func writeNumber(_ number: Int64) {
        var rest = UInt64(bitPattern: number)
        while rest >= 0x80 {
            write(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        write(UInt8(truncatingIfNeeded: rest))
    }

    /// Writes eight bytes, the lowest first.
    fileprivate mutating func writeWord(_ word: UInt64) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) {
            write(UInt8(truncatingIfNeeded: word >> shift))
        }
    }
}
