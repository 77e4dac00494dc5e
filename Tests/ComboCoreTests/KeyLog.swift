@testable import ComboCore

/// A changelog in memory: the latest state of every key, with bytes of its own.
struct KeyLog {
    struct Entry {
        var lastOffset: Int64
        var endAt: EventTime
        var combo: KeyState.Combo?
        var texts: [String]
        var ids: [UInt64]
        var streaks: [StreakTotal]
        var unnamedTotal: Int64
    }

    private var entries: [KeyHash: Entry] = [:]

    var liveCount: Int { entries.values.count { $0.combo != nil } }

    mutating func takeChanges(of state: inout PartitionState) {
        var change = KeyChange(key: KeyHash(high: 0, low: 0), state: nil)
        while state.nextChange(into: &change) {
            guard let latest = change.state else {
                entries[change.key] = nil
                continue
            }
            let fields = latest.combo?.fields
            entries[change.key] = unsafe Entry(
                lastOffset: latest.lastOffset,
                endAt: latest.endAt,
                combo: latest.combo,
                texts: [
                    fields?.roomID, fields?.userID, fields?.userName, fields?.userAvatar,
                    fields?.recipientID, fields?.giftID, fields?.giftName, fields?.giftImage,
                ].map { $0?.string ?? "" },
                ids: Array(latest.memory.ids),
                streaks: Array(latest.memory.streaks),
                unnamedTotal: latest.memory.unnamedTotal
            )
        }
    }

    func restore(_ state: inout PartitionState) {
        let ordered = entries.sorted {
            ($0.value.endAt, $0.value.lastOffset) < ($1.value.endAt, $1.value.lastOffset)
        }
        for (key, entry) in ordered {
            withTexts(entry.texts) { texts in
                unsafe entry.ids.withUnsafeBufferPointer { ids in
                    unsafe entry.streaks.withUnsafeBufferPointer { streaks in
                        var combo = entry.combo
                        combo?.fields = CommandFields(
                            roomID: texts[0],
                            userID: texts[1],
                            userName: texts[2],
                            userAvatar: texts[3],
                            recipientID: texts[4],
                            giftID: texts[5],
                            giftName: texts[6],
                            giftImage: texts[7]
                        )
                        unsafe state.restore(
                            KeyState(
                                key: key,
                                lastOffset: entry.lastOffset,
                                combo: combo,
                                endAt: entry.endAt,
                                memory: KeyMemoryView(
                                    unnamedTotal: entry.unnamedTotal,
                                    streaks: streaks,
                                    ids: ids
                                )
                            )
                        )
                    }
                }
            }
        }
    }
}
