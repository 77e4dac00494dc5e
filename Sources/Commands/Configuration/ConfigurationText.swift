/// The configuration and its table as text: `--print-config`, `help config`, the README's table.
package enum ConfigurationText {
    /// Every value in force with its source, as a `.properties` file; secrets are hidden.
    package static func properties(of loaded: LoadedConfiguration) -> String {
        var text = ""
        for setting in loaded.settings {
            guard let value = setting.value else {
                text += "# \(setting.key): \(defaultWords(of: setting.key))\n"
                continue
            }
            let shown = ConfigurationTable.isSecret(setting.key) ? hiddenSecret : value
            text += "# \(setting.source)\n"
            text += PropertiesFile.line(key: setting.key, value: shown) + "\n"
        }
        return text
    }

    /// The table as the README shows it, in Markdown.
    package static func markdownTable() -> String {
        var text = "| key | default | allowed | meaning |\n| --- | --- | --- | --- |\n"
        for row in rows() {
            let key = "`\(row.key)`"
            let value = row.isLiteral ? "`\(row.defaultWords)`" : markdown(row.defaultWords)
            text += "| \(key) | \(value) | \(markdown(row.allowed)) | \(markdown(row.meaning)) |\n"
        }
        return text
    }

    /// The table as `help config` prints it.
    package static func helpText() -> String {
        var text = """
            Later ones win: the file of -c (.properties), environment variables, --set.
            combo.hide.after is GIFTCOMBO_COMBO_HIDE_AFTER in the environment: an underscore for
            a dot, two for an underscore. A secret X is read from a file by X.file=PATH.


            """
        for row in rows() {
            text += "\(row.key) (default: \(row.defaultWords))\n"
            text += "    \(row.meaning)\n"
            text += "    allowed: \(row.allowed)\n"
        }
        return text
    }

    private struct Row {
        var key: String
        var defaultWords: String
        /// Whether the default can be given as it stands there.
        var isLiteral = false
        var allowed: String
        var meaning: String
    }

    private static func rows() -> [Row] {
        [
            Row(
                key: ConfigurationTable.bootstrapServers,
                defaultWords: "none, required",
                allowed: "comma-separated list of HOST:PORT",
                meaning: "brokers to start from"
            ),
            Row(
                key: "kafka.<name>",
                defaultWords: "librdkafka's, or what exactly once needs",
                allowed: "what librdkafka allows",
                meaning: "any other setting of librdkafka"
            ),
        ]
            + ConfigurationTable.keys.map { key in
                Row(
                    key: key.name,
                    defaultWords: defaultWords(of: key.name),
                    isLiteral: isLiteral(key.defaultValue),
                    allowed: key.allowed,
                    meaning: key.meaning
                )
            }
    }

    private static func defaultWords(of name: String) -> String {
        switch ConfigurationTable.key(named: name)?.defaultValue {
        case .text(let text): text
        case .derived(let meaning, _): meaning
        case nil, .some(.none): "none"
        }
    }

    private static func isLiteral(_ value: ConfigurationKey.Default) -> Bool {
        if case .text = value { true } else { false }
    }

    /// A table cell: what Markdown would take for a tag or a new cell is escaped.
    private static func markdown(_ text: String) -> String {
        text.replacing("|", with: "\\|").replacing("<", with: "\\<")
    }
}
