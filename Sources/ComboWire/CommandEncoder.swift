package import ComboCore

/// Writes overlay commands as JSON.
///
/// Texts are JSON already and only copied: all at once where the record has them behind one another
/// (``OverlayCommand/asRecorded``), one by one from the partition's state.
package struct CommandEncoder: ~Copyable {
    /// What a command without its texts can take at most, and room for whole words at the end.
    ///
    /// 256 bytes of names and punctuation with all fields, nine numbers of up to 20 digits, the
    /// combo's id twice.
    private static let bytesBesidesTexts = 640
    /// Room that almost every command finds enough.
    private static let usualBytes = 4096

    private let numbers = NumberTexts()
    /// The partition and a minus sign, with which its combos' ids begin.
    private var partitionText = SIMD16<UInt8>(repeating: 0)
    private var partitionTextCount = 0
    private var partition: Int32?
    /// The times that a gift's command had last, and how they were written.
    private var lastTimes: (at: Int64, hideAt: Int64, endAt: Int64)
    private var lastTimesText = TimesText()
    private var lastTimesCount: Int

    /// Creates an encoder.
    package init() {
        // What a gift's command with these times would have.
        var output = OutputBytes(capacity: 128)
        var json = output.reserve(128)
        var command = OverlayCommand()
        lastTimes = (0, 0, 0)
        lastTimesCount = 0
        let start = unsafe json.cursor
        writeTimes(of: &command, to: &json)
        lastTimesCount = unsafe json.cursor - start
        unsafe lastTimesText.copy(from: start)
    }

    /// Appends a command's record key, then its JSON.
    ///
    /// The key is the room, or the sender where there is none, unescaped. The command is not
    /// changed.
    ///
    /// - Returns: Where the JSON begins.
    package mutating func append(
        _ command: inout OverlayCommand,
        partition: Int32,
        to output: inout OutputBytes
    ) -> Int {
        if partition != self.partition { begin(partition) }
        let room = command.fields.roomID
        let key = room.isEmpty ? command.fields.userID : room
        let recorded = command.asRecorded
        if !recorded.isEmpty {
            // Plain texts, without any escape.
            let count = Self.bytesBesidesTexts + key.count + recorded.count
            var json = output.reserve(count)
            unsafe json.write(from: key.start, count: key.count)
            let start = output.count + key.count
            writeNumbers(of: &command, to: &json)
            writeTimesOnce(of: &command, to: &json)
            writeResumed(of: &command, to: &json)
            json.write(Byte.comma)
            unsafe json.writeLong(from: recorded.start, count: recorded.count)
            json.write(Byte.closeBrace)
            output.commit(json)
            return start
        }
        unsafe JSONText.appendUnescaped(key.bytes, to: &output)
        let start = output.count
        appendFieldByField(&command, to: &output)
        return start
    }

    private mutating func begin(_ partition: Int32) {
        self.partition = partition
        partitionTextCount = 0
        for byte in "\(partition)-".utf8 {
            partitionText[partitionTextCount] = byte
            partitionTextCount += 1
        }
    }

    @inline(never)
    private func appendFieldByField(
        _ command: inout OverlayCommand,
        to output: inout OutputBytes
    ) {
        let fields = command.fields
        let ids = fields.roomID.count &+ fields.userID.count &+ fields.recipientID.count
        let gift = fields.giftID.count &+ fields.giftName.count &+ fields.giftImage.count
        let sender = fields.userName.count &+ fields.userAvatar.count
        var json = output.reserve(Self.bytesBesidesTexts &+ ids &+ gift &+ sender)
        writeNumbers(of: &command, to: &json)
        writeTimes(of: &command, to: &json)
        writeResumed(of: &command, to: &json)
        write(",\"user_id\":\"", fields.userID, to: &json)
        write("\",\"room_id\":\"", fields.roomID, to: &json)
        write("\",\"user_name\":\"", fields.userName, to: &json)
        write("\",\"user_avatar\":\"", fields.userAvatar, to: &json)
        write("\",\"recipient_id\":\"", fields.recipientID, to: &json)
        write("\",\"gift_id\":\"", fields.giftID, to: &json)
        write("\",\"gift_name\":\"", fields.giftName, to: &json)
        write("\",\"gift_image\":\"", fields.giftImage, to: &json)
        json.write("\"}")
        output.commit(json)
    }

    /// Writes a text unless it is empty.
    ///
    /// `user_id`, which no command lacks, comes first, so that each of the others can begin with
    /// the quote that ends the one before.
    @inline(__always)
    private func write(_ name: StaticString, _ text: Text, to json: inout ReservedBytes) {
        guard text.count > 0 else { return }
        json.write(name)
        unsafe json.write(from: text.start, count: text.count)
    }

    /// Writes what is no text, the opening brace before it.
    @inline(__always)
    private func writeNumbers(of command: inout OverlayCommand, to json: inout ReservedBytes) {
        switch command.kind {
        case .show: json.write("{\"command\":\"show\",\"combo_id\":\"")
        case .update: json.write("{\"command\":\"update\",\"combo_id\":\"")
        case .hide: json.write("{\"command\":\"hide\",\"combo_id\":\"")
        case .end: json.write("{\"command\":\"end\",\"combo_id\":\"")
        }
        // The combo's id has at most 32 bytes.
        let comboID = unsafe json.cursor
        json.write(partitionText, count: partitionTextCount)
        numbers.writeOffset(command.comboOffset, to: &json)
        let comboIDLength = unsafe json.cursor - comboID
        json.write("\",\"id\":\"")
        unsafe json.writeCopy(of: comboID, count: comboIDLength)
        json.write(UInt8(ascii: "#"))
        numbers.write(Int64(command.sequence), to: &json)
        json.write("\",\"seq\":")
        numbers.write(Int64(command.sequence), to: &json)
        json.write(",\"from\":")
        numbers.write(command.previousCount, to: &json)
        json.write(",\"count\":")
        numbers.write(command.count, to: &json)
        json.write(",\"value\":")
        numbers.write(command.value, to: &json)
        json.write(",\"lane\":")
        numbers.write(Int64(command.lane), to: &json)
    }

    /// Writes the times of a gift's command.
    ///
    /// Gifts that come in the same millisecond have the same ones, and they are copied.
    @inline(__always)
    private mutating func writeTimesOnce(
        of command: inout OverlayCommand,
        to json: inout ReservedBytes
    ) {
        let at = command.at.milliseconds
        let hideAt = command.hideAt.milliseconds
        let endAt = command.endAt.milliseconds
        if at != lastTimes.at || hideAt != lastTimes.hideAt || endAt != lastTimes.endAt {
            let start = unsafe json.cursor
            writeTimes(of: &command, to: &json)
            lastTimes = (at, hideAt, endAt)
            lastTimesCount = unsafe json.cursor - start
            unsafe lastTimesText.copy(from: start)
            return
        }
        unsafe lastTimesText.copy(to: json.cursor)
        json.advance(lastTimesCount)
    }

    @inline(__always)
    private func writeTimes(of command: inout OverlayCommand, to json: inout ReservedBytes) {
        json.write(",\"at\":")
        numbers.write(command.at, to: &json)
        json.write(",\"hide_at\":")
        numbers.write(command.hideAt, to: &json)
        json.write(",\"end_at\":")
        numbers.write(command.endAt, to: &json)
    }

    @inline(__always)
    private func writeResumed(of command: inout OverlayCommand, to json: inout ReservedBytes) {
        if case .show = command.kind {
            json.write(command.resumed ? ",\"resumed\":true" : ",\"resumed\":false")
        }
    }
}

/// The members `at`, `hide_at` and `end_at` with their commas: up to 27 bytes and three numbers.
private struct TimesText {
    private var first = SIMD32<UInt8>(repeating: 0)
    private var second = SIMD32<UInt8>(repeating: 0)
    private var third = SIMD32<UInt8>(repeating: 0)

    /// Takes 96 bytes from `source`.
    @inline(__always)
    mutating func copy(from source: UnsafeRawPointer) {
        first = unsafe source.loadUnaligned(as: SIMD32<UInt8>.self)
        second = unsafe source.loadUnaligned(fromByteOffset: 32, as: SIMD32<UInt8>.self)
        third = unsafe source.loadUnaligned(fromByteOffset: 64, as: SIMD32<UInt8>.self)
    }

    /// Puts them to `target`.
    @inline(__always)
    func copy(to target: UnsafeMutableRawPointer) {
        unsafe target.storeBytes(of: first, as: SIMD32<UInt8>.self)
        unsafe target.storeBytes(of: second, toByteOffset: 32, as: SIMD32<UInt8>.self)
        unsafe target.storeBytes(of: third, toByteOffset: 64, as: SIMD32<UInt8>.self)
    }
}
