/// What a handler may know of a request.
package struct HTTPRequest: Equatable, Sendable {
    /// The path, percent escapes decoded, without the query.
    package var path: String
    /// The `Accept` header; nil: none.
    package var accept: String?

    /// Creates a request.
    package init(path: String, accept: String?) {
        self.path = path
        self.accept = accept
    }
}

/// An answer.
package struct HTTPResponse: Equatable, Sendable {
    /// The status code.
    package var status: UInt32
    /// The `Content-Type` header.
    package var contentType: String
    /// The content; not sent where only headers were asked for.
    package var body: [UInt8]
    /// The `Allow` header of a 405; nil: none.
    var allow: String?

    /// Creates an answer.
    package init(status: UInt32, contentType: String, body: [UInt8]) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }

    /// An answer in plain text.
    package static func text(_ status: UInt32, _ text: String) -> HTTPResponse {
        HTTPResponse(
            status: status,
            contentType: "text/plain; charset=utf-8",
            body: Array(text.utf8)
        )
    }

    static func text(_ status: UInt32, _ text: String, allow: String) -> HTTPResponse {
        var response = HTTPResponse.text(status, text)
        response.allow = allow
        return response
    }
}

/// Answers the requests for one path, on the server's thread; other clients wait meanwhile.
package typealias HTTPHandler = @Sendable (HTTPRequest) -> HTTPResponse
