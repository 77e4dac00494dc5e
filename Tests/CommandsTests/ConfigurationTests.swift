import AdminServer
import ComboCore
import Testing

@testable import Commands

struct ConfigurationTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func load(
        file: String? = nil,
        environment: [String: String] = [:],
        document: [(key: String, value: String)]? = nil,
        options: [String] = [],
        groups: [ConfigurationKey.Group]? = nil,
        needsBrokers: Bool = false
    ) throws -> LoadedConfiguration {
        var sources = ConfigurationSources(machine: Machine(hostName: "host-1"))
        sources.file = try file.map { try folder.file("worker.properties", $0) }
        sources.environment = environment
        sources.document = document.map { ("burst.json", $0) }
        sources.options = options
        sources.optionGroups = groups
        sources.needsBrokers = needsBrokers
        return try LoadedConfiguration(sources)
    }

    private func problems(
        file: String? = nil,
        environment: [String: String] = [:],
        options: [String] = [],
        groups: [ConfigurationKey.Group]? = nil,
        needsBrokers: Bool = false
    ) throws -> [String] {
        do {
            _ = try load(
                file: file,
                environment: environment,
                options: options,
                groups: groups,
                needsBrokers: needsBrokers
            )
            return []
        } catch let error as ConfigurationError {
            return error.problems.map { $0.replacing("\(folder.path)/", with: "") }
        }
    }

    @Test func `without a source every default of the design holds`() throws {
        let configuration = try load().configuration
        #expect(configuration.combo == ComboConfiguration())
        #expect(configuration.idleGrace == 200)
        #expect(configuration.input.maxBytes == 1_000_000)
        #expect(configuration.input.checksKey)
        #expect(configuration.input.start == .earliest)
        #expect(configuration.input.prefetchBytes == 96_000_000)
        #expect(configuration.groupID == "giftcombo")
        #expect(configuration.instanceID == "host-1")
        #expect(configuration.topics.input == "gift.events")
        #expect(configuration.topics.output == "overlay.commands")
        #expect(configuration.topics.deadLetters == "gift.events.dlq")
        #expect(configuration.topics.changelog == "giftcombo-combos")
        #expect(configuration.workers == nil)
        #expect(configuration.commit.interval == 100)
        #expect(configuration.commit.minInterval == 20)
        #expect(configuration.commit.maxEvents == 100_000)
        #expect(configuration.admin == (try ListenAddress("127.0.0.1:9464")))
        #expect(configuration.log.format == .text)
        #expect(configuration.log.level == .info)
        #expect(configuration.kafka.isEmpty)
    }

    @Test func `later sources win: file, environment, document, option`() throws {
        let file = "combo.lanes=3\ncombo.dedup.ids=3\ncombo.max.remembered=3\ncombo.memory=3s\n"
        let loaded = try load(
            file: file,
            environment: [
                "GIFTCOMBO_COMBO_DEDUP_IDS": "4", "GIFTCOMBO_COMBO_MAX_REMEMBERED": "4",
                "GIFTCOMBO_COMBO_MEMORY": "4s",
            ],
            document: [("combo.max.remembered", "5"), ("combo.memory", "5s")],
            options: ["combo.memory=6s", "combo.memory=7s"]
        )
        #expect(loaded.configuration.combo.lanes == 3)
        #expect(loaded.configuration.combo.dedupIDs == 4)
        #expect(loaded.configuration.combo.maxRemembered == 5)
        #expect(loaded.configuration.combo.memory == 7_000)
        let sources = loaded.settings.filter { $0.key.hasPrefix("combo.") }
            .map { "\($0.key) \($0.source)".replacing("\(folder.path)/", with: "") }
        #expect(sources.contains("combo.lanes worker.properties:1"))
        #expect(sources.contains("combo.dedup.ids environment variable GIFTCOMBO_COMBO_DEDUP_IDS"))
        #expect(sources.contains("combo.max.remembered config in burst.json"))
        #expect(sources.contains("combo.memory --set"))
        #expect(sources.contains("combo.key default"))
    }

    @Test func `defaults that follow from other keys follow them`() throws {
        let configuration = try load(options: ["group.id=g1", "input.topic=in"]).configuration
        #expect(configuration.topics.deadLetters == "in.dlq")
        #expect(configuration.topics.changelog == "g1-combos")
    }

    @Test func `an environment variable names exactly one key`() {
        let names =
            ConfigurationTable.keys.map(\.name) + ["kafka.bootstrap.servers", "kafka.a_b.c"]
        for name in names {
            let variable = EnvironmentNames.variable(of: name)
            #expect(EnvironmentNames.key(of: variable) == name)
        }
        #expect(EnvironmentNames.variable(of: "combo.hide.after") == "GIFTCOMBO_COMBO_HIDE_AFTER")
    }

    @Test(
        arguments: [
            "PATH", "GIFTCOMBO_SERVICE_HOST", "GIFTCOMBO_SERVICE_PORT", "GIFTCOMBO_PORT",
            "GIFTCOMBO_SERVICE_PORT_HTTP", "GIFTCOMBO_PORT_9464_TCP", "GIFTCOMBO_KAFKA",
            "GIFTCOMBO_PORT_9464_TCP_ADDR", "GIFTCOMBO_PORT_9464_TCP_PROTO",
            "GIFTCOMBO_KAFKA_SERVICE_HOST", "GIFTCOMBO_OVERLAY_PORT",
        ]
    )
    func `variables of others are left alone, those of a cluster's services too`(
        variable: String
    ) throws {
        let values = [variable: "tcp://10.0.0.1:9464"]
        #expect(try load(environment: values).configuration == load().configuration)
    }

    @Test(
        arguments: [
            ("combo.hide.after=0", \Configuration.combo.hideAfter, 0),
            ("combo.hide.after=250ms", \.combo.hideAfter, 250),
            ("combo.hide.after=2s", \.combo.hideAfter, 2_000),
            ("combo.hide.after=5m", \.combo.hideAfter, 300_000),
            ("combo.hide.after=24h", \.combo.hideAfter, 86_400_000),
            ("combo.hide.after =  2s ", \.combo.hideAfter, 2_000),
            ("input.max.bytes=1000000", \.input.maxBytes, 1_000_000),
            ("input.max.bytes=1MB", \.input.maxBytes, 1_000_000),
            ("input.max.bytes=64KiB", \.input.maxBytes, 65_536),
            ("input.prefetch.bytes=1GB", \.input.prefetchBytes, 1_000_000_000),
            ("input.prefetch.bytes=96MiB", \.input.prefetchBytes, 100_663_296),
            ("commit.max.events=1", \.commit.maxEvents, 1),
        ] as [(String, any KeyPath<Configuration, Int64> & Sendable, Int64)]
    )
    func `numbers are read with their units`(
        option: String,
        path: any KeyPath<Configuration, Int64> & Sendable,
        number: Int64
    ) throws {
        #expect(try load(options: [option]).configuration[keyPath: path] == number)
    }

    @Test func `words, lists and addresses are read`() throws {
        let configuration = try load(options: [
            "combo.key=user, gift", "combo.increment=one", "time.source=event",
            "time.idle.grace=off", "input.key.check=off", "input.start=latest", "workers=4",
            "admin.listen=[::1]:0", "log.format=json", "log.level=debug",
        ])
        .configuration
        #expect(configuration.combo.key == [.user, .gift])
        #expect(configuration.combo.increment == .one)
        #expect(configuration.combo.timeSource == .event)
        #expect(configuration.idleGrace == nil)
        #expect(!configuration.input.checksKey)
        #expect(configuration.input.start == .latest)
        #expect(configuration.workers == 4)
        #expect(configuration.admin == (try ListenAddress("[::1]:0")))
        #expect(configuration.log.format == .json)
        #expect(configuration.log.level == .debug)
        #expect(try load(options: ["admin.listen=off"]).configuration.admin == nil)
    }

    @Test(
        arguments: [
            "combo.hide.after=2", "combo.hide.after=2 s", "combo.hide.after=-1s",
            "combo.hide.after=1.5s", "combo.hide.after=25h", "combo.hide.after=",
            "combo.hide.after=s",
            "combo.hide.after=99999999999999999999h", "combo.hide.after=9223372036854775807h",
            "combo.hide.after=2S", "combo.retain.for=٣s", "combo.lanes=0", "combo.lanes=65536",
            "combo.lanes=two", "combo.lanes=1.0", "combo.dedup.ids=1025", "combo.dedup.ids=-1",
            "combo.key=room", "combo.key=", "combo.key=user,,gift", "combo.key=user;gift",
            "combo.key=User", "combo.increment=two", "combo.max.remembered=10000001",
            "time.source=now", "time.idle.grace=0", "time.idle.grace=on", "input.max.bytes=0",
            "input.max.bytes=2GB", "input.prefetch.bytes=96mb", "input.key.check=on",
            "input.start=0", "workers=0", "workers=257", "commit.interval=0",
            "commit.max.events=0", "group.id=", "group.id=a\u{1}", "input.topic=gift events",
            "input.topic=..", "admin.listen=9464", "admin.listen=:9464", "admin.listen=::1:9464",
            "admin.listen=host:65536", "admin.listen=host:", "admin.listen=[]:1",
            "log.format=xml", "log.level=fatal",
        ]
    )
    func `a value that is not allowed is told with what is`(option: String) throws {
        let problems = try problems(options: [option])
        let (name, value) = (option.prefix { $0 != "=" }, option.drop { $0 != "=" }.dropFirst())
        let key = try #require(ConfigurationTable.key(named: String(name)))
        #expect(
            problems == [
                "\(name) (--set) = \"\(value)\": not allowed; allowed: \(key.allowed)"
            ]
        )
    }

    @Test func `every mistake is told at once, by key, source and value`() throws {
        let problems = try problems(
            file: "combo.lanes=0\n\ncombo.hid.after=2s\nx=\\u1\n",
            environment: [
                "GIFTCOMBO_COMBO_LANE": "3", "GIFTCOMBO_COMBO_RETAIN_FOR": "long",
                "GIFTCOMBO_KAFKA_SASL_PASSWORD_FILE": "/nowhere/password",
            ],
            options: ["time.source=never", "time.max.ahead", "kafka.=1", "qqqqqqqq=1"]
        )
        #expect(
            problems == [
                "worker.properties:4: \\u needs four hexadecimal digits",
                "combo.lanes (worker.properties:1) = \"0\": not allowed; "
                    + "allowed: integer from 1 to 65535",
                "combo.hid.after (worker.properties:3): no such key; nearest: combo.hide.after",
                "combo.lane (environment variable GIFTCOMBO_COMBO_LANE): no such key; "
                    + "nearest: GIFTCOMBO_COMBO_LANES",
                "combo.retain.for (environment variable GIFTCOMBO_COMBO_RETAIN_FOR) = \"long\": "
                    + "not allowed; allowed: duration from 0 to 24h (units ms, s, m, h)",
                "kafka.sasl.password.file "
                    + "(environment variable GIFTCOMBO_KAFKA_SASL_PASSWORD_FILE) "
                    + "= \"/nowhere/password\": No such file or directory",
                "time.source (--set) = \"never\": not allowed; allowed: record or event or arrival",
                "--set time.max.ahead: not KEY=VALUE",
                "kafka. (--set): names no setting",
                "qqqqqqqq (--set): no such key; `giftcombo help config` lists them",
            ]
        )
    }

    @Test(
        arguments: [
            (["commit.min.interval=200ms"], "commit.min.interval (200ms) is longer"),
            (["commit.interval=6s"], "commit.interval (6000ms) is longer than half"),
            (
                ["commit.interval=600ms", "kafka.transaction.timeout.ms=1000"],
                "commit.interval (600ms) is longer than half"
            ),
            (["output.topic=gift.events"], "output.topic and input.topic are the same topic"),
            (["changelog.topic=gift.events.dlq"], "changelog.topic and dlq.topic are the same"),
            (["group.id=my group"], "changelog.topic (default, <group.id>-combos)"),
        ]
    )
    func `values that contradict each other are refused`(options: [String], start: String) throws {
        let problems = try problems(options: options)
        #expect(problems.count == 1)
        #expect(problems.first?.hasPrefix(start) == true, "\(problems)")
    }

    @Test func `brokers are required where they are needed`() throws {
        #expect(try problems(needsBrokers: false).isEmpty)
        #expect(try problems(needsBrokers: true).count == 1)
        #expect(try problems(options: ["kafka.bootstrap.servers="], needsBrokers: true).count == 1)
        let options = ["kafka.bootstrap.servers=a:9092"]
        #expect(try problems(options: options, needsBrokers: true).isEmpty)
    }

    @Test func `an option of a group that has no effect is refused`() throws {
        #expect(
            try problems(options: ["workers=2", "combo.lanes=3"], groups: [.combo, .time, .input])
                == ["workers (--set): has no effect here; allowed: combo.…, time.…, input.…"]
        )
    }

    @Test func `a missing file is told`() throws {
        var sources = ConfigurationSources(machine: Machine(hostName: "host-1"))
        sources.file = folder.path("none")
        #expect(
            throws: ConfigurationError(problems: [
                "\(folder.path("none")): No such file or directory"
            ])
        ) {
            try LoadedConfiguration(sources)
        }
    }

    @Test func `settings of the client library pass through`() throws {
        let loaded = try load(
            file: "kafka.linger.ms=5\nkafka.Odd_Name=1\n",
            environment: ["GIFTCOMBO_KAFKA_BOOTSTRAP_SERVERS": "a:1,b:2"]
        )
        #expect(
            loaded.configuration.kafka == [
                "linger.ms": "5", "Odd_Name": "1", "bootstrap.servers": "a:1,b:2",
            ]
        )
    }

    @Test func `a secret is read from a file, without its last line end`() throws {
        let path = try folder.file("password", "hunter2\n")
        let loaded = try load(options: ["kafka.sasl.password.file=\(path)"])
        #expect(loaded.configuration.kafka == ["sasl.password": "hunter2"])
        let twoLines = try folder.file("pem", "a\nb\r\n")
        let pem = try load(options: ["kafka.ssl.key.pem.file=\(twoLines)"])
        #expect(pem.configuration.kafka == ["ssl.key.pem": "a\nb"])
        let bytes = try folder.file("bytes", [0xFF] as [UInt8])
        #expect(
            try problems(options: ["kafka.sasl.password.file=\(bytes)"])
                == ["kafka.sasl.password.file (--set) = \"bytes\": the file is no UTF-8 text"]
        )
    }

    @Test(
        arguments: [
            "kafka.sasl.password", "kafka.ssl.key.password", "kafka.ssl.keystore.password",
            "kafka.ssl.key.pem", "kafka.sasl.oauthbearer.client.secret",
            "kafka.sasl.oauthbearer.config", "kafka.sasl.jaas.config",
        ]
    )
    func `a secret is shown to no one`(name: String) throws {
        let text = ConfigurationText.properties(of: try load(options: ["\(name)=hunter2"]))
        #expect(text.contains("# --set\n\(name)=****\n"))
        #expect(!text.contains("hunter2"))
        #expect(try !problems(options: ["\(name) hunter2"]).joined().contains("hunter2"))
    }

    @Test func `the printed configuration is read back as the same one`() throws {
        let first = try load(
            environment: ["GIFTCOMBO_GROUP_ID": "g=1: #x\\"],
            options: [
                "combo.key=user", "time.idle.grace=off", "changelog.topic=c", "kafka.a.b= x\\y ",
            ]
        )
        let printed = ConfigurationText.properties(of: first)
        let second = try load(file: printed)
        #expect(second.configuration == first.configuration)
        #expect(printed.contains("# workers: cores, at most the partitions\n"))
    }
}
