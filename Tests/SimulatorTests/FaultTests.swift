import Simulator
import Testing

@Suite struct FaultTests {
    @Test(arguments: [UInt64](1...60))
    func `whatever goes wrong, the committed output is the reference model's`(seed: UInt64) {
        let report = Simulation(SimulationOptions(seed: seed)).run()
        #expect(report.violations.isEmpty, "giftcombo simulate --seed-start \(seed) --seeds 1")
    }
}
