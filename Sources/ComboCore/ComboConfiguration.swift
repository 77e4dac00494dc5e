/// How combos are counted: the `combo.…` and `time.…` settings that the machine needs.
package struct ComboConfiguration: Equatable, Sendable {
    /// Which fields make the combo key (`combo.key`); `user` is always among them.
    package struct KeyFields: OptionSet, Sendable {
        package let rawValue: UInt8
        /// `room_id`.
        package static let room = KeyFields(rawValue: 1)
        /// `user_id`, which every key holds.
        package static let user = KeyFields(rawValue: 2)
        /// `recipient_id`.
        package static let recipient = KeyFields(rawValue: 4)
        /// `gift_id`.
        package static let gift = KeyFields(rawValue: 8)

        package init(rawValue: UInt8) {
            self.rawValue = rawValue
        }
    }

    /// What a gift message adds (`combo.increment`).
    package enum Increment: Sendable {
        /// Its `count`, or what its running total adds.
        case count
        /// One, whatever it carries.
        case one
    }

    /// Where a record's time comes from (`time.source`).
    package enum TimeSource: Sendable {
        /// Kafka's timestamp.
        case record
        /// `sent_at`.
        case event
        /// The moment at which the worker got it.
        case arrival
    }

    /// The combo key's fields.
    package var key: KeyFields = [.room, .user, .recipient, .gift]
    /// What a gift message adds.
    package var increment = Increment.count
    /// How long a combo stays displayed after its last gift (`combo.hide.after`), milliseconds.
    package var hideAfter: Int64 = 2_000
    /// How long a hidden combo keeps its count (`combo.retain.for`), milliseconds.
    package var retainFor: Int64 = 3_000
    /// Number of display rows (`combo.lanes`), 1 … 65,535.
    package var lanes: UInt16 = 2
    /// Shortest time between two updates of a combo (`combo.update.min.interval`), milliseconds.
    package var updateMinInterval: Int64 = 0
    /// How many event ids a key remembers (`combo.dedup.ids`), 0 … 1,024.
    package var dedupIDs: Int = 32
    /// How long a key is remembered after its combo's end (`combo.memory`), milliseconds.
    package var memory: Int64 = 60_000
    /// How many ended keys a partition remembers (`combo.max.remembered`).
    package var maxRemembered: Int = 200_000
    /// Where a record's time comes from.
    package var timeSource = TimeSource.record
    /// How far ahead of its arrival a record's time may be (`time.max.ahead`), milliseconds.
    package var maxAhead: Int64 = 5_000

    /// Creates the default configuration of the design.
    package init() {}
}
