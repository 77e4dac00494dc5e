internal import KafkaClient
internal import StreamPorts

/// `giftcombo check`: whether `run` would work as it is configured.
let checkCommand = Subcommand(
    name: "check",
    summary: "say whether run would work: configuration, brokers, login, topics, rights, clock",
    operands: "",
    operandCount: 0...0,
    options: Subcommand.Option.configuration,
    details: """
        Give it what run gets: the same file, environment and --set, in the same place. Each line is
        ok, warning, or FAILED and what to do. Exit code 1: something has failed; 2: the
        configuration itself is wrong.

        It changes nothing, and may run beside the processes of the group.
        """,
    run: { arguments, context throws(CommandFailure) in
        let loaded = try context.configuration(from: arguments)
        guard !arguments.has("print-config") else {
            context.output.write(ConfigurationText.properties(of: loaded))
            return
        }
        let findings = try check(loaded)
        for finding in findings { context.output.write("\(finding.line)\n") }
        context.output.flush()
        let failures = findings.count { $0.verdict == .failed }
        guard failures == 0 else {
            throw CommandFailure(.failure, "\(failures) of \(findings.count) checks failed")
        }
    }
)

/// Looks at everything that can be looked at; what hangs on something that failed is left out.
private func check(_ loaded: LoadedConfiguration) throws(CommandFailure) -> [Finding] {
    let configuration = loaded.configuration
    let settings = try KafkaSettings(checked: configuration)
    let given = loaded.settings.count { $0.source != .defaultValue }
    let remedy = Remedy(configuration)
    var findings = [Finding(.ok, "configuration", "\(given) keys are given, and allowed")]
    findings.append(libraryFinding(remedy))
    let brokers = BrokerCheck(configuration: configuration, remedy: remedy)
    guard let admin = brokers.reach(&findings) else { return findings }
    defer { admin.close(timeoutMilliseconds: 1000) }
    let topicCheck = TopicCheck(configuration: configuration, remedy: remedy, admin: admin)
    let topics = topicCheck.topics(&findings)
    let makeProbe = { () throws(StreamError) in
        try RightsProbe(
            settings,
            transactionalID: RightsCheck.transactionalID(configuration),
            clientID: "\(configuration.groupID)-check",
            events: SilentClientEvents()
        )
    }
    let rights = RightsCheck(configuration: configuration, settings: settings, remedy: remedy)
    let found = rights.check(topics, makeProbe)
    findings += found
    if let changelog = topics.last, !changelog.partitions.isEmpty,
        found.allSatisfy({ $0.verdict != .failed })
    {
        let clock = ClockCheck(configuration: configuration, remedy: remedy)
        findings.append(clock.check(changelog, makeProbe))
    }
    return findings
}

private func libraryFinding(_ remedy: Remedy) -> Finding {
    remedy.sendsWrongNonce
        ? Finding(.warning, "librdkafka", remedy.nonceReason)
        : Finding(.ok, "librdkafka", KafkaSettings.libraryVersion)
}
