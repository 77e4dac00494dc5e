import Testing

@testable import Commands

/// Every kind of mistake, each with the line that it is told by.
struct ConfigurationMistakeTests {
    /// One mistake; `FOLDER` stands for the folder of the test's files.
    struct Mistake: Sendable, CustomTestStringConvertible {
        var what: String
        var file: String?
        var environment: [String: String] = [:]
        var options: [String] = []
        /// What is told; one line.
        var told: String

        var testDescription: String { what }
    }

    private static let brokers = "kafka.bootstrap.servers=a:1"

    private static let mistakes: [Mistake] = [
        Mistake(
            what: "a key that there is not",
            options: ["combo.hid.after=2s"],
            told: "combo.hid.after (--set): no such key; nearest: combo.hide.after"
        ),
        Mistake(
            what: "a key that there is not, in the environment",
            environment: ["GIFTCOMBO_COMBO_HIDE_AFTR": "2s"],
            told: "combo.hide.aftr (environment variable GIFTCOMBO_COMBO_HIDE_AFTR): no such key; "
                + "nearest: GIFTCOMBO_COMBO_HIDE_AFTER"
        ),
        Mistake(
            what: "a key that is like none",
            options: ["zzzzzzzzzz=1"],
            told: "zzzzzzzzzz (--set): no such key; `giftcombo help config` lists them"
        ),
        Mistake(
            what: "a wrong unit",
            options: ["combo.hide.after=2sec"],
            told: "combo.hide.after (--set) = \"2sec\": not allowed; "
                + "allowed: duration from 0 to 24h (units ms, s, m, h)"
        ),
        Mistake(
            what: "no unit",
            file: "combo.hide.after=2000\n",
            told: "combo.hide.after (FOLDER/worker.properties:1) = \"2000\": not allowed; "
                + "allowed: duration from 0 to 24h (units ms, s, m, h)"
        ),
        Mistake(
            what: "out of range",
            environment: ["GIFTCOMBO_WORKERS": "257"],
            told: "workers (environment variable GIFTCOMBO_WORKERS) = \"257\": not allowed; "
                + "allowed: integer from 1 to 256"
        ),
        Mistake(
            what: "no number",
            options: ["combo.lanes=two"],
            told: "combo.lanes (--set) = \"two\": not allowed; allowed: integer from 1 to 65535"
        ),
        Mistake(
            what: "an empty value",
            file: "# lanes\ncombo.lanes=\n",
            told: "combo.lanes (FOLDER/worker.properties:2) = \"\": not allowed; "
                + "allowed: integer from 1 to 65535"
        ),
        Mistake(
            what: "a line that is only a key",
            file: "combo.lanes\n",
            told: "combo.lanes (FOLDER/worker.properties:1) = \"\": not allowed; "
                + "allowed: integer from 1 to 65535"
        ),
        Mistake(
            what: "a word that is none of the choices",
            options: ["time.source=now"],
            told: "time.source (--set) = \"now\": not allowed; allowed: record or event or arrival"
        ),
        Mistake(
            what: "an address without a port",
            options: ["admin.listen=9464"],
            told: "admin.listen (--set) = \"9464\": not allowed; allowed: HOST:PORT with a port "
                + "from 0 to 65535, as 127.0.0.1:9464 or [::1]:0; or off"
        ),
        Mistake(
            what: "a topic that Kafka does not take",
            options: ["input.topic=gift events"],
            told: "input.topic (--set) = \"gift events\": not allowed; allowed: topic name "
                + "(a-z A-Z 0-9 . _ - and at most 249 of them)"
        ),
        Mistake(
            what: "a combo key without the user",
            options: ["combo.key=room,gift"],
            told: "combo.key (--set) = \"room,gift\": not allowed; allowed: comma-separated list "
                + "of room, user, recipient, gift that holds user"
        ),
        Mistake(
            what: "a key twice in the file",
            file: "combo.lanes=2\n\ncombo.lanes=3\n",
            told: "combo.lanes (FOLDER/worker.properties:3): given in line 1 already"
        ),
        Mistake(
            what: "a secret twice in the file, once by a file",
            file: "kafka.sasl.password=hunter2\nkafka.sasl.password.file=/nowhere\n",
            told: "kafka.sasl.password.file (FOLDER/worker.properties:2): given in line 1 already"
        ),
        Mistake(
            what: "a bad line in the file",
            file: "combo.lanes=2\nlog.level=\\u00e\n",
            told: "FOLDER/worker.properties:2: \\u needs four hexadecimal digits"
        ),
        Mistake(
            what: "an option without a value",
            options: ["combo.lanes"],
            told: "--set combo.lanes: not KEY=VALUE"
        ),
        Mistake(
            what: "a secret's file that is not there",
            options: ["kafka.sasl.password.file=FOLDER/none"],
            told: "kafka.sasl.password.file (--set) = \"FOLDER/none\": No such file or directory"
        ),
        Mistake(
            what: "a secret's file that is a folder",
            options: ["kafka.sasl.password.file=FOLDER"],
            told: "kafka.sasl.password.file (--set) = \"FOLDER\": Is a directory"
        ),
        Mistake(
            what: "a secret's file that is empty",
            options: ["kafka.sasl.password.file=FOLDER/newline"],
            told: "kafka.sasl.password.file (--set) = \"FOLDER/newline\": the file is empty"
        ),
        Mistake(
            what: "a password of two lines",
            options: ["kafka.ssl.key.password.file=FOLDER/two-lines"],
            told: "kafka.ssl.key.password.file (--set) = \"FOLDER/two-lines\": "
                + "the file has more than one line"
        ),
        Mistake(
            what: "a secret that is no text",
            options: ["kafka.sasl.password.file=FOLDER/bytes"],
            told: "kafka.sasl.password.file (--set) = \"FOLDER/bytes\": the file is no UTF-8 text"
        ),
        Mistake(
            what: "commits that may come only after they must",
            options: ["commit.min.interval=2s", "commit.interval=1s"],
            told: "commit.min.interval (2000ms) is longer than commit.interval (1000ms)"
        ),
        Mistake(
            what: "commits that the transaction's time-out would cut off",
            options: ["commit.interval=4s", "kafka.transaction.timeout.ms=5000"],
            told: "commit.interval (4000ms) is longer than half of kafka.transaction.timeout.ms "
                + "(5000): the broker would abort transactions that are still being filled"
        ),
        Mistake(
            what: "one topic for two purposes",
            options: ["output.topic=gift.events"],
            told: "output.topic and input.topic are the same topic, gift.events"
        ),
        Mistake(
            what: "a default that does not follow",
            options: ["group.id=my group"],
            told: "changelog.topic (default, <group.id>-combos) = \"my group-combos\": "
                + "not allowed; set it; allowed: topic name (a-z A-Z 0-9 . _ - and at most 249 of "
                + "them)"
        ),
        Mistake(
            what: "a setting without a name",
            options: ["kafka.=1"],
            told: "kafka. (--set): names no setting"
        ),
        Mistake(
            what: "a setting that would break exactly once",
            options: ["kafka.enable.auto.commit=true"],
            told: "kafka.enable.auto.commit offsets are committed by transactions only"
        ),
        Mistake(
            what: "a value that would break exactly once",
            options: ["kafka.acks=1"],
            told: "kafka.acks must be all or -1: a record that one broker has is not yet safe"
        ),
        Mistake(
            what: "a setting that a key of ours makes",
            environment: ["GIFTCOMBO_KAFKA_GROUP_ID": "g"],
            told: "kafka.group.id is set by the key group.id"
        ),
        Mistake(
            what: "a setting that librdkafka does not know",
            options: ["kafka.linger=5"],
            told: "kafka.linger No such configuration property: \"linger\""
        ),
        Mistake(
            what: "a value that librdkafka does not take",
            options: ["kafka.security.protocol=tls"],
            told: "kafka.security.protocol Invalid value \"tls\" for configuration property "
                + "\"security.protocol\""
        ),
        Mistake(
            what: "a transaction that outlives the member",
            options: ["kafka.session.timeout.ms=6000"],
            told: "kafka.transaction.timeout.ms must not be above session.timeout.ms (6000): a "
                + "member that the group has given up must not hold back its successor's reads "
                + "for longer than that"
        ),
    ]

