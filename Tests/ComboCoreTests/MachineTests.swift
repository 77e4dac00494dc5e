import Simulator
import Testing

@testable import ComboCore

/// A record of a random scenario.
struct Step {
    var gift: Gift
    var offset: Int64
    var time: Int64
}

/// Random gifts of few users, so that combos merge, resume, end and are remembered.
func randomSteps(_ random: inout SeededGenerator, count: Int) -> [Step] {
    var time: Int64 = 1_760_000_000_000
    var offset: Int64 = 0
    var recent: [Gift] = []
    return (0..<count).map { _ in
        offset += Int64.random(in: 1...3, using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<60: time += Int64.random(in: 0...700, using: &random)
        case 60..<80: time += [1000, 2000, 2001, 3000, 3001].randomElement(using: &random) ?? 0
        case 80..<84: time += Int64.random(in: 3000...70_000, using: &random)
        case 84: time += 40_000_000
        default: break
        }
        let late = Int.random(in: 0..<10, using: &random) == 0
        let step: Gift
        if Int.random(in: 0..<8, using: &random) == 0,
            let again = recent.randomElement(using: &random)
        {
            step = again
        } else {
            step = randomGift(&random, serial: offset)
            recent.append(step)
            if recent.count > 40 { recent.removeFirst() }
        }
        return Step(gift: step, offset: offset, time: late ? time - 1500 : time)
    }
}

private func randomGift(_ random: inout SeededGenerator, serial: Int64) -> Gift {
    var gift = Gift()
    gift.user = String(Int.random(in: 1...5, using: &random))
    gift.room = Bool.random(using: &random) ? "" : "room"
    gift.gift = ["", "rose", "heart"].randomElement(using: &random) ?? ""
    gift.giftName = gift.gift.uppercased()
    if Int.random(in: 0..<6, using: &random) == 0 {
        gift.giftName = String(repeating: "long ", count: 60)
    }
    gift.userName = "user \(Int.random(in: 0...2, using: &random))"
    if Int.random(in: 0..<4, using: &random) != 0 { gift.eventID = "e\(serial)" }
    gift.value = Int64.random(in: 0...9, using: &random)
    switch Int.random(in: 0..<12, using: &random) {
    case 0..<3: gift.count = Int64.random(in: 1...66, using: &random)
    case 3..<5:
        gift.streakID = "s\(Int.random(in: 0...6, using: &random))"
        gift.streakCount = Int64.random(in: 1...30, using: &random)
    case 5: gift.streakCount = Int64.random(in: 1...9, using: &random)
    case 6: gift.streakEnd = true
    case 7: gift.streakable = false
    default: break
    }
    return gift
}

/// Random configurations, the default among them.
func randomConfiguration(_ random: inout SeededGenerator) -> ComboConfiguration {
    var configuration = ComboConfiguration()
    if Bool.random(using: &random) { return configuration }
    configuration.hideAfter = [0, 1, 500, 2000, 20_000].randomElement(using: &random) ?? 0
    configuration.retainFor = [0, 1, 3000, 9_000_000].randomElement(using: &random) ?? 0
    configuration.memory = [0, 1000, 60_000].randomElement(using: &random) ?? 0
    configuration.dedupIDs = [0, 1, 3, 32].randomElement(using: &random) ?? 0
    configuration.maxRemembered = [0, 1, 3, 200_000].randomElement(using: &random) ?? 0
    configuration.updateMinInterval = [0, 0, 200, 5000].randomElement(using: &random) ?? 0
    configuration.increment = Int.random(in: 0..<4, using: &random) == 0 ? .one : .count
    configuration.key = Bool.random(using: &random) ? [.user] : [.room, .user, .recipient, .gift]
    configuration.lanes = 3
    return configuration
}

