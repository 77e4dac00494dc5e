internal import KafkaClient
internal import Telemetry
internal import WorkerRuntime

/// One run of `generate`: records from their origin to where they go, at their pace.
struct Generation {
    private let options: GenerateOptions
    private let context: CommandContext
    private let writer: any RecordWriter
    /// Nil where nobody waits: the signals then end the process, as they do any filter.
    private let signals: StopSignals?
    private let pace = Pace()
    private var progress: ProgressLine
    private var written = 0

    init(
        _ options: GenerateOptions,
        writer: any RecordWriter,
        signals: StopSignals?,
        _ context: CommandContext
    ) {
        self.options = options
        self.context = context
        self.writer = writer
        self.signals = signals
        progress = ProgressLine(on: context.errors)
    }

    /// Writes everything, then tells the totals.
    mutating func run() throws(CommandFailure) {
        var failure: CommandFailure?
        do {
            switch options.origin {
            case .traffic(let pattern): try write(GiftTraffic(pattern))
            case .recording(let files): try write(files)
            }
            try writer.finish()
        } catch {
            failure = error
        }
        progress.clear()
        context.tell(totals)
        if let failure { throw failure }
    }

    private mutating func write(_ traffic: consuming GiftTraffic) throws(CommandFailure) {
        var traffic = traffic
        var generated = GeneratedRecord()
        var record = RecordedRecord()
        record.hasKey = true
        record.hasValue = true
        while !isDone {
            traffic.next(into: &generated)
            if let duration = options.duration, generated.sentAfter >= duration { return }
            if options.rate != nil { wait(until: generated.sentAfter) }
            guard !isStopping else { return }
            record.timestamp = generated.timestamp
            swap(&record.key, &generated.key)
            swap(&record.value, &generated.value)
            try write(record, isObject: generated.isObject)
        }
    }

    private mutating func write(_ files: [String]) throws(CommandFailure) {
        var record = RecordedRecord()
        var nextOffsets: [Int32: Int64] = [:]
        var gaps = 0
        do {
            let reader = try RecordingReader(paths: files)
            while !isDone, try reader.next(into: &record) {
                if let rate = options.rate {
                    wait(until: Int64(written) * 1_000 / Int64(rate))
                }
                if record.offset != nextOffsets[record.partition, default: 0] { gaps += 1 }
                nextOffsets[record.partition] = record.offset + 1
                try write(record, isObject: false)
            }
        } catch let error as RecordingError {
            throw CommandFailure(.failure, "\(error)")
        } catch let error as CommandFailure {
            throw error
        } catch {
            throw CommandFailure(.failure, "\(error)")
        }
        if gaps > 0 {
            context.tell(
                "\(gaps) recorded offsets are not the ones before plus 1, from 0: "
                    + "offsets in the topic differ from them"
            )
        }
    }

    private mutating func write(
        _ record: RecordedRecord,
        isObject: Bool
    ) throws(CommandFailure) {
        try writer.write(record, isObject: isObject)
        written += 1
        if written % 256 == 0 { showProgress() }
    }

    private mutating func wait(until time: Int64) {
        let (signals, pace) = (signals, pace)
        pace.wait(until: time, unless: { signals?.isStopping ?? false }) {
            writer.push()
            showProgress()
        }
    }

    private mutating func showProgress() {
        // Lines and progress on the same terminal would run into each other.
        guard !context.output.isTerminal else { return }
        let text = totals
        progress.update(text)
    }

    private var isStopping: Bool { signals?.isStopping ?? false }

    private var isDone: Bool {
        isStopping || writer.isDone || options.events.map { written >= $0 } ?? false
    }

    /// What has been written so far, in a line.
    private var totals: String {
        let milliseconds = max(pace.elapsed, 1)
        let tenths = milliseconds / 100
        var text = "\(written) records in \(tenths / 10).\(tenths % 10) s, "
        text += "\(Int64(written) * 1_000 / milliseconds)/s, \(writer.failed) failed"
        if case .traffic(let pattern) = options.origin { text += ", seed \(pattern.seed)" }
        return text
    }
}