    @Test(arguments: mistakes)
    func `a mistake ends the program with 2, and is told in one line`(mistake: Mistake) throws {
        let folder = try TemporaryFolder()
        for (name, content) in [
            ("newline", [0x0A]), ("two-lines", Array("a\nb\n".utf8)), ("bytes", [0xFF]),
        ] as [(String, [UInt8])] {
            _ = try folder.file(name, content)
        }
        var arguments = ["check", "--set", Self.brokers]
        if let file = mistake.file {
            arguments += ["-c", try folder.file("worker.properties", file)]
        }
        for option in mistake.options {
            arguments += ["--set", option.replacing("FOLDER", with: folder.path)]
        }
        let run = try ProgramRun(arguments, environment: mistake.environment)
        #expect(run.exitCode == .usage)
        #expect(run.output.isEmpty)
        let told = mistake.told.replacing("FOLDER", with: folder.path)
        #expect(run.errors == "giftcombo: \(told)\n")
        #expect(!run.errors.contains("hunter2"))
    }

    @Test func `all mistakes are told at once, those of settings of librdkafka too`() throws {
        let keys = try ProgramRun(
            ["check", "--set", "combo.lanes=0", "--set", "time.source=now", "--set", "x=1"]
        )
        #expect(keys.errors.split(separator: "\n").count >= 3)
        let settings = try ProgramRun([
            "check", "--set", Self.brokers, "--set", "kafka.acks=1",
            "--set", "kafka.nonsense=1", "--set", "kafka.group.id=g",
        ])
        #expect(settings.exitCode == .usage)
        #expect(settings.errors.split(separator: "\n").count == 3)
    }

    @Test func `a file that is not there, or can't be read, is told`() throws {
        let folder = try TemporaryFolder()
        for (path, reason) in [
            (folder.path("none"), "No such file or directory"), (folder.path, "Is a directory"),
        ] {
            let run = try ProgramRun(["check", "--set", Self.brokers, "-c", path])
            #expect(run.exitCode == .usage)
            #expect(run.errors == "giftcombo: \(path): \(reason)\n")
        }
        let bytes = try folder.file("bytes", [0x61, 0x3D, 0xFF] as [UInt8])
        let run = try ProgramRun(["check", "--set", Self.brokers, "-c", bytes])
        #expect(run.errors == "giftcombo: \(bytes):1: not UTF-8\n")
    }
}
