internal import AdminServer

/// The overlay's page: one HTML document, made of the files in `Page` when the process starts.
struct OverlayPage: Sendable {
    /// The style sheets, in order.
    private static let styles = [PackageResources.overlay_css]
    /// The scripts, in order; together they are one script.
    private static let scripts = [
        PackageResources.settings_js, PackageResources.words_js, PackageResources.commands_js,
        PackageResources.lanes_js, PackageResources.sequence_js, PackageResources.rows_js,
        PackageResources.events_js, PackageResources.overlay_js,
    ]

    /// The answer to every request for it: the page reads its parameters itself.
    let response: HTTPResponse

    init() {
        let document = InlineDocument(
            template: PackageResources.overlay_html,
            style: Self.styles.flatMap { $0 },
            script: Self.scripts.flatMap { $0 }
        )
        response = document.response(
            document.text,
            policy: "img-src https: http://127.0.0.1:* http://localhost:*; connect-src 'self'"
        )
    }
}

/// An HTML document with its style and script inline, and a policy that allows just these two.
struct InlineDocument: Sendable {
    /// The document.
    let text: String
    private let sources: String

    /// Puts style and script into the template's empty elements; nil: it has no script.
    init(template: [UInt8], style: [UInt8], script: [UInt8]?) {
        // Line ends as the browser hashes them.
        let style = String(decoding: style, as: UTF8.self).replacing("\r\n", with: "\n")
        precondition(!style.contains("</style"), "the style ends too early")
        var page = String(decoding: template, as: UTF8.self)
        page = Self.put("<style>\(style)</style>", into: page, at: "<style></style>")
        var sources = "style-src 'sha256-\(contentHash(Array(style.utf8)))'"
        if let script {
            let script = String(decoding: script, as: UTF8.self).replacing("\r\n", with: "\n")
            precondition(!script.contains("</script"), "the script ends too early")
            page = Self.put("<script>\(script)</script>", into: page, at: "<script></script>")
            sources += "; script-src 'sha256-\(contentHash(Array(script.utf8)))'"
        }
        text = page
        self.sources = sources
    }

    /// An answer that allows nothing but this style, this script, and what `policy` says.
    func response(_ text: String, policy: String) -> HTTPResponse {
        HTTPResponse(
            status: 200,
            contentType: "text/html; charset=utf-8",
            headers: [
                HTTPHeader(
                    "Content-Security-Policy",
                    "default-src 'none'; \(sources); \(policy); base-uri 'none'; "
                        + "form-action 'none'"
                ),
                HTTPHeader("Referrer-Policy", "no-referrer"),
            ],
            body: Array(text.utf8)
        )
    }

    private static func put(_ text: String, into page: String, at mark: String) -> String {
        let parts = page.split(separator: mark, omittingEmptySubsequences: false)
        precondition(parts.count == 2, "the template has one \(mark)")
        return parts[0] + text + parts[1]
    }
}
