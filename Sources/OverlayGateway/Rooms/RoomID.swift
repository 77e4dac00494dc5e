/// A room, by the bytes of its id.
///
/// Not a String: two ids that look alike (é as one scalar, or as two) are two rooms.
package struct RoomID: Hashable, Sendable {
    /// The id as UTF-8.
    package var bytes: [UInt8]

    /// A room by its bytes, which are UTF-8.
    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// A room by its text.
    package init(_ text: String) {
        bytes = Array(text.utf8)
    }

    /// The id as text.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Orders rooms by their bytes.
    func precedes(_ other: RoomID) -> Bool {
        bytes.lexicographicallyPrecedes(other.bytes)
    }
}
