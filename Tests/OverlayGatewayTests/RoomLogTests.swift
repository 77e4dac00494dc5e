import ComboWire
import Testing

@testable import OverlayGateway

struct RoomLogTests {
    private func bytes(_ log: RoomLog, from position: Int64) -> [UInt8] {
        unsafe log.read(from: position) { unsafe Array($0) }
    }

    private func id(_ number: Int) -> CommandID {
        CommandID(partition: 0, offset: Int64(number), sequence: 1)
    }

    @Test func `a reader goes on where it was`() {
        var log = RoomLog()
        log.append(id(1), Array("one".utf8))
        let position = log.end
        log.append(nil, Array(":".utf8))
        log.append(id(2), Array("two".utf8))
        #expect(bytes(log, from: position) == Array(":two".utf8))
        #expect(bytes(log, from: log.end).isEmpty)
        #expect(log.commands == 2 && log.latest == id(2))
    }

    @Test func `the position behind a command is found by its id`() {
        var log = RoomLog()
        for number in 1...3 { log.append(id(number), Array("\(number)".utf8)) }
        log.append(nil, Array(":".utf8))
        let found = log.position(behind: id(2))
        #expect(found?.position == 2 && found?.following == 1)
        #expect(log.position(behind: id(4)) == nil)
        #expect(log.position(behind: CommandID(partition: 0, offset: 2, sequence: 2)) == nil)
    }

    @Test func `the last event stays however long it is`() {
        var log = RoomLog()
        log.append(id(1), Array("a".utf8))
        log.append(id(2), [UInt8](repeating: 0x78, count: 1_000))
        log.trim(to: 10)
        #expect(log.start == 1 && log.count == 1_000)
        #expect(log.position(behind: id(1)) == nil && log.latest == id(2))
    }

    @Test func `heartbeats alone don't make it grow`() {
        var log = RoomLog()
        log.append(id(1), Array("a".utf8))
        for _ in 0..<10_000 {
            log.append(nil, EventText.heartbeat)
            log.trim(to: 100)
        }
        #expect(log.count <= 100 && log.latest == nil)
    }

    @Test(arguments: seeds)
    func `it is the end of an endless text`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var log = RoomLog()
        var all: [UInt8] = []
        var ends: [Int] = []
        let limit = 400
        for number in 0..<4_000 {
            let text = [UInt8](repeating: UInt8(number % 251), count: random.below(90) + 1)
            log.append(id(number), text)
            all += text
            ends.append(all.count)
            if random.below(4) == 0 { log.trim(to: limit) }
            #expect(log.end == Int64(all.count), "seed \(seed)")
            let start = Int(log.start)
            #expect(start == 0 || ends.contains(start), "seed \(seed)")
            let position = start + random.below(all.count - start + 1)
            #expect(bytes(log, from: Int64(position)) == Array(all[position...]), "seed \(seed)")
            let asked = random.below(number + 1)
            let isHeld = ends[asked] > start
            #expect(
                log.position(behind: id(asked))?.position == (isHeld ? Int64(ends[asked]) : nil),
                "seed \(seed)"
            )
        }
        log.trim(to: limit)
        #expect(log.count <= limit)
    }
}
