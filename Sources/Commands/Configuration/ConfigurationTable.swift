internal import ComboCore
internal import KafkaClient

/// The one table of configuration keys: parsing, help, errors and the README's table come from it.
package enum ConfigurationTable {
    /// Every key but those that start with `kafka.`, in the order of help.
    package static let keys: [ConfigurationKey] =
        memberKeys + topicKeys + commitKeys + comboKeys + timeKeys + inputKeys + overlayKeys
        + adminKeys

    /// What every setting of the client library starts with.
    package static let kafkaPrefix = "kafka."
    /// The one setting of the client library that has to be given.
    package static let bootstrapServers = "kafka.bootstrap.servers"
    /// What ends the name of a secret that is read from a file.
    package static let fileSuffix = ".file"

    /// The key of that name.
    package static func key(named name: String) -> ConfigurationKey? {
        keys.first { $0.name == name }
    }

    /// Whether the value of a key is shown to no one.
    package static func isSecret(_ name: String) -> Bool {
        guard name.hasPrefix(kafkaPrefix) else { return key(named: name)?.isSecret ?? false }
        return KafkaSettings.isSecret(String(name.dropFirst(kafkaPrefix.count)))
    }

    /// The secret that `name` reads from a file: `X` for `X.file`; nil: it is no such name.
    package static func secretReadFromFile(by name: String) -> String? {
        // The client library's own setting of this name means something else.
        let ownSetting = "\(kafkaPrefix)sasl.oauthbearer.assertion.private.key\(fileSuffix)"
        guard name.hasSuffix(fileSuffix), name != ownSetting else { return nil }
        let secret = String(name.dropLast(fileSuffix.count))
        return isSecret(secret) ? secret : nil
    }

    /// A day, the longest of all windows: what a combo may still be remembered after.
    private static let day: Int64 = 24 * 3_600_000

    private static let memberKeys: [ConfigurationKey] = [
        ConfigurationKey(
            "group.id",
            .member,
            .identifier,
            default: .text("giftcombo"),
            "consumer group; processes of one group share the input's partitions"
        ) { $0.groupID = $1 },
        ConfigurationKey(
            "instance.id",
            .member,
            .identifier,
            default: .derived(meaning: "host name") { _, machine in machine.hostName },
            "this process in its group, stable over restarts (a pod's name); "
                + "transactional.id is <group.id>-<instance.id>-<worker>"
        ) { $0.instanceID = $1 },
        ConfigurationKey(
            "group.membership",
            .member,
            .choice([("dynamic", false), ("static", true)]),
            default: .text("dynamic"),
            "static: a process that is back within kafka.session.timeout.ms finds its partitions "
                + "as it left them, but one that leaves for good gives them up only then"
        ) { $0.isStaticMember = $1 },
        ConfigurationKey(
            "workers",
            .member,
            .integer(1...256),
            default: .derived(meaning: "cores, at most the partitions") { _, _ in nil },
            "threads of the pool, each with its own consumer and producer"
        ) { $0.workers = Int($1) },
    ]

    private static let topicKeys: [ConfigurationKey] = [
        ConfigurationKey(
            "input.topic",
            .topics,
            .topic,
            default: .text("gift.events"),
            "gift events, keyed by user_id"
        ) { $0.topics.input = $1 },
        ConfigurationKey(
            "output.topic",
            .topics,
            .topic,
            default: .text("overlay.commands"),
            "overlay commands, keyed by room_id"
        ) { $0.topics.output = $1 },
        ConfigurationKey(
            "dlq.topic",
            .topics,
            .topic,
            default: .derived(meaning: "<input.topic>.dlq") { configuration, _ in
                "\(configuration.topics.input).dlq"
            },
            "records that could not be read"
        ) { $0.topics.deadLetters = $1 },
        ConfigurationKey(
            "changelog.topic",
            .topics,
            .topic,
            default: .derived(meaning: "<group.id>-combos") { configuration, _ in
                "\(configuration.groupID)-combos"
            },
            "state of the combos, compacted, as many partitions as the input"
        ) { $0.topics.changelog = $1 },
    ]

    private static let commitKeys: [ConfigurationKey] = [
        ConfigurationKey(
            "commit.interval",
            .commit,
            .duration(1...60_000),
            default: .text("100ms"),
            "a busy worker commits after this time; at most half of kafka.transaction.timeout.ms"
        ) { $0.commit.interval = $1 },
        ConfigurationKey(
            "commit.min.interval",
            .commit,
            .duration(1...60_000),
            default: .text("20ms"),
            "a worker that has caught up commits after this time; at most commit.interval"
        ) { $0.commit.minInterval = $1 },
        ConfigurationKey(
            "commit.max.events",
            .commit,
            .integer(1...10_000_000),
            default: .text("100000"),
            "a worker commits after this many events at the latest"
        ) { $0.commit.maxEvents = $1 },
    ]

    private static let comboKeys: [ConfigurationKey] = [
        ConfigurationKey(
            "combo.key",
            .combo,
            .comboKey,
            default: .text("room,user,recipient,gift"),
            "fields that two gifts must share to be of one combo"
        ) { $0.combo.key = $1 },
        ConfigurationKey(
            "combo.increment",
            .combo,
            .choice([("count", ComboConfiguration.Increment.count), ("one", .one)]),
            default: .text("count"),
            "what a gift message adds: its count or running total, or always 1"
        ) { $0.combo.increment = $1 },
        ConfigurationKey(
            "combo.hide.after",
            .combo,
            .duration(0...day),
            default: .text("2s"),
            "a combo hides when this time has passed after its last gift"
        ) { $0.combo.hideAfter = $1 },
        ConfigurationKey(
            "combo.retain.for",
            .combo,
            .duration(0...day),
            default: .text("3s"),
            "a hidden combo keeps its count for this time, then ends"
        ) { $0.combo.retainFor = $1 },
        ConfigurationKey(
            "combo.lanes",
            .combo,
            .integer(1...65_535),
            default: .text("2"),
            "display rows among which users are spread"
        ) { $0.combo.lanes = UInt16($1) },
        ConfigurationKey(
            "combo.update.min.interval",
            .combo,
            .duration(0...day),
            default: .text("0"),
            "shortest time between two updates of a combo; 0 shows every gift"
        ) { $0.combo.updateMinInterval = $1 },
        ConfigurationKey(
            "combo.dedup.ids",
            .combo,
            .integer(0...1_024),
            default: .text("32"),
            "event ids that a combo key remembers, so that a duplicate counts once"
        ) { $0.combo.dedupIDs = Int($1) },
        ConfigurationKey(
            "combo.memory",
            .combo,
            .duration(0...day),
            default: .text("60s"),
            "event ids and running totals are remembered for this time after the combo's end"
        ) { $0.combo.memory = $1 },
        ConfigurationKey(
            "combo.max.remembered",
            .combo,
            .integer(0...10_000_000),
            default: .text("200000"),
            "ended combo keys that a partition remembers at most"
        ) { $0.combo.maxRemembered = Int($1) },
    ]

    private static let timeKeys: [ConfigurationKey] = [
        ConfigurationKey(
            "time.source",
            .time,
            .choice([
                ("record", ComboConfiguration.TimeSource.record), ("event", .event),
                ("arrival", .arrival),
            ]),
            default: .text("record"),
            "a gift's time: Kafka's timestamp, its sent_at, or when the worker got it"
        ) { $0.combo.timeSource = $1 },
        ConfigurationKey(
            "time.max.ahead",
            .time,
            .duration(0...day),
            default: .text("5s"),
            "a time further ahead of the arrival than this is taken as the arrival"
        ) { $0.combo.maxAhead = $1 },
        ConfigurationKey(
            "time.idle.grace",
            .time,
            ValueType.duration(10...3_600_000).orOff(),
            default: .text("200ms"),
            "the clock of an idle partition follows the wall clock this far behind; "
                + "off: it follows records only"
        ) { $0.idleGrace = $1 },
    ]

    private static let inputKeys: [ConfigurationKey] = [
        ConfigurationKey(
            "input.max.bytes",
            .input,
            .size(1...1_000_000_000),
            default: .text("1000000"),
            "a larger record value goes to the dead letters"
        ) { $0.input.maxBytes = $1 },
        ConfigurationKey(
            "input.key.check",
            .input,
            .choice([("user_id", true), ("off", false)]),
            default: .text("user_id"),
            "what the record key must be, else the record goes to the dead letters"
        ) { $0.input.checksKey = $1 },
        ConfigurationKey(
            "input.start",
            .input,
            .choice([("earliest", Configuration.InputSettings.Start.earliest), ("latest", .latest)]
            ),
            default: .text("earliest"),
            "where a partition starts that has no committed offset"
        ) { $0.input.start = $1 },
        ConfigurationKey(
            "input.prefetch.bytes",
            .input,
            .size(1_000_000...2_000_000_000),
            default: .text("96MB"),
            "records fetched ahead by the process, shared by its workers"
        ) { $0.input.prefetchBytes = $1 },
    ]

    private static let overlayKeys: [ConfigurationKey] = [
        ConfigurationKey(
            "overlay.listen",
            .overlay,
            ValueType.address,
            default: .text("127.0.0.1:9465"),
            "where giftcombo overlay serves; port 0 takes a free one and prints it"
        ) { $0.overlay.listen = $1 },
        ConfigurationKey(
            "overlay.key",
            .overlay,
            .secret,
            default: .none,
            "signs the links of rooms, which open with a valid signature only; "
                + "none: they are open to everybody",
            isSecret: true
        ) { $0.overlay.key = $1 },
        ConfigurationKey(
            "overlay.max.clients",
            .overlay,
            .integer(1...1_000_000),
            default: .text("10000"),
            "overlays connected at a time; each takes a file descriptor"
        ) { $0.overlay.maxClients = Int($1) },
    ]

    private static let adminKeys: [ConfigurationKey] = [
        ConfigurationKey(
            "admin.listen",
            .admin,
            ValueType.address.orOff(),
            default: .text("127.0.0.1:9464"),
            "metrics and health over HTTP; port 0 takes a free one and prints it"
        ) { $0.admin = $1 },
        ConfigurationKey(
            "log.format",
            .log,
            .choice([("text", Configuration.LogSettings.Format.text), ("json", .json)]),
            default: .text("text"),
            "log lines on standard error for people or for machines"
        ) { $0.log.format = $1 },
        ConfigurationKey(
            "log.level",
            .log,
            .choice([
                ("debug", Configuration.LogSettings.Level.debug), ("info", .info),
                ("warning", .warning), ("error", .error),
            ]),
            default: .text("info"),
            "least severity that is logged"
        ) { $0.log.level = $1 },
    ]
}
