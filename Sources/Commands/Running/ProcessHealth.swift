internal import AdminServer
internal import Synchronization
internal import Telemetry
internal import WorkerRuntime

/// The health of a process that may still be waiting for its brokers.
final class ProcessHealth: HealthSource {
    private let brokers: String
    private let pool = Mutex<WorkerPool?>(nil)
    private let trouble = Mutex<String?>(nil)

    init(waitingFor brokers: String) {
        self.brokers = brokers
    }

    /// From now on the pool answers.
    func watch(_ pool: WorkerPool) {
        self.pool.withLock { $0 = pool }
    }

    /// What a client has met, as long as no pool answers.
    func waits(for trouble: String) {
        self.trouble.withLock { $0 = trouble }
    }

    func livez() -> HealthReport {
        current?.livez() ?? HealthReport(ok: true, reason: "starting")
    }

    func readyz() -> HealthReport {
        if let current { return current.readyz() }
        let trouble = trouble.withLock { $0 }.map { ": \($0)" } ?? ""
        return HealthReport(ok: false, reason: "waiting for the brokers at \(brokers)\(trouble)")
    }

    func partitionsJSON() -> String {
        current?.partitionsJSON() ?? "{\"partitions\":[]}"
    }

    private var current: WorkerPool? { pool.withLock { $0 } }
}

/// Serves metrics and health where `admin.listen` says; nil: nowhere.
func startAdminServer(
    _ address: ListenAddress?,
    _ registry: MetricRegistry,
    _ health: any HealthSource,
    _ log: Logger
) throws(CommandFailure) -> AdminServer? {
    guard let address else { return nil }
    do {
        return try AdminServer(
            listen: address,
            routes: workerRoutes(registry: registry, health: health)
        )
    } catch {
        throw CommandFailure(.failure, "admin.listen: \(error)")
    }
}