@Suite struct MachineTests {
    @Test(arguments: 0..<300)
    func `the machine gives the reference model's commands, whatever the wheel's tick`(run: Int) {
        let seed = UInt64(run) &* 7919 &+ 1
        var random = SeededGenerator(seed: seed)
        let configuration = randomConfiguration(&random)
        let steps = randomSteps(&random, count: 400)
        var model = ReferenceModel(configuration)
        for step in steps { model.apply(step.gift, offset: step.offset, at: step.time) }
        model.advance(to: .max, isEnd: true)

        for tickShift: Int64 in [0, 3, 10] {
            var driver = Driver(configuration, tickShift: tickShift)
            for step in steps { driver.apply(step.gift, offset: step.offset, at: step.time) }
            #expect(
                driver.state.rememberedCount == 0
                    || driver.state.rememberedCount <= configuration.maxRemembered
            )
            driver.finish()
            let difference = firstDifference(driver.commands, model.commands)
            #expect(difference == nil, "seed \(seed), tick 2^\(tickShift) ms: \(difference ?? "")")
        }
    }

    @Test(arguments: 0..<60)
    func `the laws hold`(run: Int) {
        let seed = UInt64(run) &* 104_729 &+ 5
        var random = SeededGenerator(seed: seed)
        let configuration = randomConfiguration(&random)
        let steps = randomSteps(&random, count: 500)
        var driver = Driver(configuration)
        var model = ReferenceModel(configuration)
        for step in steps {
            driver.apply(step.gift, offset: step.offset, at: step.time)
            model.apply(step.gift, offset: step.offset, at: step.time)
        }
        driver.finish()
        var shows: [Int64: Int] = [:]
        var hides: [Int64: Int] = [:]
        var last: [Int64: Shown] = [:]
        var total: Int64 = 0
        var deltas: Int64 = 0
        for command in driver.commands {
            let before = last[command.comboOffset]
            #expect(command.sequence == (before?.sequence ?? 0) + 1, "seed \(seed)")
            #expect(command.from == before?.count ?? 0, "seed \(seed)")
            #expect(command.count >= command.from, "seed \(seed)")
            #expect(before?.kind != .end, "seed \(seed)")
            #expect(command.at >= before?.at ?? 0, "seed \(seed)")
            deltas += command.count - command.from
            if command.kind == .show { shows[command.comboOffset, default: 0] += 1 }
            if command.kind == .hide { hides[command.comboOffset, default: 0] += 1 }
            if command.kind == .end { total += command.count }
            last[command.comboOffset] = command
        }
        #expect(shows == hides, "seed \(seed)")
        #expect(deltas == total && total == model.counted, "seed \(seed)")
        #expect(last.values.allSatisfy { $0.kind == .end }, "seed \(seed)")
    }

    @Test(arguments: 0..<100)
    func `a state restored from its changes goes on as if nothing had happened`(run: Int) {
        let seed = UInt64(run) &* 15_485_863 &+ 9
        var random = SeededGenerator(seed: seed)
        let configuration = randomConfiguration(&random)
        let steps = randomSteps(&random, count: 300)
        var whole = Driver(configuration)
        for step in steps { whole.apply(step.gift, offset: step.offset, at: step.time) }
        whole.finish()

        var log = KeyLog()
        var driver = Driver(configuration, tracksChanges: true)
        var commands: [Shown] = []
        for step in steps {
            driver.apply(step.gift, offset: step.offset, at: step.time)
            if Int.random(in: 0..<20, using: &random) == 0 {
                log.takeChanges(of: &driver.state)
                if Int.random(in: 0..<4, using: &random) == 0 {
                    commands += driver.commands
                    let clock = driver.state.clock
                    driver = Driver(configuration, tracksChanges: true)
                    log.restore(&driver.state)
                    driver.state.restoreClock(clock)
                }
            }
        }
        driver.finish()
        commands += driver.commands
        let difference = firstDifference(commands, whole.commands)
        #expect(difference == nil, "seed \(seed): \(difference ?? "")")
        log.takeChanges(of: &driver.state)
        #expect(log.liveCount == 0)
    }

    @Test func `a saturated count stays, and deadlines at the end of time still fire`() {
        var driver = Driver(ComboConfiguration())
        var gift = Gift()
        gift.streakID = "s"
        gift.streakCount = .max
        driver.apply(gift, offset: 0, at: .max - 1)
        var more = Gift()
        more.value = .max
        driver.apply(more, offset: 1, at: .max - 1)
        driver.finish()
        #expect(driver.commands.map(\.kind) == [.show, .update, .hide, .end])
        #expect(driver.commands.last?.count == .max)
        #expect(driver.commands.last?.value == .max)
        #expect(driver.state.liveCount == 0)
    }

    @Test func `in steady state the memory held does not grow`() {
        var driver = Driver(ComboConfiguration())
        var random = SeededGenerator(seed: 3)
        var held = 0
        for round in 0..<40_000 {
            var gift = Gift()
            gift.user = String(Int.random(in: 0..<500, using: &random))
            gift.userName = "name of \(gift.user)"
            gift.eventID = "e\(round)"
            driver.apply(gift, offset: Int64(round), at: 1_760_000_000_000 + Int64(round) * 20)
            driver.commands.removeAll(keepingCapacity: true)
            if round == 20_000 { held = driver.state.byteCount }
        }
        #expect(driver.state.byteCount <= held + held / 4)
    }
}

/// The first place where two streams differ, for people.
func firstDifference(_ real: [Shown], _ expected: [Shown]) -> String? {
    for (index, pair) in zip(real, expected).enumerated() where pair.0 != pair.1 {
        return "command \(index): \(pair.0) where \(pair.1) is expected"
    }
    return real.count == expected.count
        ? nil : "\(real.count) commands where \(expected.count) are expected"
}
