package import ComboCore

/// Writes overlay commands as JSON.
///
/// Texts are JSON already and only copied. The fields' order is free; `user_id`, which no command
/// lacks, comes first of the texts, so that each of the others can begin with the quote that ends
/// the one before.
package enum CommandEncoder {
    /// What a command without its texts can take at most, and room for whole words at the end.
    ///
    /// 256 bytes of names and punctuation with all fields, nine numbers of up to 20 digits, the
    /// combo's id twice.
    private static let bytesBesidesTexts = 640
    /// Room that almost every command finds enough.
    private static let usualBytes = 4096

    /// Appends the record key: the room, or the sender where there is none, unescaped.
    package static func appendKey(_ command: OverlayCommand, to output: inout OutputBytes) {
        let room = unsafe command.fields.roomID.bytes
        unsafe JSONText.appendUnescaped(
            room.isEmpty ? command.fields.userID.bytes : room,
            to: &output
        )
    }

    /// Appends the JSON of a command of a partition.
    package static func append(
        _ command: OverlayCommand,
        partition: Int32,
        to output: inout OutputBytes
    ) {
        if let json = write(command, partition: partition, to: output.reserve(usualBytes)) {
            output.commit(json)
            return
        }
        // What is written before a text takes room too, and the same again must be left behind it.
        let reserved = output.reserve(2 * bytesBesidesTexts + textBytes(of: command.fields))
        guard let json = write(command, partition: partition, to: reserved) else {
            preconditionFailure("a command takes more than was reserved")
        }
        output.commit(json)
    }

    private static func textBytes(of fields: CommandFields) -> Int {
        let ids = fields.roomID.count + fields.userID.count + fields.recipientID.count
        let sender = fields.userName.count + fields.userAvatar.count
        return ids + sender + fields.giftID.count + fields.giftName.count + fields.giftImage.count
    }

    /// Writes a command, or returns nil if its texts might need more than is reserved.
    ///
    /// The space comes and goes by value, so that the cursor stays in a register.
    private static func write(
        _ command: OverlayCommand,
        partition: Int32,
        to reserved: ReservedBytes
    ) -> ReservedBytes? {
        var json = reserved
        writeIDs(of: command, partition: partition, to: &json)
        guard write(",\"user_id\":\"", command.fields.userID, to: &json),
            write("\",\"room_id\":\"", command.fields.roomID, to: &json),
            write("\",\"user_name\":\"", command.fields.userName, to: &json),
            write("\",\"user_avatar\":\"", command.fields.userAvatar, to: &json),
            write("\",\"recipient_id\":\"", command.fields.recipientID, to: &json),
            write("\",\"gift_id\":\"", command.fields.giftID, to: &json),
            write("\",\"gift_name\":\"", command.fields.giftName, to: &json),
            write("\",\"gift_image\":\"", command.fields.giftImage, to: &json)
        else { return nil }
        json.write("\",\"from\":")
        json.write(number: command.previousCount)
        json.write(",\"count\":")
        json.write(number: command.count)
        json.write(",\"value\":")
        json.write(number: command.value)
        json.write(",\"lane\":")
        json.write(number: Int64(command.lane))
        writeTimes(of: command, to: &json)
        switch command.kind {
        case .show where command.resumed: json.write(",\"resumed\":true}")
        case .show: json.write(",\"resumed\":false}")
        case .update, .hide, .end: json.write("}")
        }
        return json
    }

    /// Writes a text unless it is empty; returns false if it might leave no room for the rest.
    @inline(__always)
    private static func write(
        _ name: StaticString,
        _ text: Text,
        to json: inout ReservedBytes
    ) -> Bool {
        guard let start = unsafe text.bytes.baseAddress, unsafe text.bytes.count > 0
        else { return true }
        let count = unsafe text.bytes.count
        guard count &+ bytesBesidesTexts <= json.room else { return false }
        json.write(name)
        unsafe json.write(from: start, count: count)
        return true
    }

    /// Writes the kind, the ids and the number within the combo.
    @inline(__always)
    private static func writeIDs(
        of command: OverlayCommand,
        partition: Int32,
        to json: inout ReservedBytes
    ) {
        switch command.kind {
        case .show: json.write("{\"command\":\"show\",\"id\":\"")
        case .update: json.write("{\"command\":\"update\",\"id\":\"")
        case .hide: json.write("{\"command\":\"hide\",\"id\":\"")
        case .end: json.write("{\"command\":\"end\",\"id\":\"")
        }
        // The combo's id has at most 32 bytes, the number 10.
        let comboID = unsafe json.cursor
        json.write(number: Int64(partition))
        json.write(Byte.minus)
        json.write(number: command.comboOffset)
        let comboIDLength = unsafe json.cursor - comboID
        json.write(UInt8(ascii: "#"))
        let sequence = unsafe json.cursor
        json.write(number: Int64(command.sequence))
        let sequenceLength = unsafe json.cursor - sequence
        json.write("\",\"combo_id\":\"")
        unsafe json.writeCopy(of: comboID, count: comboIDLength)
        json.write("\",\"seq\":")
        unsafe json.writeCopy(of: sequence, count: sequenceLength)
    }

    /// Writes the three times.
    ///
    /// They lie close together, so that mostly the digits before the last eight are the same.
    @inline(__always)
    private static func writeTimes(of command: OverlayCommand, to json: inout ReservedBytes) {
        let at = UInt64(bitPattern: command.at.milliseconds)
        let before = at / 100_000_000 &* 100_000_000
        let hideAt = UInt64(bitPattern: command.hideAt.milliseconds) &- before
        let endAt = UInt64(bitPattern: command.endAt.milliseconds) &- before
        json.write(",\"at\":")
        // Times after 1970 and before 318,857 whose last eight digits do not overflow meanwhile.
        if before &- 1 < 9_999_999_999_999_999, hideAt < 100_000_000, endAt < 100_000_000 {
            let digits = DecimalDigits.Short(before / 100_000_000)
            json.write(digits)
            json.writeEightDigits(at &- before)
            json.write(",\"hide_at\":")
            json.write(digits)
            json.writeEightDigits(hideAt)
            json.write(",\"end_at\":")
            json.write(digits)
            json.writeEightDigits(endAt)
        } else {
            json.write(number: command.at.milliseconds)
            json.write(",\"hide_at\":")
            json.write(number: command.hideAt.milliseconds)
            json.write(",\"end_at\":")
            json.write(number: command.endAt.milliseconds)
        }
    }
}
