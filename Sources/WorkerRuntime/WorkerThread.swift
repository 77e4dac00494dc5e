internal import Glibc

/// Starts a thread of the worker pool; it is never joined, the pool waits for what it posts.
///
/// Workers block in calls of the client library, so they have threads of their own, never those of
/// the cooperative pool.
package func startThread(_ body: @escaping @Sendable () -> Void) {
    let box = unsafe Unmanaged.passRetained(ThreadBody(run: body))
    var thread = pthread_t()
    let status = unsafe pthread_create(
        &thread,
        nil,
        { argument in
            guard let argument = unsafe argument else { return nil }
            let body = unsafe Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue()
            body.run()
            return nil
        },
        box.toOpaque()
    )
    precondition(status == 0, "no thread can be started")
    pthread_detach(thread)
}

private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void

    init(run: @escaping @Sendable () -> Void) {
        self.run = run
    }
}
