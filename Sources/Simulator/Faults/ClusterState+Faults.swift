internal import StreamPorts

// How faults strike: at their moment, or before and after a port's call.
extension ClusterState {
    /// What comes before the effect of a call.
    mutating func enter(
        _ call: PortCall,
        _ client: ClientIdentity,
        _ timeout: Int32
    ) throws(StreamError) {
        calls += 1
        guard isAlive(client) else { throw gone(call) }
        note("\(client.process).\(client.worker) \(call.rawValue)")
        if call == .abort { probe(.transactionAborted) }
        if call == .commit, faults.revoking == client { probe(.committedInsideRevocation) }
        try strike(call, client, isAfter: false)
        if areBrokersDown, call.asksBrokers {
            if case .commit = call { probe(.outageMetATransaction) }
            advance(by: min(Int64(timeout), 200))
            guard isAlive(client) else { throw gone(call) }
            throw StreamError(
                .retriable,
                operation: call.rawValue,
                code: "_TRANSPORT",
                detail: "no broker answers"
            )
        }
        if now < coordinatorDownUntil, call.asksCoordinator {
            probe(.coordinatorWasAway)
            advance(by: min(Int64(timeout), 200))
            guard isAlive(client) else { throw gone(call) }
            throw StreamError(
                .retriable,
                operation: call.rawValue,
                code: "COORDINATOR_NOT_AVAILABLE",
                detail: "the coordinator is away"
            )
        }
    }

    /// What comes after the effect of a call.
    mutating func leave(_ call: PortCall, _ client: ClientIdentity) throws(StreamError) {
        guard isAlive(client) else { throw gone(call) }
        try strike(call, client, isAfter: true)
    }

    /// Makes an attempt until it succeeds or the time is over; time passes meanwhile.
    mutating func waiting<Result>(
        _ timeout: Int32,
        _ attempt: (inout ClusterState) -> Result?
    ) -> Result? {
        let deadline = now + Int64(timeout)
        while true {
            if let result = attempt(&self) { return result }
            guard now < deadline else { return nil }
            serveSoon()
            advance(by: 3)
        }
    }

    private func gone(_ call: PortCall) -> StreamError {
        StreamError(
            .refused,
            operation: call.rawValue,
            code: "_DESTROY",
            detail: "the process is gone"
        )
    }

    private mutating func strike(
        _ call: PortCall,
        _ client: ClientIdentity,
        isAfter: Bool
    ) throws(StreamError) {
        guard !faults.armed.isEmpty else { return }
        var index = 0
        while index < faults.armed.count {
            let fault = faults.armed[index]
            guard fault.at <= now, fault.process == client.process,
                matches(fault.trigger, call, isAfter, client)
            else {
                index += 1
                continue
            }
            faults.armed.remove(at: index)
            try strike(fault, at: call, client, isAfter: isAfter)
            guard isAlive(client) else { throw gone(call) }
        }
    }

    private func matches(
        _ trigger: Fault.Trigger,
        _ call: PortCall,
        _ isAfter: Bool,
        _ client: ClientIdentity
    ) -> Bool {
        switch trigger {
        case .moment: false
        case .before(let wanted): !isAfter && (wanted == nil || wanted == call)
        case .after(let wanted): isAfter && (wanted == nil || wanted == call)
        case .revocation(let wanted):
            !isAfter && faults.revoking == client && (wanted == nil || wanted == call)
        }
    }

    private mutating func strike(
        _ fault: Fault,
        at call: PortCall,
        _ client: ClientIdentity,
        isAfter: Bool
    ) throws(StreamError) {
        switch fault.kind {
        case .loseAnswer:
            begin(fault)
            if call == .commit { probe(.commitAnswerLost) }
            advance(by: fault.amount)
            throw injected(.retriable, call, "the answer was lost")
        case .fail:
            begin(fault)
            throw injected(fault.failure, call, "a fault of the schedule")
        case .delivery:
            begin(fault)
            probe(.deliveryFailed)
            throw injected(.abortable, call, "no space left on the broker's disk")
        case .delay:
            begin(fault)
            advance(by: fault.amount)
        case .crash:
            probeCrash(call, client, isAfter)
            strike(fault)
        case .pause:
            // The worker stands still inside the call; its client's threads do as well.
            begin(fault)
            pause(fault)
            advance(by: fault.amount)
        default:
            strike(fault)
        }
    }

