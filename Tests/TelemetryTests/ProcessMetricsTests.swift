import Foundation
import Testing

@testable import Telemetry

struct ProcessMetricsTests {
    private func readings() -> [String: MetricReading] {
        let registry = MetricRegistry()
        registry.register(ProcessMetrics())
        let pairs = registry.samples().map { ($0.family.name, $0.samples[0].reading) }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    private func value(_ family: MetricFamily) throws -> Int64 {
        guard case .value(let value) = try #require(readings()[family.name]) else {
            throw CancellationError()
        }
        return value
    }

    @Test func `processor time rises with work`() throws {
        let name = MetricCatalogue.processCPU.name
        let before = try #require(readings()[name])
        var sum = 0.0
        for step in 0..<2_000_000 {
            sum += Double(step).squareRoot()
        }
        let after = try #require(readings()[name])
        guard case .count(let first) = before, case .count(let second) = after else {
            Issue.record("a count was expected")
            return
        }
        #expect(sum > 0 && first > 0 && second > first)
    }

    @Test func `memory and threads are this process's`() throws {
        #expect(try value(MetricCatalogue.processResidentMemory) > 1_000_000)
        #expect(try value(MetricCatalogue.processThreads) >= 1)
    }

    @Test func `descriptors that are opened are counted`() throws {
        // Other tests open and close descriptors meanwhile, far fewer than these.
        let before = try value(MetricCatalogue.processOpenDescriptors)
        let opened = (0..<200).compactMap { _ in FileHandle(forReadingAtPath: "/dev/null") }
        #expect(try value(MetricCatalogue.processOpenDescriptors) >= before + 100)
        #expect(opened.count == 200)
    }

    @Test func `the process started before now and after the machine`() throws {
        let start = try value(MetricCatalogue.processStartTime)
        let now = Int64(Date().timeIntervalSince1970 * 1_000)
        #expect(start <= now + 1_000)
        #expect(start > now - 86_400_000)
    }

    @Test func `a program's name may hold blanks and parentheses`() throws {
        let numbers = (4...52).map { "\($0)" }.joined(separator: " ")
        let stat = try #require(ProcessStat("77 (a ) R) b) S \(numbers)\n"))
        #expect(stat.threads == 20 && stat.startTicks == 22 && stat.residentPages == 24)
    }

    @Test(arguments: ["", "77", "77 (x) S 1 2 3", "77 (x) S " + String(repeating: "x ", count: 50)])
    func `a line of another form is refused`(line: String) {
        #expect(ProcessStat(line) == nil)
    }
}
