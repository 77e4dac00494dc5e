package import ComboCore

/// The latest state of every key of a changelog partition, gathered while it is read.
///
/// The values are kept as bytes, one behind the other; what a later record makes stale is thrown
/// out when it is more than half.
package struct ChangelogImage: ~Copyable {
    private struct Place {
        var start: Int
        var count: Int
    }

    /// Stale bytes that are not worth a pass: 1 MiB.
    private static let staleBytesFloor = 1 << 20

    private var values = OutputBytes(capacity: 4096)
    private var places: [KeyHash: Place] = [:]
    private var staleBytes = 0

    /// Creates an image of an empty changelog.
    package init() {}

    /// Keys that have a state.
    package var count: Int { places.count }

    /// Takes in a record; a nil base address of `value` is a tombstone.
    ///
    /// - Throws: The key is none, or the value is of another version.
    package mutating func add(
        key: UnsafeRawBufferPointer,
        value: UnsafeRawBufferPointer
    ) throws(ChangelogError) {
        let key = try unsafe ChangelogCodec.key(key)
        guard unsafe value.baseAddress != nil else {
            staleBytes += places.removeValue(forKey: key)?.count ?? 0
            return
        }
        // Looked at now, so that a changelog that can't be read is refused before much was read.
        guard let version = unsafe value.first else { throw .malformed(position: 0) }
        guard version == ChangelogCodec.version else { throw .unknownVersion(version) }
        let place = Place(start: values.count, count: value.count)
        staleBytes += places.updateValue(place, forKey: key)?.count ?? 0
        unsafe values.append(value)
        if staleBytes > max(Self.staleBytesFloor, values.count / 2) { dropStale() }
    }

    /// What the state says of the time and offsets of its partition.
    package struct Extent: Equatable, Sendable {
        /// The highest offset that the state has counted; nil: the state is empty.
        package var lastOffset: Int64?
        /// The newest time in it, which the partition's clock has reached.
        package var newestTime = EventTime.zero
    }

    /// Puts every key's state into an empty engine.
    ///
    /// - Returns: How far the state reaches.
    /// - Throws: A value is damaged; the engine must be dropped.
    package func restore(
        into engine: inout PartitionEngine
    ) throws(ChangelogError) -> Extent {
        let hideAfter = engine.configuration.hideAfter
        let scratch = ChangelogScratch()
        var order: [(endAt: EventTime, lastOffset: Int64, key: KeyHash, place: Place)] = []
        order.reserveCapacity(places.count)
        var extent = Extent()
        for (key, place) in places {
            let state = try state(key, place, scratch)
            order.append((state.endAt, state.lastOffset, key, place))
            extent.lastOffset = max(extent.lastOffset ?? .min, state.lastOffset)
            extent.newestTime = max(extent.newestTime, Self.time(of: state, hideAfter: hideAfter))
        }
        // Keys are forgotten in the order in which they ended. Offsets are unique: the order is
        // total.
        order.sort { ($0.endAt, $0.lastOffset) < ($1.endAt, $1.lastOffset) }
        for entry in order { engine.restore(try state(entry.key, entry.place, scratch)) }
        return extent
    }

    /// Gives every key's state, in the order of the latest gifts; each is valid during its call.
    ///
    /// - Throws: A value is damaged.
    package func forEachState(_ body: (KeyState) -> Void) throws(ChangelogError) {
        let scratch = ChangelogScratch()
        var order: [(lastOffset: Int64, key: KeyHash, place: Place)] = []
        for (key, place) in places {
            order.append((try state(key, place, scratch).lastOffset, key, place))
        }
        order.sort { $0.lastOffset < $1.lastOffset }
        for entry in order { body(try state(entry.key, entry.place, scratch)) }
    }

    /// The latest time that the partition's clock is known to have reached by this state.
    private static func time(of state: KeyState, hideAfter: Int64) -> EventTime {
        guard let combo = state.combo else { return state.endAt }
        let lastGift = combo.hideAt.advanced(byMilliseconds: -hideAfter)
        return combo.isDisplayed ? max(lastGift, combo.shownAt) : combo.hideAt
    }

    private func state(
        _ key: KeyHash,
        _ place: Place,
        _ scratch: ChangelogScratch
    ) throws(ChangelogError) -> KeyState {
        let end = place.start + place.count
        return try unsafe ChangelogCodec.state(
            UnsafeRawBufferPointer(rebasing: values.bytes[place.start..<end]),
            key: key,
            scratch: scratch
        )
    }

    private mutating func dropStale() {
        var kept = OutputBytes(capacity: values.count - staleBytes)
        for (key, place) in places {
            let end = place.start + place.count
            places[key]?.start = kept.count
            unsafe kept.append(
                UnsafeRawBufferPointer(rebasing: values.bytes[place.start..<end])
            )
        }
        swap(&values, &kept)
        staleBytes = 0
    }
}
