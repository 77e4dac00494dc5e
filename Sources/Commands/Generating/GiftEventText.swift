/// Writes gift events as JSON, one after the other in the same buffer.
struct GiftEventText {
    private var bytes: [UInt8] = []

    mutating func begin() {
        bytes.removeAll(keepingCapacity: true)
        bytes.append(UInt8(ascii: "{"))
    }

    mutating func put(_ name: String, _ value: String) {
        putName(name)
        appendJSONString(value.utf8, to: &bytes)
    }

    mutating func put(_ name: String, _ value: Int) {
        putName(name)
        bytes.append(contentsOf: String(value).utf8)
    }

    mutating func put(_ name: String, _ value: Bool) {
        putName(name)
        bytes.append(contentsOf: (value ? "true" : "false").utf8)
    }

    mutating func end(into value: inout [UInt8]) {
        bytes.append(UInt8(ascii: "}"))
        value.removeAll(keepingCapacity: true)
        value.append(contentsOf: bytes)
    }

    /// A sender's id: three in four are numbers, as platforms mix them.
    func userID(_ user: Int) -> String {
        user % 4 == 0 ? "u-\(padded(user, 6))" : String(1_000_000 + user)
    }

    /// A sender's name; the first few have none to tell them apart by.
    func userName(_ user: Int) -> String {
        let name = GiftCatalogue.names[user % GiftCatalogue.names.count]
        let round = user / GiftCatalogue.names.count
        return round == 0 ? name : "\(name) \(round)"
    }

    /// A number with zeros in front.
    func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }

    private mutating func putName(_ name: String) {
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        appendJSONString(name.utf8, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
    }
}

/// Appends UTF-8 text as a JSON string, quotes included (RFC 8259 section 7).
func appendJSONString(_ text: some Sequence<UInt8>, to bytes: inout [UInt8]) {
    let hexadecimal = Array("0123456789abcdef".utf8)
    bytes.append(UInt8(ascii: "\""))
    for byte in text {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            bytes.append(UInt8(ascii: "\\"))
            bytes.append(byte)
        case 0..<0x20:
            bytes.append(contentsOf: "\\u00".utf8)
            bytes.append(hexadecimal[Int(byte >> 4)])
            bytes.append(hexadecimal[Int(byte & 15)])
        default: bytes.append(byte)
        }
    }
    bytes.append(UInt8(ascii: "\""))
}
