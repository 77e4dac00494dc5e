/// A text form of the metrics.
package enum ExpositionFormat: Sendable, CaseIterable {
    /// Prometheus' text format 0.0.4.
    case classic
    /// OpenMetrics 1.0.
    case openMetrics

    /// The HTTP content type of the form.
    package var contentType: String {
        switch self {
        case .classic: "text/plain; version=0.0.4; charset=utf-8"
        case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        }
    }

    /// Chooses what an HTTP `Accept` header prefers: OpenMetrics only where it is asked for by
    /// name, in version 1.0.0 or any, and not less than plain text.
    package init(accept: String?) {
        var openMetrics = 0.0
        var classic = 0.0
        for range in (accept ?? "").split(separator: ",") {
            let parts = range.split(separator: ";").map { trimmed($0).lowercased() }
            let parameter = { (name: String) in
                parts.dropFirst().first { $0.hasPrefix(name + "=") }?.dropFirst(name.count + 1)
            }
            let quality = parameter("q").map { Double($0) ?? 0 } ?? 1
            switch parts.first {
            case "application/openmetrics-text":
                if let version = parameter("version"), version != "1.0.0" { continue }
                openMetrics = max(openMetrics, quality)
            case "text/plain":
                classic = max(classic, quality)
            default:
                continue
            }
        }
        self = openMetrics > 0 && openMetrics >= classic ? .openMetrics : .classic
    }
}

/// Renders metrics as text, in the order given.
///
/// Forms: Prometheus' "Exposition formats" page, and OpenMetrics 1.0, where a family's name goes
/// without `_total` and `_info` and the text ends in `# EOF`.
package func renderExposition(_ families: [FamilySamples], _ format: ExpositionFormat) -> [UInt8] {
    var text = ""
    for entry in families {
        renderHeading(entry.family, format, into: &text)
        for sample in entry.samples {
            render(sample, of: entry.family, into: &text)
        }
    }
    if format == .openMetrics {
        text += "# EOF\n"
    }
    return Array(text.utf8)
}

/// Escapes a backslash and a line feed, and quotes where the text stands between quotes.
func escapedForExposition(_ text: String, quotes: Bool) -> String {
    var escaped = ""
    for character in text.unicodeScalars {
        switch character {
        case "\\": escaped += "\\\\"
        case "\n": escaped += "\\n"
        case "\"" where quotes: escaped += "\\\""
        default: escaped.unicodeScalars.append(character)
        }
    }
    return escaped
}

private func renderHeading(
    _ family: MetricFamily,
    _ format: ExpositionFormat,
    into text: inout String
) {
    switch format {
    case .classic:
        let kind = family.kind == .info ? MetricFamily.Kind.gauge : family.kind
        text += "# HELP \(family.name) \(escapedForExposition(family.help, quotes: false))\n"
        text += "# TYPE \(family.name) \(kind.rawValue)\n"
    case .openMetrics:
        text += "# TYPE \(family.stem) \(family.kind.rawValue)\n"
        if let unit = family.unit {
            text += "# UNIT \(family.stem) \(unit)\n"
        }
        text += "# HELP \(family.stem) \(escapedForExposition(family.help, quotes: true))\n"
    }
}

private func render(_ sample: MetricSample, of family: MetricFamily, into text: inout String) {
    let labels = sample.labelText.isEmpty ? "" : "{\(sample.labelText)}"
    switch sample.reading {
    case .absent:
        return
    case .count(let count):
        text += family.name + labels + " "
        text += decimal(count, negative: false, scale: family.scale) + "\n"
    case .value(let value):
        text += family.name + labels + " "
        text += decimal(value.magnitude, negative: value < 0, scale: family.scale) + "\n"
    case .histogram(let histogram):
        let prefix = sample.labelText.isEmpty ? "" : sample.labelText + ","
        var below: UInt64 = 0
        for (index, count) in histogram.buckets.enumerated() {
            below &+= count
            let bound =
                index < family.bucketMicroseconds.count
                ? "\(Double(family.bucketMicroseconds[index]) / 1e6)" : "+Inf"
            text += "\(family.name)_bucket{\(prefix)le=\"\(bound)\"} \(below)\n"
        }
        text += "\(family.name)_sum\(labels) \(histogram.sumMicroseconds / 1e6)\n"
        text += "\(family.name)_count\(labels) \(below)\n"
    }
}

/// The number that `scaled` stands for, exactly: 1,500 milliseconds are `1.5`.
private func decimal(_ scaled: UInt64, negative: Bool, scale: MetricFamily.Scale) -> String {
    let divisor = UInt64(scale.rawValue)
    let (whole, rest) = scaled.quotientAndRemainder(dividingBy: divisor)
    var digits = (negative ? "-" : "") + String(whole)
    if rest > 0 {
        var fraction = String(String(divisor + rest).dropFirst())
        while fraction.hasSuffix("0") {
            fraction.removeLast()
        }
        digits += "." + fraction
    }
    return digits
}

private func trimmed(_ text: Substring) -> Substring {
    var text = text
    while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    return text
}
