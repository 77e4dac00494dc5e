/// The texts that live combos hold: one block a combo for the sender's, shared entries for gifts.
struct TextStore: ~Copyable {
    /// A sender's texts: room, user, recipient, name, picture.
    typealias SenderReference = ByteArena.Reference
    /// Index of a gift's entry.
    typealias GiftReference = UInt32

    private static let senderFields = 5
    private static let giftFields = 3

    /// A gift's texts, shared by the combos that show it.
    struct Gift: PoolCell {
        static var vacant: Gift { Gift(hash: 0, users: 0, block: ByteArena.none, nextVacant: .max) }

        var hash: UInt64
        var users: UInt32
        var block: ByteArena.Reference
        var nextVacant: UInt32
    }

    private var arena = ByteArena(capacity: 4096)
    private var gifts = CellPool<Gift>(capacity: 32)
    private var giftTable = KeyTable(capacity: 16)

    /// Bytes held.
    var byteCount: Int { arena.byteCount + gifts.byteCount + giftTable.byteCount }
    /// Gifts that are shown by some live combo.
    var giftCount: Int { gifts.count }

    /// Stores the sender's texts of an event.
    mutating func addSender(_ fields: CommandFields) -> SenderReference {
        Self.write(Self.senderTexts(fields), to: &arena)
    }

    mutating func removeSender(_ reference: SenderReference) {
        let size = unsafe TextBlock(arena.pointer(reference)).size(fields: Self.senderFields)
        arena.free(reference, size)
    }

    /// Replaces the sender's texts where they differ; answers where they are now.
    ///
    /// Only what is no part of the combo's key can differ, where the key holds all ids.
    @inline(__always)
    mutating func updateSender(
        _ reference: SenderReference,
        _ event: BorrowedEvent,
        keyHoldsIDs: Bool
    ) -> SenderReference {
        let block = unsafe TextBlock(arena.pointer(reference))
        let room = event.roomID.count
        let user = event.userID.count
        let recipient = event.recipientID.count
        let name = event.userName.count
        let avatar = event.userAvatar.count
        let all = room | user | recipient | name | avatar
        let lengths = room | user &<< 8 | recipient &<< 16 | name &<< 24 | avatar &<< 32
        let ids = room &+ user &+ recipient
        if keyHoldsIDs, all < 255,
            block.hasLengths(UInt64(truncatingIfNeeded: lengths), fields: Self.senderFields),
            block.holds(event.userName, at: Self.senderFields &+ ids),
            block.holds(event.userAvatar, at: Self.senderFields &+ ids &+ name)
        {
            return reference
        }
        return replaceSender(reference, event.fields)
    }

    @inline(never)
    private mutating func replaceSender(
        _ reference: SenderReference,
        _ fields: CommandFields
    ) -> SenderReference {
        let texts = Self.senderTexts(fields)
        if unsafe TextBlock(arena.pointer(reference)).holds(texts) { return reference }
        removeSender(reference)
        return Self.write(texts, to: &arena)
    }

    /// Takes a share in the gift's entry, making it if there is none.
    mutating func addGift(_ fields: CommandFields) -> GiftReference {
        let texts = Self.giftTexts(fields)
        var hasher = KeyHasher()
        for index in texts.indices { hasher.absorb(texts[index]) }
        let hash = hasher.finish()
        var slot = giftTable.firstSlot(hash)
        while let found = giftTable.candidate(hash, at: &slot) {
            if gifts[found.index].hash == hash.high {
                gifts[found.index].users += 1
                return found.index
            }
            slot = giftTable.slot(after: slot)
        }
        let index = gifts.take()
        gifts[index].hash = hash.high
        gifts[index].users = 1
        gifts[index].block = Self.write(texts, to: &arena)
        giftTable.insert(hash, .live(index))
        return index
    }

