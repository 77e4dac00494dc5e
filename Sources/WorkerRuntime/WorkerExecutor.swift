internal import Glibc
internal import Synchronization

/// The executor of a worker's partition actors: it runs what the worker's thread runs.
///
/// A worker enters it for each turn of its loop. Inside, `assumeIsolated` on the worker's partition
/// processors holds, and calling them is a plain call. Jobs that others enqueue (nobody does in
/// normal operation) wait for the next turn.
///
/// It is driven by hand: whoever turns the worker is the thread. That is a thread of the pool in
/// the product, and the simulator's only thread in a simulation.
package final class WorkerExecutor: SerialExecutor {
    /// The thread that is inside; 0: none.
    private let owner = Atomic<UInt>(0)
    private let jobs = Mutex<[UnownedJob]>([])

    /// Creates an executor that no thread is in.
    package init() {}

    /// Keeps a job until the thread that is inside has time for it.
    package func enqueue(_ job: consuming ExecutorJob) {
        let unowned = UnownedJob(job)
        jobs.withLock { $0.append(unowned) }
    }

    /// The reference that actors keep.
    package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        unsafe UnownedSerialExecutor(ordinary: self)
    }

    /// Traps where the calling thread is not the worker's.
    package func checkIsolated() {
        precondition(isCurrent, "a partition is touched by a thread that is not its worker's")
    }

    /// Whether the calling thread is the worker's.
    package func isIsolatingCurrentContext() -> Bool? { isCurrent }

    /// Whether the calling thread is the one inside.
    var isCurrent: Bool { owner.load(ordering: .relaxed) == UInt(pthread_self()) }

    /// Makes the calling thread the one inside while `body` runs, after the jobs that waited.
    package func run<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let (entered, _) = owner.compareExchange(
            expected: 0,
            desired: UInt(pthread_self()),
            ordering: .acquiring
        )
        precondition(entered, "two threads turn one worker")
        defer { owner.store(0, ordering: .releasing) }
        let waiting = jobs.withLock { jobs in
            defer { jobs.removeAll() }
            return jobs
        }
        for job in waiting { unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
        return try body()
    }
}

/// A reference that only a worker's thread uses, on its way into the worker's partition actors.
///
/// The compiler can't know that a worker and its actors share one thread, and refuses to hand a
/// non-Sendable object from one to the other. `@unchecked` holds because the object is reached
/// through ``value`` only, which checks that the calling thread is the one inside the executor, and
/// because at most one thread is inside at a time, with acquire and release between one and the
/// next.
struct Confined<Value: AnyObject>: @unchecked Sendable {
    private let executor: WorkerExecutor
    private let object: Value

    init(_ object: Value, to executor: WorkerExecutor) {
        self.object = object
        self.executor = executor
    }

    /// The object; the process stops if another thread asks.
    var value: Value {
        executor.checkIsolated()
        return object
    }
}
