internal import Glibc

/// The process's own figures, read from the kernel when somebody looks.
///
/// Source: proc(5), `/proc/self/stat` and `/proc/self/fd`; clock_gettime(2) for processor time.
/// What can't be read (no /proc in a sandbox) is left out of the output.
package final class ProcessMetrics: MetricSource {
    private let cpuMicroseconds = GaugeCell()
    private let residentBytes = GaugeCell()
    private let openDescriptors = GaugeCell()
    private let threads = GaugeCell()
    private let startMilliseconds = GaugeCell()

    /// Creates the source; ``MetricRegistry/register(_:)`` publishes it.
    package init() {}

    /// The metrics of these figures.
    package func metricChildren() -> [MetricChild] {
        let gauge = { (family: MetricFamily, read: @escaping @Sendable () -> Int64?) in
            MetricChild(family) { read().map { .value($0) } ?? .absent }
        }
        return [
            MetricChild(MetricCatalogue.processCPU) {
                self.cpuMicroseconds.value.map { .count($0.magnitude) } ?? .absent
            },
            gauge(MetricCatalogue.processResidentMemory) { self.residentBytes.value },
            gauge(MetricCatalogue.processOpenDescriptors) { self.openDescriptors.value },
            gauge(MetricCatalogue.processThreads) { self.threads.value },
            gauge(MetricCatalogue.processStartTime) { self.startMilliseconds.value },
        ]
    }

    /// Reads the figures.
    ///
    /// Two scrapes at once may both write here. They store whole values and add nothing up, so
    /// that does no harm.
    package func refresh() {
        cpuMicroseconds.set(clockNanoseconds(CLOCK_PROCESS_CPUTIME_ID) / 1_000)
        if let count = openDescriptorCount() {
            openDescriptors.set(count)
        }
        guard let text = readFile("/proc/self/stat"), let stat = ProcessStat(text) else { return }
        threads.set(stat.threads)
        residentBytes.set(stat.residentPages * Int64(sysconf(Int32(_SC_PAGESIZE))))
        if startMilliseconds.value == nil, let boot = readFile("/proc/stat").flatMap(bootSeconds) {
            let ticksPerSecond = Int64(sysconf(Int32(_SC_CLK_TCK)))
            startMilliseconds.set(boot * 1_000 + stat.startTicks * 1_000 / ticksPerSecond)
        }
    }
}

/// What is taken from `/proc/self/stat`.
struct ProcessStat: Equatable {
    var threads: Int64
    /// When the process started, clock ticks after boot.
    var startTicks: Int64
    var residentPages: Int64

    /// Reads the line; nil where it has not the form of proc(5).
    init?(_ line: String) {
        // Field 2 is the program's name in parentheses and may hold blanks and parentheses itself,
        // so fields are counted from the last one that closes.
        guard let end = line.lastIndex(of: ")") else { return nil }
        let fields = line[line.index(after: end)...].split(whereSeparator: \.isWhitespace)
        // fields[0] is field 3.
        guard fields.count > 21, let threads = Int64(fields[17]), let start = Int64(fields[19]),
            let pages = Int64(fields[21])
        else { return nil }
        self.threads = threads
        startTicks = start
        residentPages = pages
    }
}

/// The machine's boot time, seconds since the epoch, from the text of `/proc/stat`.
private func bootSeconds(_ text: String) -> Int64? {
    for line in text.split(separator: "\n") where line.hasPrefix("btime ") {
        return Int64(line.dropFirst("btime ".count))
    }
    return nil
}

private func openDescriptorCount() -> Int64? {
    guard let directory = unsafe opendir("/proc/self/fd") else { return nil }
    defer { unsafe closedir(directory) }
    var count: Int64 = 0
    while unsafe readdir(directory) != nil {
        count += 1
    }
    // Without `.`, `..` and the descriptor that reads the directory.
    return count - 3
}

/// The text of a file of the kernel, at most 1 MB of it.
private func readFile(_ path: String) -> String? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4_096)
    while bytes.count < 1 << 20 {
        let count = unsafe read(descriptor, &chunk, chunk.count)
        guard count > 0 else { break }
        bytes += chunk[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
}

/// A clock of this machine in nanoseconds.
func clockNanoseconds(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

/// Says which versions are running.
package final class BuildMetrics: MetricSource {
    private let labelValues: [String]

    /// Takes the versions of the program, of the Swift compiler and of the linked librdkafka.
    package init(version: String, swift: String, librdkafka: String) {
        labelValues = [version, swift, librdkafka]
    }

    /// The metrics of these figures.
    package func metricChildren() -> [MetricChild] {
        [MetricChild(MetricCatalogue.build, labelValues) { .value(1) }]
    }
}
