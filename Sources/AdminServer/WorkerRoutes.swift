package import Telemetry

/// The pages of a worker process: metrics, probes and what it owns.
package func workerRoutes(
    registry: MetricRegistry,
    health: any HealthSource
) -> [String: HTTPHandler] {
    [
        "/": { _ in .text(200, index) },
        "/metrics": metricsHandler(registry),
        "/livez": { _ in probeResponse(health.livez()) },
        "/readyz": { _ in probeResponse(health.readyz()) },
        "/partitions": { _ in
            HTTPResponse(
                status: 200,
                contentType: "application/json",
                body: Array((health.partitionsJSON() + "\n").utf8)
            )
        },
    ]
}

private let index = """
    giftcombo
    /metrics     Prometheus text, or OpenMetrics where it is asked for
    /livez       200 while the workers' loops move
    /readyz      200 when the group is joined and every assigned partition restored
    /partitions  what this process owns, as JSON

    """

/// Serves the metrics in the format that is asked for.
package func metricsHandler(_ registry: MetricRegistry) -> HTTPHandler {
    { request in
        let format = ExpositionFormat(accept: request.accept)
        return HTTPResponse(
            status: 200,
            contentType: format.contentType,
            body: registry.exposition(format)
        )
    }
}

/// The answer to a probe: 200 or 503, and a line that says why.
package func probeResponse(_ report: HealthReport) -> HTTPResponse {
    let reason = report.reason.isEmpty ? (report.ok ? "ok" : "not ok") : report.reason
    return .text(report.ok ? 200 : 503, reason + "\n")
}
