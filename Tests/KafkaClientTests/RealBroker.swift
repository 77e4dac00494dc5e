import Foundation
import KafkaClient
import StreamPorts
import Synchronization
import Testing

/// A real broker on ports of 127.0.0.1, by the scripts of the folder that `GIFTCOMBO_KAFKA` names,
/// or `../shared/kafka` beside the package.
final class RealBroker: KafkaFixture {
    /// The one that the suite under way has started.
    static let current = Mutex<RealBroker?>(nil)

    private let folder: String
    private let directory: String
    private let bootstrap: String

    static let scripts: String? = {
        let package = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let folder =
            ProcessInfo.processInfo.environment["GIFTCOMBO_KAFKA"]
            ?? package.deletingLastPathComponent().appending(path: "shared/kafka").path
        return FileManager.default.isExecutableFile(atPath: "\(folder)/start") ? folder : nil
    }()

    init() throws {
        folder = try #require(Self.scripts)
        directory =
            FileManager.default.temporaryDirectory
            .appending(path: Names.unique("giftcombo-kafka")).path
        bootstrap = try Self.run("\(folder)/start", [directory])
    }

    func stop() throws {
        try Self.run("\(folder)/stop", [directory])
        try FileManager.default.removeItem(atPath: directory)
    }

    var settings: KafkaSettings {
        get throws {
            try KafkaSettings([
                "bootstrap.servers": bootstrap,
                "heartbeat.interval.ms": "500",
            ])
        }
    }

    func makeAdmin() throws -> KafkaAdmin {
        try KafkaAdmin(settings, clientID: "admin", events: SilentClientEvents())
    }

    func makeTopic(partitions: Int) throws -> String {
        let topic = Names.unique()
        let admin = try makeAdmin()
        try persisting {
            try admin.create(
                NewTopic(name: topic, partitions: partitions),
                timeoutMilliseconds: 10_000
            )
        }
        admin.close(timeoutMilliseconds: 5000)
        return topic
    }

    func interrupt() throws {
        try Self.run("\(folder)/stop", [directory])
    }

    func restore() throws {
        try Self.run("\(folder)/start", [directory])
    }

    /// Runs a script to its end; returns the last line that it printed.
    ///
    /// Not by Foundation's Process, which takes a script for running as long as the broker does
    /// that the script has left behind.
    @discardableResult
    private static func run(_ path: String, _ arguments: [String]) throws -> String {
        let output = FileManager.default.temporaryDirectory.appending(path: Names.unique("out"))
        defer { try? FileManager.default.removeItem(at: output) }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        let flags = O_WRONLY | O_CREAT | O_TRUNC
        unsafe posix_spawn_file_actions_addopen(&actions, 1, output.path, flags, 0o600)
        unsafe posix_spawn_file_actions_adddup2(&actions, 1, 2)
        let strings = unsafe ([path] + arguments).map { unsafe strdup($0) }
        defer { unsafe strings.forEach { unsafe free($0) } }
        var child = pid_t()
        guard unsafe posix_spawn(&child, path, &actions, nil, strings + [nil], environ) == 0 else {
            throw ScriptFailure(script: path, output: "it can't be run")
        }
        var status: Int32 = 0
        while unsafe waitpid(child, &status, 0) == -1, errno == EINTR {}
        let text = try String(contentsOf: output, encoding: .utf8)
        guard status == 0 else { throw ScriptFailure(script: path, output: text) }
        return text.split(separator: "\n").last.map(String.init) ?? ""
    }
}

struct ScriptFailure: Error {
    let script: String
    let output: String
}

/// Starts a broker before a suite's first test, and stops it after the last.
struct RealBrokerTrait: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let broker = try RealBroker()
        RealBroker.current.withLock { $0 = broker }
        do {
            try await function()
        } catch {
            try broker.stop()
            throw error
        }
        try broker.stop()
    }
}

extension Trait where Self == RealBrokerTrait {
    static var realBroker: Self { Self() }
}
