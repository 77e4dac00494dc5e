internal import CGnuTLS

/// Signs the links of rooms with `overlay.key`: HMAC-SHA256 (RFC 2104), 64 hexadecimal digits.
///
/// A room's signature opens that room alone; the index, which tells of all rooms, has one of its
/// own. A signature is for good, as long as the key is.
package struct LinkSigner: Sendable {
    private let key: [UInt8]

    /// Takes the key.
    package init(key: String) {
        self.key = Array(key.utf8)
    }

    /// The signature of a room's links.
    package func signature(of room: RoomID) -> String {
        signature(ofMessage: Array("room:".utf8) + room.bytes)
    }

    /// The signature of the index.
    package func signatureOfIndex() -> String {
        signature(ofMessage: Array("index".utf8))
    }

    /// Whether a signature is the expected one; the time does not tell where they differ.
    func isValid(_ given: String?, _ expected: String) -> Bool {
        let (left, right) = (Array((given ?? "").utf8), Array(expected.utf8))
        guard left.count == right.count else { return false }
        return unsafe gnutls_memcmp(left, right, left.count) == 0
    }

    private func signature(ofMessage message: [UInt8]) -> String {
        var digest = [UInt8](repeating: 0, count: 32)
        let code = unsafe gnutls_hmac_fast(
            GNUTLS_MAC_SHA256,
            key,
            key.count,
            message,
            message.count,
            &digest
        )
        precondition(code == 0, "SHA-256 is there")
        return digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

/// SHA-256 in base64, as a Content-Security-Policy names inline scripts and styles.
func contentHash(_ bytes: [UInt8]) -> String {
    var digest = [UInt8](repeating: 0, count: 32)
    let code = unsafe gnutls_hash_fast(GNUTLS_DIG_SHA256, bytes, bytes.count, &digest)
    precondition(code == 0, "SHA-256 is there")
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var text: [UInt8] = []
    for start in stride(from: 0, to: digest.count, by: 3) {
        let part = digest[start..<min(start + 3, digest.count)]
        var bits: UInt32 = 0
        for byte in part { bits = bits << 8 | UInt32(byte) }
        bits <<= 8 * UInt32(3 - part.count)
        for place in 0..<4 {
            let index = Int(bits >> UInt32(18 - 6 * place) & 63)
            text.append(place <= part.count ? alphabet[index] : UInt8(ascii: "="))
        }
    }
    return String(decoding: text, as: UTF8.self)
}
