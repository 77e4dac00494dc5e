/// What a handler may know of a request.
package struct HTTPRequest: Equatable, Sendable {
    /// The path, percent escapes decoded, without the query.
    package var path: String
    /// The query's arguments in order, percent escapes decoded.
    package var arguments: [HTTPArgument]
    /// The `Accept` header; nil: none.
    package var accept: String?
    /// The `Last-Event-ID` header; nil: none.
    package var lastEventID: String?

    /// Creates a request.
    package init(
        path: String,
        arguments: [HTTPArgument] = [],
        accept: String? = nil,
        lastEventID: String? = nil
    ) {
        self.path = path
        self.arguments = arguments
        self.accept = accept
        self.lastEventID = lastEventID
    }

    /// The first argument of a name; nil: there is none.
    package func argument(_ name: String) -> HTTPArgument? {
        arguments.first { $0.name == name }
    }
}

/// An argument of a query.
package struct HTTPArgument: Equatable, Sendable {
    /// Its name.
    package var name: String
    /// Its value, empty where it has none; nil: the bytes are not UTF-8.
    package var value: String?

    /// Creates an argument.
    package init(name: String, value: String?) {
        self.name = name
        self.value = value
    }
}

/// A header of an answer.
package struct HTTPHeader: Equatable, Sendable {
    /// The name.
    package var name: String
    /// The value, one line.
    package var value: String

    /// Creates a header.
    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// An answer.
package struct HTTPResponse: Equatable, Sendable {
    /// The status code.
    package var status: UInt32
    /// The `Content-Type` header.
    package var contentType: String
    /// Further headers.
    package var headers: [HTTPHeader]
    /// The content; not sent where only headers were asked for.
    package var body: [UInt8]

    /// Creates an answer.
    package init(
        status: UInt32,
        contentType: String,
        headers: [HTTPHeader] = [],
        body: [UInt8]
    ) {
        self.status = status
        self.contentType = contentType
        self.headers = headers
        self.body = body
    }

    /// An answer in plain text.
    package static func text(
        _ status: UInt32,
        _ text: String,
        headers: [HTTPHeader] = []
    ) -> HTTPResponse {
        HTTPResponse(
            status: status,
            contentType: "text/plain; charset=utf-8",
            headers: headers,
            body: Array(text.utf8)
        )
    }
}

/// Answers the requests for one path, on the server's thread; other clients wait meanwhile.
package typealias HTTPHandler = @Sendable (HTTPRequest) -> HTTPResponse

/// What becomes of a request for a stream.
package enum HTTPStreamAnswer: Sendable {
    /// It is answered like any other.
    case response(HTTPResponse)
    /// The connection is handed over to this function, which owns it from now on.
    case stream(@Sendable (HTTPStream) -> Void)
}

/// Decides about the GET requests for one path whose answers are streams, as ``HTTPHandler``.
package typealias HTTPStreamHandler = @Sendable (HTTPRequest) -> HTTPStreamAnswer