    /// Gives a share in the gift's entry up; the last one removes it.
    mutating func removeGift(_ reference: GiftReference) {
        gifts[reference].users -= 1
        guard gifts[reference].users == 0 else { return }
        let block = unsafe TextBlock(arena.pointer(gifts[reference].block))
        var hasher = KeyHasher()
        let texts: InlineArray<3, Text> = block.texts()
        for index in texts.indices { hasher.absorb(texts[index]) }
        let hash = hasher.finish()
        var slot = giftTable.firstSlot(hash)
        while let found = giftTable.candidate(hash, at: &slot) {
            if found.index == reference {
                giftTable.remove(at: slot)
                break
            }
            slot = giftTable.slot(after: slot)
        }
        arena.free(gifts[reference].block, block.size(fields: Self.giftFields))
        gifts.giveBack(reference)
    }

    /// Changes a share to the event's gift where it differs; answers which entry it is now.
    @inline(__always)
    mutating func updateGift(
        _ reference: GiftReference,
        _ event: BorrowedEvent,
        keyHoldsIDs: Bool
    ) -> GiftReference {
        let block = unsafe TextBlock(arena.pointer(gifts[reference].block))
        let id = event.giftID.count
        let name = event.giftName.count
        let image = event.giftImage.count
        let lengths = id | name &<< 8 | image &<< 16
        if keyHoldsIDs, id | name | image < 255,
            block.hasLengths(UInt64(truncatingIfNeeded: lengths), fields: Self.giftFields),
            block.holds(event.giftName, at: Self.giftFields &+ id),
            block.holds(event.giftImage, at: Self.giftFields &+ id &+ name)
        {
            return reference
        }
        return replaceGift(reference, event.fields)
    }

    @inline(never)
    private mutating func replaceGift(
        _ reference: GiftReference,
        _ fields: CommandFields
    ) -> GiftReference {
        let texts = Self.giftTexts(fields)
        if unsafe TextBlock(arena.pointer(gifts[reference].block)).holds(texts) { return reference }
        // The new share first: a gift that only changed its texts keeps its cell busy meanwhile.
        let replacement = addGift(fields)
        removeGift(reference)
        return replacement
    }

    /// The texts of a combo; valid until the next change of the store.
    mutating func fields(_ sender: SenderReference, _ gift: GiftReference) -> CommandFields {
        let block = unsafe TextBlock(arena.pointer(sender))
        let giftBlock = unsafe TextBlock(arena.pointer(gifts[gift].block))
        let senders: InlineArray<5, Text> = block.texts()
        let gifts: InlineArray<3, Text> = giftBlock.texts()
        return CommandFields(
            roomID: senders[0],
            userID: senders[1],
            userName: senders[3],
            userAvatar: senders[4],
            recipientID: senders[2],
            giftID: gifts[0],
            giftName: gifts[1],
            giftImage: gifts[2]
        )
    }

    private static func senderTexts(_ fields: CommandFields) -> InlineArray<5, Text> {
        [fields.roomID, fields.userID, fields.recipientID, fields.userName, fields.userAvatar]
    }

    private static func giftTexts(_ fields: CommandFields) -> InlineArray<3, Text> {
        [fields.giftID, fields.giftName, fields.giftImage]
    }

    private static func write<let count: Int>(
        _ texts: InlineArray<count, Text>,
        to arena: inout ByteArena
    ) -> ByteArena.Reference {
        let reference = arena.allocate(TextBlock.size(of: texts))
        unsafe TextBlock(arena.pointer(reference)).write(texts)
        return reference
    }
}

/// Texts behind one another in memory, their lengths before them.
///
/// A length takes one byte; where one is above 254, a byte of 255 comes first and each takes four.
@safe
struct TextBlock {
    private static let long: UInt8 = 255
    private let start: UnsafeMutableRawPointer

    init(_ start: UnsafeMutableRawPointer) {
        unsafe self.start = start
    }

    static func size<let count: Int>(of texts: borrowing InlineArray<count, Text>) -> Int {
        var bytes = 0
        var isLong = false
        for index in 0..<count {
            bytes += texts[index].count
            if texts[index].count >= Int(long) { isLong = true }
        }
        return bytes + (isLong ? 4 + 4 * count : count)
    }

    func size(fields: Int) -> Int {
        var bytes = headerSize(fields)
        for index in 0..<fields { bytes += length(index) }
        return bytes
    }

