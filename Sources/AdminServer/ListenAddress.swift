internal import Glibc

/// Where to listen: `host:port`, as `admin.listen` is written.
package struct ListenAddress: Equatable, Sendable, CustomStringConvertible {
    /// A host name or an IPv4 or IPv6 address; empty: all addresses of the machine.
    package let host: String
    /// The port; 0 takes a free one.
    package let port: UInt16

    /// Reads `127.0.0.1:9464`, `localhost:9464`, `[::1]:9464`, or `:9464` for all addresses.
    ///
    /// - Throws: ``AdminServerError`` that says what is wrong with the text.
    package init(_ text: String) throws(AdminServerError) {
        guard let colon = text.lastIndex(of: ":") else {
            throw AdminServerError(text, .malformed("it has no port"))
        }
        let digits = text[text.index(after: colon)...]
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(digits)
        else {
            throw AdminServerError(text, .malformed("the port is not 0 to 65535"))
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            throw AdminServerError(text, .malformed("an IPv6 address stands in brackets"))
        }
        self.init(host: String(host), port: port)
    }

    init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// The address as it is written in a configuration and in a URL.
    package var description: String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

/// Why the server can't listen.
package struct AdminServerError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What is the matter.
    package enum Problem: Equatable, Sendable {
        /// The text is no address.
        case malformed(String)
        /// The host name has no address.
        case unresolvable(String)
        /// Somebody else listens there.
        case portInUse
        /// The port is reserved for the system.
        case notPermitted
        /// The address is not one of this machine.
        case notOurs
        /// Anything else, in the system's words.
        case failed(String)
    }

    /// The address as it was configured.
    package let address: String
    /// What is the matter.
    package let problem: Problem

    init(_ address: String, _ problem: Problem) {
        self.address = address
        self.problem = problem
    }

    /// The address, what is wrong, and what to do about it.
    package var description: String {
        let reason =
            switch problem {
            case .malformed(let detail):
                "\(detail); write host:port, such as 127.0.0.1:9464, [::1]:9464 or :9464"
            case .unresolvable(let detail):
                "the host can't be resolved (\(detail)); "
                    + "give an address of this machine, or a name that resolves to one"
            case .portInUse:
                "the port is in use, perhaps by another giftcombo; "
                    + "stop the other process, or set another port (0 takes a free one)"
            case .notPermitted:
                "not permitted; ports below 1024 need the right to bind them, set a higher one"
            case .notOurs:
                "no address of this machine; set one of its own, or :port for all of them"
            case .failed(let detail):
                "\(detail); set another address"
            }
        return "can't listen on \(address): \(reason)"
    }
}

/// A socket that listens.
struct Listener {
    let descriptor: Int32
    /// With the port that it got.
    let address: ListenAddress

    /// Resolves and listens on the first address of the host that this machine has.
    init(_ wanted: ListenAddress) throws(AdminServerError) {
        // Without a host: IPv6, which takes IPv4 too, and IPv4 where the machine has no IPv6.
        let hosts = wanted.host.isEmpty ? ["::", "0.0.0.0"] : [wanted.host]
        var problem = AdminServerError.Problem.notOurs
        for host in hosts {
            var list: UnsafeMutablePointer<addrinfo>?
            var hints = unsafe addrinfo()
            unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
            unsafe hints.ai_flags = AI_NUMERICSERV
            let status = unsafe getaddrinfo(host, String(wanted.port), &hints, &list)
            guard status == 0 else {
                let detail = unsafe String(cString: gai_strerror(status))
                throw AdminServerError(wanted.description, .unresolvable(detail))
            }
            defer { unsafe freeaddrinfo(list) }
            var next = unsafe list
            while let candidate = unsafe next {
                switch unsafe Self.listening(candidate.pointee) {
                case .success(let descriptor):
                    self.descriptor = descriptor
                    address = Self.address(of: descriptor, host: wanted.host)
                    return
                // The host has another address, perhaps of the other family: try that. Any other
                // failure is told: to slip to another address would hide a port in use.
                case .failure(.system(EADDRNOTAVAIL)), .failure(.system(EAFNOSUPPORT)):
                    problem = .notOurs
                case .failure(.system(let code)):
                    throw AdminServerError(wanted.description, Self.problem(code))
                }
                unsafe next = candidate.pointee.ai_next
            }
        }
        throw AdminServerError(wanted.description, problem)
    }

    private enum Failure: Error {
        case system(Int32)
    }

    private static func listening(_ candidate: addrinfo) -> Result<Int32, Failure> {
        let kind = unsafe candidate.ai_socktype | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = unsafe socket(candidate.ai_family, kind, candidate.ai_protocol)
        guard descriptor >= 0 else { return .failure(.system(errno)) }
        // Not kept from its port by connections of the process before.
        var on: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, size)
        let bound = unsafe bind(descriptor, candidate.ai_addr, candidate.ai_addrlen) == 0
        guard bound, listen(descriptor, 1_024) == 0 else {
            let code = errno
            close(descriptor)
            return .failure(.system(code))
        }
        return .success(descriptor)
    }

    private static func problem(_ code: Int32) -> AdminServerError.Problem {
        switch code {
        case EADDRINUSE: .portInUse
        case EACCES, EPERM: .notPermitted
        default: .failed(errorText(code))
        }
    }

    /// The host as it was wanted, with the port that the socket has.
    private static func address(of descriptor: Int32, host: String) -> ListenAddress {
        var storage = sockaddr_in6()
        var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
        unsafe withUnsafeMutableBytes(of: &storage) { bytes in
            let address = unsafe bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
            _ = unsafe getsockname(descriptor, address, &size)
        }
        // The port stands at the same place in the addresses of both families.
        return ListenAddress(host: host, port: UInt16(bigEndian: storage.sin6_port))
    }
}

/// The system's words for an error number.
func errorText(_ code: Int32) -> String {
    unsafe String(cString: strerror(code))
}
