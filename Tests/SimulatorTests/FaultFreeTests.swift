import Simulator
import Testing

@Suite struct FaultFreeTests {
    @Test(arguments: [UInt64](1...10))
    func `without faults the committed output is the reference model's`(seed: UInt64) {
        var options = SimulationOptions(seed: seed)
        options.kinds = []
        let report = Simulation(options).run()
        #expect(report.violations.isEmpty, "seed \(seed)")
        #expect(report.records >= 900 && report.commands > 0)
    }
}