    func write<let count: Int>(_ texts: borrowing InlineArray<count, Text>) {
        var isLong = false
        for index in 0..<count where texts[index].count >= Int(Self.long) { isLong = true }
        if isLong { unsafe start.storeBytes(of: Self.long, as: UInt8.self) }
        var at = isLong ? 4 + 4 * count : count
        for index in 0..<count {
            let length = texts[index].count
            if isLong {
                unsafe start.storeBytes(
                    of: UInt32(length),
                    toByteOffset: 4 + 4 * index,
                    as: UInt32.self
                )
            } else {
                unsafe start.storeBytes(of: UInt8(length), toByteOffset: index, as: UInt8.self)
            }
            if length > 0 {
                unsafe (start + at).copyMemory(from: texts[index].start, byteCount: length)
            }
            at += length
        }
    }

    /// Whether the lengths of the block's texts, all below 255, are the lowest bytes of `lengths`.
    ///
    /// A block of fewer than eight bytes has eight.
    @inline(__always)
    func hasLengths(_ lengths: UInt64, fields: Int) -> Bool {
        let word = UInt64(littleEndian: unsafe start.load(as: UInt64.self))
        return (word ^ lengths) &<< UInt64(64 &- 8 &* fields) == 0
    }

    /// Whether the text stands `offset` bytes behind the block's start.
    @inline(__always)
    func holds(_ text: Text, at offset: Int) -> Bool {
        unsafe equalBytes(start + offset, text.start, text.count)
    }

    /// Whether the block holds exactly these texts.
    func holds<let count: Int>(_ texts: borrowing InlineArray<count, Text>) -> Bool {
        for index in 0..<count where length(index) != texts[index].count { return false }
        var at = headerSize(count)
        for index in 0..<count {
            guard holds(texts[index], at: at) else { return false }
            at += texts[index].count
        }
        return true
    }

    func texts<let count: Int>() -> InlineArray<count, Text> {
        var at = headerSize(count)
        var texts = InlineArray<count, Text>(repeating: .empty)
        for index in 0..<count {
            let length = length(index)
            texts[index] = unsafe Text(start: start + at, count: length)
            at += length
        }
        return texts
    }

    private var isLong: Bool { unsafe start.load(as: UInt8.self) == Self.long }

    private func headerSize(_ fields: Int) -> Int { isLong ? 4 + 4 * fields : fields }

    private func length(_ index: Int) -> Int {
        if isLong {
            return Int(unsafe start.load(fromByteOffset: 4 + 4 * index, as: UInt32.self))
        }
        return Int(unsafe start.load(fromByteOffset: index, as: UInt8.self))
    }
}

/// Whether `count` bytes at both places are the same.
///
/// A word at a time; the last word overlaps the one before, so that no byte is looked at alone.
@inline(__always)
func equalBytes(_ left: UnsafeRawPointer, _ right: UnsafeRawPointer, _ count: Int) -> Bool {
    if count >= 8 {
        var offset = 0
        while offset < count &- 8 {
            if unsafe differ(left, right, at: offset, as: UInt64.self) { return false }
            offset &+= 8
        }
        return unsafe !differ(left, right, at: count &- 8, as: UInt64.self)
    }
    if count >= 4 {
        return unsafe !differ(left, right, at: 0, as: UInt32.self)
            && !differ(left, right, at: count &- 4, as: UInt32.self)
    }
    // One to three: the first, the middle and the last.
    return unsafe count == 0
        || !differ(left, right, at: 0, as: UInt8.self)
            && !differ(left, right, at: count &>> 1, as: UInt8.self)
            && !differ(left, right, at: count &- 1, as: UInt8.self)
}

@inline(__always)
private func differ<Word: FixedWidthInteger & BitwiseCopyable>(
    _ left: UnsafeRawPointer,
    _ right: UnsafeRawPointer,
    at offset: Int,
    as type: Word.Type
) -> Bool {
    unsafe left.loadUnaligned(fromByteOffset: offset, as: type)
        != right.loadUnaligned(fromByteOffset: offset, as: type)
}
