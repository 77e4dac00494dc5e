import Testing

@testable import Commands

struct NearestNameTests {
    private let names = ["replay", "run", "combo.hide.after", "combo.lanes"]

    @Test(
        arguments: [
            ("repaly", "replay"), ("rpelay", "replay"), ("replays", "replay"), ("ruin", "run"),
            ("combo.hide.aftr", "combo.hide.after"), ("combohideafter", "combo.hide.after"),
            ("combo.lane", "combo.lanes"), ("COMBO.lanes", nil), ("xyz", nil), ("", nil),
        ]
    )
    func `the name with the fewest edits is the nearest`(name: String, nearest: String?) {
        #expect(nearestName(to: name, among: names) == nearest)
    }

    @Test func `of equally near names the first is taken`() {
        #expect(nearestName(to: "aab", among: ["aac", "aad"]) == "aac")
    }
}
