internal import CRdKafka
internal import StreamPorts

/// Reads librdkafka's bytes of a member's standing, to tell a member from one that has not joined.
///
/// The broker checks a generation of −1 with no member id against nothing, so such a standing must
/// never be sent, and there is no call that tells. The form, from rdkafka_cgrp.c, the same from 1.6
/// to 2.16: `CGMDv2:`, the generation as a native 32-bit integer, group id and member id each ended
/// by a zero byte, then the instance id.
enum MembershipFormat {
    private static let magic = Array("CGMDv2:".utf8)

    /// Whether the bytes are those of a member with a generation.
    static func hasJoined(_ bytes: [UInt8]) -> Bool {
        let generationStart = magic.count
        let groupStart = generationStart + 4
        guard bytes.starts(with: magic), bytes.count > groupStart else { return false }
        // The sign, in the last byte of a little-endian integer.
        guard bytes[groupStart - 1] & 0x80 == 0 else { return false }
        guard let groupEnd = bytes[groupStart...].firstIndex(of: 0) else { return false }
        let memberStart = groupEnd + 1
        return memberStart < bytes.count && bytes[memberStart] != 0
    }

    /// Whether the librdkafka that runs writes the form that is known here.
    ///
    /// - Throws: `refused` if it doesn't.
    static func checkLibrary() throws(StreamError) {
        guard
            let standing = unsafe rd_kafka_consumer_group_metadata_new_with_genid("g", 7, "m", nil)
        else { preconditionFailure("librdkafka is out of memory") }
        defer { unsafe rd_kafka_consumer_group_metadata_destroy(standing) }
        guard let bytes = unsafe bytes(of: standing), hasJoined(bytes) else {
            throw StreamError(
                .refused,
                operation: "consumer_group_metadata_write",
                code: StreamError.name(of: RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE),
                detail: "librdkafka \(KafkaSettings.libraryVersion) writes group membership in a "
                    + "form that is not known"
            )
        }
    }

    /// The bytes of a standing.
    static func bytes(of standing: OpaquePointer) -> [UInt8]? {
        var buffer: UnsafeMutableRawPointer?
        var size = 0
        let error = unsafe rd_kafka_consumer_group_metadata_write(standing, &buffer, &size)
        guard unsafe error == nil, let buffer = unsafe buffer else {
            unsafe rd_kafka_error_destroy(error)
            return nil
        }
        defer { unsafe rd_kafka_mem_free(nil, buffer) }
        return unsafe Array(UnsafeRawBufferPointer(start: buffer, count: size))
    }
}
