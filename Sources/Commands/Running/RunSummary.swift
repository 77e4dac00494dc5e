/// What `run --stop-at-end` says at its end.
struct RunSummary: Equatable {
    var records: Int64 = 0
    var commands: Int64 = 0
    var cpuMilliseconds: Int64 = 0
    /// From the start to the last commit.
    var wallMilliseconds: Int64 = 0
    /// From the first record to the last commit.
    var busyMilliseconds: Int64 = 0
    var peakResidentBytes: Int64 = 0
    var transactions: Int64 = 0

    /// One line.
    var json: String {
        "{\"records_in\":\(records),\"commands\":\(commands),"
            + "\"cpu_s\":\(seconds(cpuMilliseconds)),\"wall_s\":\(seconds(wallMilliseconds)),"
            + "\"busy_s\":\(seconds(busyMilliseconds)),\"rss_peak_bytes\":\(peakResidentBytes),"
            + "\"transactions\":\(transactions)}\n"
    }

    /// Milliseconds as seconds with three places.
    private func seconds(_ milliseconds: Int64) -> String {
        let rest = String(milliseconds % 1000)
        return "\(milliseconds / 1000)." + String(repeating: "0", count: 3 - rest.count) + rest
    }
}

extension RunSummary {
    /// Reads what ``json`` has written; nil: it is something else.
    init?(json: String) {
        var members: [Substring: Int64] = [:]
        for member in json.split(whereSeparator: { "{},\n".contains($0) }) {
            let parts = member.split(separator: ":")
            // Seconds have three places: without the point they are milliseconds.
            guard parts.count == 2, let value = Int64(parts[1].filter { $0 != "." }) else {
                return nil
            }
            members[parts[0].filter { $0 != "\"" }[...]] = value
        }
        guard let records = members["records_in"], let commands = members["commands"],
            let cpu = members["cpu_s"], let wall = members["wall_s"],
            let busy = members["busy_s"], let peak = members["rss_peak_bytes"],
            let transactions = members["transactions"]
        else { return nil }
        self.init(
            records: records,
            commands: commands,
            cpuMilliseconds: cpu,
            wallMilliseconds: wall,
            busyMilliseconds: busy,
            peakResidentBytes: peak,
            transactions: transactions
        )
    }
}
