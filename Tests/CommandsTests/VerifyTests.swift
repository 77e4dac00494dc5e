import Testing

@testable import Commands

@Suite struct OutputComparisonTests {
    /// A command as it lies in a topic: partition of the output, key, timestamp, value.
    private struct Sample {
        var partition: Int32 = 0
        var key = "room"
        var timestamp: Int64 = 1000
        var value: String

        init(_ combo: String, _ sequence: Int, count: Int? = nil, user: String = "7") {
            value =
                "{\"command\":\"update\",\"id\":\"\(combo)#\(sequence)\",\"user_id\":\"\(user)\","
                + "\"count\":\(count ?? sequence)}"
        }

        func withBytes(_ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Void) {
            unsafe Array(key.utf8).withUnsafeBytes { key in
                unsafe Array(value.utf8).withUnsafeBytes { value in unsafe body(key, value) }
            }
        }
    }

    private let evening = [
        Sample("0-1", 1), Sample("1-5", 1), Sample("0-1", 2), Sample("0-1", 3), Sample("1-5", 2),
    ]

    /// What is found, as "combo#sequence fault".
    private func faults(
        published: [Sample],
        expected: [Sample],
        isAhead: Bool = false,
        omitting user: String? = nil
    ) -> [String] {
        var comparison = OutputComparison { _, sender in sender != user }
        for sample in published {
            unsafe sample.withBytes { key, value in
                unsafe comparison.publish(
                    partition: sample.partition,
                    key: key,
                    timestamp: sample.timestamp,
                    value: value
                )
            }
        }
        for sample in expected {
            unsafe sample.withBytes { key, value in
                unsafe comparison.expect(key: key, timestamp: sample.timestamp, value: value)
            }
        }
        comparison.finish { _ in isAhead }
        let wanted = comparison.wantedRecords
        for sample in published {
            unsafe sample.withBytes { key, value in
                unsafe comparison.show(
                    key: key,
                    timestamp: sample.timestamp,
                    value: value,
                    at: wanted
                )
            }
        }
        comparison.dropEqual()
        return comparison.differences.map { "\($0.combo)#\($0.sequence) \($0.fault)" }
    }

    @Test func `equal output has no differences, whatever the order between combos`() {
        #expect(faults(published: evening, expected: evening) == [])
        let other = [evening[1], evening[4], evening[0], evening[2], evening[3]]
        #expect(faults(published: other, expected: evening) == [])
    }

    @Test func `a lost, a doubled, a swapped, an altered and a foreign command are each found`() {
        var lost = evening
        lost.remove(at: 2)
        #expect(faults(published: lost, expected: evening) == ["0-1#2 missing"])
        #expect(
            faults(published: evening + [evening[0]], expected: evening) == ["0-1#1 doubled"]
        )
        var swapped = evening
        swapped.swapAt(2, 3)
        #expect(faults(published: swapped, expected: evening) == ["0-1#2 reordered"])
        var altered = evening
        altered[4] = Sample("1-5", 2, count: 3)
        #expect(faults(published: altered, expected: evening) == ["1-5#2 altered"])
        let foreign = evening + [Sample("1-5", 3), Sample("2-0", 1)]
        #expect(
            faults(published: foreign, expected: evening)
                == ["1-5#3 unexpected", "2-0#1 unexpected"]
        )
    }

    @Test func `key and timestamp are part of a command`() {
        var other = evening
        other[0].key = "hall"
        other[1].timestamp += 1
        #expect(
            faults(published: other, expected: evening) == ["0-1#1 altered", "1-5#1 altered"]
        )
    }

    @Test func `order and emptiness of fields are free`() {
        var other = evening
        other[0].value =
            #"{"user_id":"7","count":1,"id":"0-1#1","command":"update","gift_id":"","#
            + #""resumed":false}"#
        #expect(faults(published: other, expected: evening) == [])
    }

    @Test func `what was published beyond the replay of a running group is no fault`() {
        let ahead = evening + [Sample("0-1", 4), Sample("0-9", 1)]
        #expect(faults(published: ahead, expected: evening, isAhead: true) == [])
    }

    @Test func `combos that are left out are looked at on neither side`() {
        let theirs = [Sample("0-3", 1, user: "9")]
        #expect(faults(published: evening, expected: evening + theirs, omitting: "9") == [])
        #expect(faults(published: evening + theirs, expected: evening, omitting: "9") == [])
    }

    @Test func `a command across two partitions of the output has no order`() {
        var spread = evening
        spread[3].partition = 1
        spread.swapAt(2, 3)
        #expect(faults(published: spread, expected: evening) == [])
    }
}

@Suite struct ParsedTimeTests {
    @Test(arguments: [
        ("0", 0), ("1760000000000", 1_760_000_000_000), ("1970-01-01T00:00:00Z", 0),
        ("2024-02-29T12:30:15Z", 1_709_209_815_000), ("2100-03-01T00:00:00Z", 4_107_542_400_000),
        ("2025-10-09T08:53:20Z", 1_760_000_000_000),
    ])
    func `a time is read`(text: String, milliseconds: Int64) {
        #expect(parseTime(text) == milliseconds)
    }

    @Test(arguments: ["", "-1", "yesterday", "2024-02-29", "2024-13-01T00:00:00Z", "2024-02-29T12"])
    func `what is no time is refused`(text: String) {
        #expect(parseTime(text) == nil)
    }
}