    private func injected(
        _ failure: InjectedFailure,
        _ call: PortCall,
        _ detail: String
    ) -> StreamError {
        let disposition: StreamError.Disposition =
            switch failure {
            case .retriable: .retriable
            // A question is only ever asked again.
            case .abortable:
                call == .commit || call == .sendOffsets || call == .produce
                    ? .abortable : .retriable
            case .fatal:
                call == .commit || call == .sendOffsets || call == .abort
                    || call == .initTransactions ? .fatal : .retriable
            }
        return StreamError(
            disposition,
            operation: call.rawValue,
            code: "INJECTED",
            detail: detail
        )
    }

    private mutating func begin(_ fault: Fault) {
        faults.struck += 1
        note("FAULT \(fault.description)")
    }

    /// Faults whose moment has come.
    mutating func fireTimedFaults() {
        while let fault = faults.takeTimed(now) { strike(fault) }
    }

    private mutating func strike(_ fault: Fault) {
        begin(fault)
        let process = fault.process
        switch fault.kind {
        case .crash:
            guard processes[process].isAlive else { return }
            processes[process].isAlive = false
            processes[process].startAt = now + fault.amount
        case .stop:
            processes[process].isStopRequested = true
            processes[process].startAt = now + fault.amount
        case .pause, .delay: pause(fault)
        case .rewind: faults.rewinds.append(process)
        case .coordinator: coordinatorDownUntil = max(coordinatorDownUntil, now + fault.amount)
        case .brokers: brokersDownUntil = max(brokersDownUntil, now + fault.amount)
        case .expire:
            for index in producers.indices { expireTransaction(index) }
        case .rebalance:
            for group in groups.indices { requestRebalance(group) }
        case .putOut: putOut(process)
        case .slowRestore: slowChangelogUntil = now + fault.amount
        case .slowMarkers: slowMarkersUntil = now + fault.amount
        case .compact: compact()
        case .clock:
            probe(.clockJumped)
            let furthest: Int64 = clocksMatter ? 40 : .max
            processes[process].wallOffset = max(-furthest, min(furthest, fault.amount))
        case .twin: startTwin(of: process)
        case .loseAnswer, .fail, .delivery: break
        }
    }

    /// Another process of the same name makes the transactional ids its own, and goes away.
    private mutating func startTwin(of process: Int) {
        for index in producers.indices where producers[index].id.contains("-\(process)-") {
            if case .ongoing = producers[index].phase {
                expireTransaction(index)
            } else {
                producers[index].epoch += 1
            }
        }
    }

    private mutating func pause(_ fault: Fault) {
        if upstreamNext < upstream.count, fault.amount > 100 { probe(.pausedWithRecordsWaiting) }
        processes[fault.process].pausedUntil = now + fault.amount
        processes[fault.process].pausedFor = fault.amount
    }

    private mutating func putOut(_ process: Int) {
        for client in clients where client.owner.process == process && !client.isClosed {
            guard let member = client.member else { continue }
            groups[client.group].members.removeAll { $0.number == member }
            requestRebalance(client.group)
        }
    }

    private mutating func compact() {
        if now < slowChangelogUntil { probe(.compactedWhileRestoring) }
        for partition in topics[changelogTopic].logs.indices {
            let log = topics[changelogTopic].logs[partition]
            let limit = log.end - random.number(0...12)
            topics[changelogTopic].logs[partition].compact(below: limit)
        }
    }

    /// Whether the client's next fetch begins a little earlier than it ended.
    mutating func takeRewind(_ client: ClientIdentity) -> Bool {
        guard let index = faults.rewinds.firstIndex(of: client.process) else { return false }
        faults.rewinds.remove(at: index)
        probe(.recordsDeliveredTwice)
        return true
    }

    private mutating func probeCrash(_ call: PortCall, _ client: ClientIdentity, _ isAfter: Bool) {
        switch (call, isAfter) {
        case (.produce, true), (.sendOffsets, false): probe(.crashedBetweenProduceAndCommit)
        case (.sendOffsets, true), (.commit, false): probe(.crashedBetweenOffsetsAndCommit)
        case (.commit, true): probe(.crashedAfterCommitBeforeItsAnswer)
        case (.changelogAssign, _), (.changelogPoll, _), (.highWatermark, _):
            probe(.crashedWhileRestoring)
        case (.makeSource, _), (.makeSink, _), (.makeChangelogReader, _), (.subscribe, _),
            (.initTransactions, _):
            probe(.crashedWhileStarting)
        default: break
        }
    }
}
