import Testing

@testable import Commands

@Suite struct `What a run says at its end` {
    @Test func `it is read as it was written`() {
        let summary = RunSummary(
            records: 1_000_000,
            commands: 1_331_046,
            cpuMilliseconds: 4_005,
            wallMilliseconds: 61_000,
            busyMilliseconds: 7,
            peakResidentBytes: 1 << 28,
            transactions: 42
        )
        #expect(summary.json.contains("\"cpu_s\":4.005,\"wall_s\":61.000,\"busy_s\":0.007"))
        #expect(RunSummary(json: summary.json) == summary)
    }

    @Test(arguments: ["", "{}", "ready", "{\"records_in\":1}", "{\"records_in\":x}"])
    func `what is no summary is none`(_ text: String) {
        #expect(RunSummary(json: text) == nil)
    }
}
