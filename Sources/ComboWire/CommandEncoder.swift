package import ComboCore

/// Writes overlay commands as JSON.
package enum CommandEncoder {
    /// Appends the record key.
    package static func appendKey(_ command: OverlayCommand, to output: inout OutputBytes) {
        let room = command.fields.roomID
        unsafe output.append((room.isEmpty ? command.fields.userID : room).bytes)
    }

    /// Appends the JSON of a command.
    package static func append(
        _ command: OverlayCommand,
        partition: Int32,
        to output: inout OutputBytes
    ) {
        func put(_ text: String) {
            var text = text
            text.withUTF8 { unsafe output.append(UnsafeRawBufferPointer($0)) }
        }
        func field(_ name: String, _ text: Text) {
            if text.isEmpty { return }
            put(",\"\(name)\":\"")
            unsafe output.append(text.bytes)
            put("\"")
        }
        let combo = "\(partition)-\(command.comboOffset)"
        put("{\"command\":\"\(command.kind)\",\"id\":\"\(combo)#\(command.sequence)\"")
        put(",\"combo_id\":\"\(combo)\",\"seq\":\(command.sequence)")
        field("room_id", command.fields.roomID)
        field("user_id", command.fields.userID)
        field("user_name", command.fields.userName)
        field("user_avatar", command.fields.userAvatar)
        field("recipient_id", command.fields.recipientID)
        field("gift_id", command.fields.giftID)
        field("gift_name", command.fields.giftName)
        field("gift_image", command.fields.giftImage)
        put(",\"from\":\(command.previousCount),\"count\":\(command.count)")
        put(",\"value\":\(command.value),\"lane\":\(command.lane)")
        put(",\"at\":\(command.at.milliseconds),\"hide_at\":\(command.hideAt.milliseconds)")
        put(",\"end_at\":\(command.endAt.milliseconds)")
        if command.kind == .show { put(",\"resumed\":\(command.resumed)") }
        put("}")
    }
}
