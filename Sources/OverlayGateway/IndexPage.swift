internal import AdminServer

/// The list of live rooms, each with a link to its overlay and a preview.
struct IndexPage: Sendable {
    private let document = InlineDocument(
        template: PackageResources.index_html,
        style: PackageResources.index_css,
        script: nil
    )
    private static let mark = "<!--rooms-->"

    /// The page.
    ///
    /// - Parameters:
    ///   - rooms: Those that are listed, in order.
    ///   - total: How many are live.
    ///   - signer: Signs the links; nil: they need no signature.
    /// - Returns: the answer.
    func response(
        _ rooms: [(room: RoomID, combos: Int)],
        total: Int,
        signer: LinkSigner?
    ) -> HTTPResponse {
        var list = ""
        for (room, combos) in rooms {
            let path = escaped(RoomLink.path(of: room, signer: signer))
            let name = room.bytes.isEmpty ? "(without a name)" : escaped(room.text)
            list += """
                <section>
                <h2><bdi>\(name)</bdi> <span>\(combos) live</span> \
                <a href="\(path)">overlay</a></h2>
                <iframe src="\(path)" loading="lazy" title="preview"></iframe>
                </section>

                """
        }
        if rooms.isEmpty { list = "<p>No room has a live combo just now.</p>" }
        if total > rooms.count { list += "<p>and \(total - rooms.count) more</p>" }
        return document.response(
            document.text.replacing(Self.mark, with: list, maxReplacements: 1),
            policy: "frame-src 'self'; frame-ancestors 'none'"
        )
    }

    /// Text as it may stand in an element or a quoted attribute.
    private func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            case _ where scalar.value < 0x20: result += "\u{FFFD}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

/// How the links of rooms are written.
package enum RoomLink {
    /// The path and query of a room's overlay; percent escapes, so that any id fits.
    package static func path(of room: RoomID, signer: LinkSigner?) -> String {
        let signature = signer.map { "&sig=\($0.signature(of: room))" } ?? ""
        return "/overlay?room=\(percentEscaped(room.bytes))\(signature)"
    }

    /// The path and query of the index.
    package static func indexPath(signer: LinkSigner?) -> String {
        signer.map { "/?sig=\($0.signatureOfIndex())" } ?? "/"
    }

    private static func percentEscaped(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var text: [UInt8] = []
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                text.append(byte)
            default:
                text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
