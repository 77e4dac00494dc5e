extension EngineMeasurement {
    /// Tenths of nanoseconds an event, each round's, the quickest first.
    private func tenths(_ options: EngineBenchmarkOptions) -> [Int] {
        rounds.map { Int($0) * 10 / options.events }.sorted()
    }

    /// Lines for people.
    func text(_ options: EngineBenchmarkOptions) -> String {
        var text = "\(wanted) live combos, seed \(options.seed)\n"
        let tenths = tenths(options)
        if let best = tenths.first {
            text += """
                  \(Self.decimal(tenths[tenths.count / 2], places: 1)) ns an event, best round \
                \(Self.decimal(best, places: 1)) (\(options.rounds) rounds of \(options.events) \
                events after \(warmUpEvents) of warm-up)
                  \(live) combos live on average, \(remembered) keys remembered; an event: \
                \(inputBytes / events) B in, \(Self.decimal(commands * 100 / events, places: 2)) \
                commands, \(outputBytes / events) B out; the state grew by \(grownBytes) B

                """
        } else if options.measuresTime {
            text += "  nothing measured after \(warmUpEvents) events of warm-up\n"
        }
        if options.measuresMemory {
            text += """
                  \(bytesPerLiveCombo) B a live combo, \(bytesPerRememberedKey) B a remembered key

                """
        }
        return text
    }

    /// A line for programs: one JSON object.
    func json(_ options: EngineBenchmarkOptions) -> String {
        var members = ["\"bench\":\"engine\"", "\"seed\":\(options.seed)", "\"live\":\(wanted)"]
        if options.measuresTime {
            members += [
                "\"warm_up_events\":\(warmUpEvents)", "\"round_events\":\(options.events)",
            ]
        }
        let tenths = tenths(options)
        if !tenths.isEmpty {
            let all = tenths.map { Self.decimal($0, places: 1) }
            members += [
                "\"ns_per_event\":\(all[all.count / 2])",
                "\"ns_per_event_rounds\":[\(all.joined(separator: ","))]",
                "\"live_average\":\(live)", "\"remembered\":\(remembered)",
                "\"events\":\(events)", "\"commands\":\(commands)",
                "\"input_bytes\":\(inputBytes)", "\"output_bytes\":\(outputBytes)",
                "\"state_grown_bytes\":\(grownBytes)",
            ]
        }
        if options.measuresMemory {
            members += [
                "\"bytes_per_live_combo\":\(bytesPerLiveCombo)",
                "\"bytes_per_remembered_key\":\(bytesPerRememberedKey)",
            ]
        }
        return "{\(members.joined(separator: ","))}\n"
    }

    /// A number of tenths or hundredths as a decimal fraction.
    private static func decimal(_ number: Int, places: Int) -> String {
        let digits = String(number)
        let padded = String(repeating: "0", count: max(0, places + 1 - digits.count)) + digits
        return "\(padded.dropLast(places)).\(padded.suffix(places))"
    }
}
