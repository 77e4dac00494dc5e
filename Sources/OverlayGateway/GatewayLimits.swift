/// Everything that bounds the gateway: its memory, its time, what one client may cost.
package struct GatewayLimits: Equatable, Sendable {
    // MARK: Commands

    /// The largest command that is passed on, bytes: 64 KiB, six times what a hostile name of 10 kB
    /// makes of it.
    package var commandBytes = 65_536
    /// Live combos of a room that a snapshot holds: 200, many times what a screen shows.
    package var roomCombos = 200
    /// Bytes of a room's live combos: 256 KiB, so that a snapshot is sent within a second.
    package var roomBytes = 262_144
    /// Live combos of all rooms: 100,000.
    package var combos = 100_000
    /// Bytes of the live combos of all rooms: 48 MB.
    package var bytes = 48_000_000
    /// How long a combo stays after its time to end, ms: 1,000, for its next command or its end is
    /// published a commit later than it is dated.
    package var endGraceMilliseconds: Int64 = 1_000

    // MARK: Streams

    /// Bytes of a room's latest commands, which its clients share and resume from: 256 KiB.
    ///
    /// A client that is further behind is dropped.
    package var logBytes = 262_144
    /// Bytes of these of all rooms: 32 MB; beyond it every watched room gets an equal part.
    package var logsBytes = 32_000_000
    /// The least that a room gets, bytes: 4 KiB, some ten commands.
    package var leastLogBytes = 4_096
    /// How long a room that nobody watches any more keeps them, ms: 30,000, for those who are
    /// reconnecting.
    package var logKeptMilliseconds: Int64 = 30_000
    /// Bytes of snapshots that clients have not taken yet: 32 MB; further clients wait.
    package var snapshotsBytes = 32_000_000
    /// How long a client may take nothing of what waits for it, ms: 10,000.
    package var stallMilliseconds: Int64 = 10_000
    /// How long a stream may say nothing, ms: 15,000, below the time-outs of usual proxies (30 s
    /// and more).
    package var heartbeatMilliseconds: Int64 = 15_000
    /// What a client is asked to wait before it reconnects, ms.
    package var retryMilliseconds: Int64 = 1_000
    /// How long commands are gathered before they are sent, ms: 20, a fifth of what they may take;
    /// a call of the kernel for each client and turn is what clients cost.
    package var turnMilliseconds: Int64 = 20
    /// How often it is looked for clients that have gone or take bytes again, ms.
    package var lookMilliseconds: Int64 = 50

    // MARK: The topic

    /// Records taken at a time.
    package var recordsPerPoll = 1_000
    /// How long one question to the brokers may hold up the clients, ms.
    package var questionMilliseconds: Int32 = 1_000
    /// How often the brokers are asked again for a topic that is not there, ms.
    package var askAgainMilliseconds: Int64 = 1_000
    /// How often it is looked for new partitions, ms.
    package var partitionsMilliseconds: Int64 = 30_000
    /// How much further back than the windows is read, ms: 10,000, for commands are published later
    /// than they are dated, and clocks differ.
    package var slackMilliseconds: Int64 = 10_000

    // MARK: Requests

    /// Connections besides the streams.
    package var connections: UInt32 = 128
    /// What a request's line and headers must fit in, bytes: 8 KiB, as HTTP servers usually take;
    /// a stream keeps it.
    package var requestBytes = 8_192
    /// Rooms that the index lists.
    package var indexRooms = 100

    /// Creates the default limits.
    package init() {}
}
