/// A gift event where its owner has it: who reads one field copies no other.
@safe
@dynamicMemberLookup
struct BorrowedEvent: BitwiseCopyable {
    private let pointer: UnsafePointer<GiftEvent>

    /// Borrows an event, which must stay where it is while this is used.
    @inline(__always)
    init(_ pointer: UnsafePointer<GiftEvent>) {
        unsafe self.pointer = pointer
    }

    @inline(__always)
    subscript<Field>(dynamicMember field: KeyPath<GiftEvent, Field>) -> Field {
        unsafe pointer.pointee[keyPath: field]
    }

    /// The fields that commands carry.
    @inline(__always)
    var fields: CommandFields {
        CommandFields(
            roomID: self.roomID,
            userID: self.userID,
            userName: self.userName,
            userAvatar: self.userAvatar,
            recipientID: self.recipientID,
            giftID: self.giftID,
            giftName: self.giftName,
            giftImage: self.giftImage
        )
    }
}
