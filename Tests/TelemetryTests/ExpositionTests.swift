import Foundation
import Testing

@testable import Telemetry

struct ExpositionTests {
    private let families = [
        FamilySamples(
            family: MetricFamily(
                "giftcombo_cakes_total",
                .counter,
                labels: ["kind"],
                help: "Cakes \"made\",\nin C:\\kitchen."
            ),
            samples: [MetricSample("kind=\"plain\"", .count(.max))]
        ),
        FamilySamples(
            family: MetricFamily(
                "giftcombo_start_seconds",
                .gauge,
                unit: "seconds",
                scale: .milliseconds,
                help: "Start."
            ),
            samples: [MetricSample("", .value(-1_050))]
        ),
        FamilySamples(
            family: testHistogram,
            samples: [
                MetricSample(
                    "a=\"b\"",
                    .histogram(HistogramReading(buckets: [1, 0, 2], sumMicroseconds: 1_500_000))
                )
            ]
        ),
        FamilySamples(
            family: MetricFamily("giftcombo_build_info", .info, labels: ["v"], help: "Build."),
            samples: [MetricSample("v=\"1\"", .value(1))]
        ),
    ]

    @Test func `the classic text is as Prometheus describes it`() {
        let text = String(decoding: renderExposition(families, .classic), as: UTF8.self)
        #expect(
            text == #"""
                # HELP giftcombo_cakes_total Cakes "made",\nin C:\\kitchen.
                # TYPE giftcombo_cakes_total counter
                giftcombo_cakes_total{kind="plain"} 18446744073709551615
                # HELP giftcombo_start_seconds Start.
                # TYPE giftcombo_start_seconds gauge
                giftcombo_start_seconds -1.05
                # HELP giftcombo_test_seconds Test.
                # TYPE giftcombo_test_seconds histogram
                giftcombo_test_seconds_bucket{a="b",le="0.01"} 1
                giftcombo_test_seconds_bucket{a="b",le="0.1"} 1
                giftcombo_test_seconds_bucket{a="b",le="+Inf"} 3
                giftcombo_test_seconds_sum{a="b"} 1.5
                giftcombo_test_seconds_count{a="b"} 3
                # HELP giftcombo_build_info Build.
                # TYPE giftcombo_build_info gauge
                giftcombo_build_info{v="1"} 1

                """#
        )
    }

    @Test func `OpenMetrics names families without their suffix, gives units, and ends`() {
        let text = String(decoding: renderExposition(families, .openMetrics), as: UTF8.self)
        #expect(
            text == #"""
                # TYPE giftcombo_cakes counter
                # HELP giftcombo_cakes Cakes \"made\",\nin C:\\kitchen.
                giftcombo_cakes_total{kind="plain"} 18446744073709551615
                # TYPE giftcombo_start_seconds gauge
                # UNIT giftcombo_start_seconds seconds
                # HELP giftcombo_start_seconds Start.
                giftcombo_start_seconds -1.05
                # TYPE giftcombo_test_seconds histogram
                # UNIT giftcombo_test_seconds seconds
                # HELP giftcombo_test_seconds Test.
                giftcombo_test_seconds_bucket{a="b",le="0.01"} 1
                giftcombo_test_seconds_bucket{a="b",le="0.1"} 1
                giftcombo_test_seconds_bucket{a="b",le="+Inf"} 3
                giftcombo_test_seconds_sum{a="b"} 1.5
                giftcombo_test_seconds_count{a="b"} 3
                # TYPE giftcombo_build info
                # HELP giftcombo_build Build.
                giftcombo_build_info{v="1"} 1
                # EOF

                """#
        )
    }

    @Test func `a label's value is escaped`() {
        let family = MetricFamily("giftcombo_x", .gauge, labels: ["topic"], help: "X.")
        let child = MetricChild(family, ["a\"b\\c\nd,e={}贈🎁"]) { .value(1) }
        #expect(child.labelText == #"topic="a\"b\\c\nd,e={}贈🎁""#)
    }

    @Test(arguments: [
        (nil, ExpositionFormat.classic),
        ("", .classic),
        ("*/*", .classic),
        ("text/plain", .classic),
        ("application/openmetrics-text", .openMetrics),
        ("application/openmetrics-text; version=1.0.0; charset=utf-8", .openMetrics),
        ("application/openmetrics-text; version=0.0.1", .classic),
        ("Application/OpenMetrics-Text;Version=1.0.0;Q=0.5", .openMetrics),
        ("application/openmetrics-text;q=0", .classic),
        ("application/openmetrics-text;q=0.3,text/plain;q=0.9", .classic),
        ("application/openmetrics-text;q=nonsense", .classic),
        (
            "application/openmetrics-text;version=1.0.0,"
                + "application/openmetrics-text;version=0.0.1;q=0.75,"
                + "text/plain;version=0.0.4;q=0.5,*/*;q=0.1", .openMetrics
        ),
        (",;,=;q,", .classic),
    ])
    func `the Accept header chooses the form`(accept: String?, expected: ExpositionFormat) {
        #expect(ExpositionFormat(accept: accept) == expected)
    }

    @Test func `the catalogue and what a process publishes are the same families`() {
        let names = fullRegistry().samples().map(\.family.name)
        #expect(names == MetricCatalogue.all.map(\.name).sorted())
    }

    @Test func `names and labels of the catalogue keep the conventions`() {
        let allowed: Set = [
            "topic", "partition", "result", "reason", "kind", "version", "swift", "librdkafka",
        ]
        for family in MetricCatalogue.all {
            #expect(family.name.hasPrefix("giftcombo_"))
            #expect(allowed.isSuperset(of: family.labels), "\(family.name)")
            #expect(family.unit.map { family.stem.hasSuffix("_\($0)") } ?? true)
            #expect((family.scale == .units) || family.unit == "seconds")
            #expect(family.help.hasSuffix(".") && !family.help.contains("\n"))
            let bounds = family.bucketMicroseconds
            #expect(bounds == bounds.sorted() && Set(bounds).count == bounds.count)
        }
    }

    @Test(.enabled(if: promtool != nil, "promtool is not installed"))
    func `promtool finds nothing to say about the metrics of a process`() throws {
        let path = try #require(promtool)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = ["check", "metrics"]
        let input = Pipe()
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        process.standardError = output
        try process.run()
        input.fileHandleForWriting.write(Data(fullRegistry().exposition(.classic)))
        try input.fileHandleForWriting.close()
        let said = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(String(decoding: said, as: UTF8.self).isEmpty)
    }

    /// A registry with everything that a process registers.
    private func fullRegistry() -> MetricRegistry {
        let registry = MetricRegistry()
        registry.register(WorkerMetrics())
        let overlay = OverlayMetrics()
        registry.register(overlay)
        overlay.clients.set(2_000)
        overlay.rooms.set(50)
        overlay.combos.set(500)
        registry.register(ProcessMetrics())
        let clients = ClientMetrics()
        clients.report(ClientReading(), client: "giftcombo-host-0")
        registry.register(clients)
        registry.register(BuildMetrics(version: "1.0.0", swift: "6.3.1", librdkafka: "2.0.2"))
        for number in 0..<3 as Range<Int32> {
            let partition = PartitionMetrics(topic: "gift.events", partition: number)
            registry.register(partition)
            partition.liveCombos.set(20_000)
            partition.rememberedKeys.set(1)
            partition.lagRecords.set(0)
            partition.position.set(1_234_567)
            partition.clockMilliseconds.set(1_767_225_600_000)
            partition.clockBehindMilliseconds.set(250)
            partition.stateBytes.set(4_000_000)
            partition.restoreRemaining.set(0)
        }
        return registry
    }
}

private let promtool: String? = (ProcessInfo.processInfo.environment["PATH"] ?? "")
    .split(separator: ":").map { "\($0)/promtool" }
    .first { FileManager.default.isExecutableFile(atPath: $0) }
