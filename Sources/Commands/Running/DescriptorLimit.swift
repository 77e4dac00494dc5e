internal import Glibc

/// How many file descriptors the process may have.
enum DescriptorLimit {
    /// Raises it as far as the system allows, and tells how far that is.
    static func raise() -> Int {
        var limit = rlimit()
        let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard unsafe getrlimit(kind, &limit) == 0 else { return 0 }
        limit.rlim_cur = limit.rlim_max
        guard unsafe setrlimit(kind, &limit) == 0 || getrlimit(kind, &limit) == 0 else { return 0 }
        return Int(clamping: limit.rlim_cur)
    }
}
