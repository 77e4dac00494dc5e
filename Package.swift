// swift-tools-version: 6.2
// The layers of giftcombo; an arrow in `dependencies` is the only import that is allowed.
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
]

func library(
    _ name: String,
    _ dependencies: [Target.Dependency] = [],
    embedding resources: [String] = []
) -> Target {
    .target(
        name: name,
        dependencies: dependencies,
        resources: resources.map { .embedInCode($0) },
        swiftSettings: settings
    )
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: settings)
}

let package = Package(
    name: "giftcombo",
    products: [.executable(name: "giftcombo", targets: ["giftcombo"])],
    targets: [
        // Values and synchronous functions: no clock, no random, no I/O, no Foundation.
        library("ComboCore"),
        library("ComboWire", ["ComboCore"]),

        // The world.
        library("StreamPorts"),
        .systemLibrary(
            name: "CRdKafka",
            pkgConfig: "rdkafka",
            providers: [.apt(["librdkafka-dev"])]
        ),
        .systemLibrary(
            name: "CMicroHTTPD",
            pkgConfig: "libmicrohttpd",
            providers: [.apt(["libmicrohttpd-dev"])]
        ),
        .systemLibrary(
            name: "CGnuTLS",
            pkgConfig: "gnutls",
            providers: [.apt(["libgnutls28-dev"])]
        ),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        library("KafkaClient", ["StreamPorts", "CRdKafka"]),
        library("Telemetry"),
        library("AdminServer", ["Telemetry", "CMicroHTTPD"]),
        library("WorkerRuntime", ["ComboCore", "ComboWire", "StreamPorts", "Telemetry"]),
        library(
            "OverlayGateway",
            ["ComboWire", "StreamPorts", "Telemetry", "AdminServer", "CGnuTLS"],
            embedding: [
                "Page/overlay.html", "Page/overlay.css", "Page/settings.js", "Page/words.js",
                "Page/commands.js", "Page/lanes.js", "Page/sequence.js", "Page/rows.js",
                "Page/events.js", "Page/overlay.js",
                "Page/index.html", "Page/index.css",
            ]
        ),
        library(
            "Simulator",
            ["ComboCore", "ComboWire", "StreamPorts", "Telemetry", "WorkerRuntime"]
        ),
        library(
            "Commands",
            [
                "ComboCore", "ComboWire", "StreamPorts", "KafkaClient", "Telemetry", "AdminServer",
                "WorkerRuntime", "OverlayGateway", "Simulator", "CZlib",
            ]
        ),
        .executableTarget(name: "giftcombo", dependencies: ["Commands"], swiftSettings: settings),

        // Tests mirror the targets.
        tests("ComboCoreTests", ["ComboCore", "Simulator"]),
        tests("ComboWireTests", ["ComboCore", "ComboWire"]),
        tests(
            "KafkaClientTests",
            ["StreamPorts", "KafkaClient", "CRdKafka", "Simulator"]
        ),
        tests("TelemetryTests", ["Telemetry"]),
        tests("AdminServerTests", ["AdminServer", "Telemetry"]),
        tests(
            "WorkerRuntimeTests",
            ["ComboCore", "ComboWire", "Simulator", "StreamPorts", "Telemetry", "WorkerRuntime"]
        ),
        tests(
            "OverlayGatewayTests",
            ["AdminServer", "ComboWire", "OverlayGateway", "StreamPorts", "Telemetry"]
        ),
        tests(
            "CommandsTests",
            ["AdminServer", "ComboCore", "ComboWire", "Commands", "Telemetry", "WorkerRuntime"]
        ),
        tests("SimulatorTests", ["ComboCore", "StreamPorts", "Simulator"]),
        tests("TidyTests", ["Commands", "Telemetry"]),
    ],
    swiftLanguageModes: [.v6]
)
