internal import Glibc

/// Starts a thread of the worker pool; it is never joined, the pool waits for what it posts.
///
/// Workers block in calls of the client library, so they have threads of their own, never those of the
/// cooperative pool.
func startThread(named name: String, _ body: @escaping @Sendable () -> Void) {
    let box = Unmanaged.passRetained(ThreadBody(name: name, run: body))
    var thread = pthread_t()
    let status = unsafe pthread_create(
        &thread, nil,
        { argument in
            guard let argument = unsafe argument else { return nil }
            let body = unsafe Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue()
            unsafe pthread_setname_np(pthread_self(), body.name)
            body.run()
            return nil
        }, box.toOpaque())
    precondition(status == 0, "no thread can be started")
    unsafe pthread_detach(thread)
}

private final class ThreadBody: Sendable {
    let name: String
    let run: @Sendable () -> Void

    init(name: String, run: @escaping @Sendable () -> Void) {
        self.name = name
        self.run = run
    }
}
