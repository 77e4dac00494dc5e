internal import ComboWire

/// Which combo a command belongs to, and its place there.
struct CommandReference: Equatable {
    /// A combo's id: where its first gift lies in the input.
    struct Combo: Hashable, Comparable, CustomStringConvertible {
        var partition: Int32
        var offset: Int64

        static func < (left: Combo, right: Combo) -> Bool {
            (left.partition, left.offset) < (right.partition, right.offset)
        }

        var description: String { "\(partition)-\(offset)" }
    }

    var combo: Combo
    /// 1, 2, 3 … within the combo.
    var sequence: Int
    var user: String

    /// Reads it from a command's JSON; nil: the bytes are no command of ours.
    init?(_ command: UnsafeRawBufferPointer) {
        var id = ""
        user = ""
        do {
            var reader = unsafe JSONReader(command)
            try reader.beginObject()
            while let name = try reader.nextField() {
                switch name {
                case "id": id = try reader.string()
                case "user_id": user = try reader.string()
                default: try reader.skipValue()
                }
            }
            try reader.finish()
        } catch {
            return nil
        }
        let parts = id.split(separator: "#", omittingEmptySubsequences: false)
        let place = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, place.count == 2, let partition = Int32(place[0]),
            let offset = Int64(place[1]), let sequence = Int(parts[1]), sequence > 0,
            sequence <= Int(Int32.max)
        else { return nil }
        combo = Combo(partition: partition, offset: offset)
        self.sequence = sequence
    }
}

/// A command as it lies in the topic: record key, timestamp and value.
struct PublishedRecord: Equatable {
    var key: [UInt8]
    var timestamp: Int64
    var value: [UInt8]

    init(key: UnsafeRawBufferPointer, timestamp: Int64, value: UnsafeRawBufferPointer) {
        self.key = unsafe Array(key)
        self.timestamp = timestamp
        self.value = unsafe Array(value)
    }

    /// A hash of everything; for comparison within this process only.
    static func hash(
        key: UnsafeRawBufferPointer,
        timestamp: Int64,
        value: UnsafeRawBufferPointer
    ) -> UInt64 {
        var hasher = Hasher()
        unsafe hasher.combine(bytes: key)
        hasher.combine(timestamp)
        unsafe hasher.combine(bytes: value)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    /// Whether both say the same; the order of fields is free, and so are empty and false ones.
    func means(_ other: PublishedRecord) -> Bool {
        guard key == other.key, timestamp == other.timestamp,
            let fields = Self.fields(value), let others = Self.fields(other.value)
        else { return false }
        return fields == others
    }

    private static func fields(_ value: [UInt8]) -> [String: [UInt8]]? {
        unsafe value.withUnsafeBytes { bytes in
            do {
                var fields: [String: [UInt8]] = [:]
                var reader = unsafe JSONReader(bytes)
                try reader.beginObject()
                while let name = try reader.nextField() {
                    if try reader.nextKind() == .string {
                        fields[name] = try reader.bytes()
                    } else {
                        fields[name] = unsafe Array(bytes[try reader.skipValue()])
                    }
                }
                try reader.finish()
                return fields.filter { !$1.isEmpty && $1 != Array("false".utf8) }
            } catch {
                return nil
            }
        }
    }

    /// As a person reads it: the value, and key and timestamp where they are not the usual ones.
    var text: String {
        "\(String(decoding: value, as: UTF8.self)) (key \(String(decoding: key, as: UTF8.self)), "
            + "timestamp \(timestamp))"
    }
}
