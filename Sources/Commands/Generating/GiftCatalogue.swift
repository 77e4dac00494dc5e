/// The gifts, senders' names and batches that generated traffic is made of.
enum GiftCatalogue {
    /// A gift as a platform sells it.
    struct Gift: Sendable {
        let name: String
        /// Price of one, in the platform's unit.
        let price: Int
        /// Share of the gifts that are sent.
        let popularity: Int
        /// Whether several taps make one combo.
        var streakable = true
    }

    static let gifts = [
        Gift(name: "Rose", price: 1, popularity: 300),
        Gift(name: "小心心", price: 1, popularity: 240),
        Gift(name: "Heart ❤️", price: 5, popularity: 120),
        Gift(name: "棒棒糖", price: 9, popularity: 90),
        Gift(name: "Coffee ☕", price: 10, popularity: 60),
        Gift(name: "啤酒", price: 19, popularity: 50),
        Gift(name: "ドーナツ", price: 30, popularity: 40),
        Gift(name: "Balloon", price: 52, popularity: 30),
        Gift(name: "Букет", price: 66, popularity: 20),
        Gift(name: "왕관", price: 99, popularity: 15),
        Gift(name: "Perfume", price: 199, popularity: 12),
        Gift(name: "煙火", price: 299, popularity: 8),
        Gift(name: "Sports Car", price: 1_200, popularity: 4, streakable: false),
        Gift(name: "火箭", price: 5_000, popularity: 2, streakable: false),
        Gift(name: "Castle", price: 20_000, popularity: 1, streakable: false),
    ]

    /// Units in one message: a tap, or one of the batches that platforms offer.
    static let batches: [(units: Int, popularity: Int)] = [
        (1, 900), (10, 70), (66, 20), (520, 8), (1_314, 2),
    ]

    /// Names in many scripts: wide, right-to-left, combining and joined characters among them.
    static let names = [
        "夜空的貓", "Ana", "小魚兒", "ゆうき", "민지", "Николай", "Zoë", "ณัฐพล", "अनन्या", "محمد",
        "דנה", "Nguyễn Văn", "Jose\u{301}", "Θάλεια", "Łukasz", "👩‍👩‍👧 family", "龍傲天 🐉", "🇹🇼 阿明",
        "さくら🌸", "Max", "தமிழ்", "O'Brien", "ÆON", "李小明", "🧑🏽‍🚀 Star", "Ayşe", "ქეთი", "Հայկ",
        "বাংলা", "ｶﾅ", "Ｗｉｄｅ", "a\u{308}o\u{308}u\u{308}",
    ]
}

/// Draws among choices, each as often as its popularity says.
struct WeightedChoice {
    /// The sum of the weights up to each choice and with it.
    private let bounds: [Int]

    init(_ weights: [Int]) {
        precondition(!weights.isEmpty && weights.allSatisfy { $0 > 0 }, "every choice has a weight")
        var sum = 0
        bounds = weights.map { weight in
            sum += weight
            return sum
        }
    }

    /// The index of a choice.
    func draw(_ random: inout SplitMix64) -> Int {
        let point = random.below(bounds[bounds.count - 1])
        var low = 0
        var high = bounds.count - 1
        while low < high {
            let middle = (low + high) / 2
            if bounds[middle] > point {
                high = middle
            } else {
                low = middle + 1
            }
        }
        return low
    }
}
