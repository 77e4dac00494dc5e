import Foundation
import Testing

@testable import OverlayGateway

struct PageTests {
    private static let key = "0123456789abcdef"

    @Test func `the overlay is one page that fetches nothing from elsewhere`() throws {
        let fixture = try GatewayFixture()
        let page = try fixture.get("/overlay?room=r&lanes=3")
        #expect(page.status == 200)
        #expect(page.text.contains("\r\nContent-Type: text/html; charset=utf-8\r\n"))
        for header in [
            "X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer",
            "Cache-Control: no-store",
        ] {
            #expect(page.text.contains("\r\n\(header)\r\n"))
        }
        let policy = try #require(
            page.text.split(separator: "\r\n")
                .first { $0.hasPrefix("Content-Security-Policy: ") }
        )
        for part in [
            "default-src 'none'; ", "; img-src https: http://127.0.0.1:* http://localhost:*; ",
            "; connect-src 'self'; base-uri 'none'; form-action 'none'",
        ] {
            #expect(policy.contains(part))
        }
        for element in ["style", "script"] {
            let range = try #require(page.body.firstRange(of: "<\(element)>"))
            let content = page.body[range.upperBound...].prefix(
                upTo: try #require(page.body.firstRange(of: "</\(element)>")).lowerBound
            )
            let hash = contentHash(Array(content.utf8))
            #expect(policy.contains("\(element)-src 'sha256-\(hash)'"))
        }
        #expect(page.body.matches(of: /(?:src|href)=["']?(?:https?:)?\/\//).isEmpty)
    }

    @Test func `the page holds the files of the repository`() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Sources/OverlayGateway/Page").standardizedFileURL
        let fixture = try GatewayFixture()
        let page = try fixture.get("/overlay?room=r").body
        let index = try fixture.get("/").body
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let file = folder.appendingPathComponent(name)
            let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
            guard !name.hasSuffix(".html") else { continue }
            #expect((name.hasPrefix("index") ? index : page).contains(text), "\(name)")
        }
    }

    @Test(arguments: [
        ("/overlay", 400), ("/events", 400), ("/state?rooms=r", 400), ("/state?room=%FF", 400),
        ("/events?room=%C3", 400), ("/nothing", 404), ("/overlay?room", 200),
        ("/state?room=", 200),
    ])
    func `a request without a room is refused`(path: String, status: Int) throws {
        let fixture = try GatewayFixture()
        #expect(try fixture.get(path).status == status)
    }

    @Test func `with a key every address needs its own signature`() throws {
        let fixture = try GatewayFixture(key: Self.key)
        let signer = LinkSigner(key: Self.key)
        let (room, other) = (RoomID("a/b é"), RoomID("a"))
        for path in ["/overlay", "/state", "/events"] {
            let query = RoomLink.path(of: room, signer: nil).drop { $0 != "?" }
            let right = signer.signature(of: room)
            for wrong in [
                "", "&sig=", "&sig=\(right.dropLast())", "&sig=\(right)0", "&sig=%FF",
                "&sig=\(signer.signature(of: other))", "&sig=\(signer.signatureOfIndex())",
                "&sig=\(right.uppercased())",
            ] {
                #expect(try fixture.get("\(path)\(query)\(wrong)").status == 403, "\(path)\(wrong)")
            }
            let reader = try fixture.open("\(path)\(query)&sig=\(right)")
            #expect(reader.read { $0.status == 200 })
        }
        for (path, status) in [
            ("/", 403), ("/?sig=\(signer.signature(of: RoomID("")))", 403),
            (RoomLink.indexPath(signer: signer), 200), ("/livez", 200), ("/metrics", 200),
        ] {
            #expect(try fixture.get(path).status == status, "\(path)")
        }
    }

    @Test func `signatures are HMAC-SHA256 of the room`() {
        // printf 'room:a/b é' | openssl dgst -sha256 -hmac 0123456789abcdef
        #expect(
            LinkSigner(key: Self.key).signature(of: RoomID("a/b é"))
                == "5f969ededd9f23b5f05e88c2cf7e97855f9d2bde8cd92b9d5ec892477a72bc87"
        )
        // printf abc | openssl dgst -sha256 -binary | base64
        #expect(contentHash(Array("abc".utf8)) == "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=")
    }

    @Test func `the index lists live rooms, and names are text`() throws {
        let fixture = try GatewayFixture(key: Self.key) { $0.indexRooms = 2 }
        let name = "<script>'&"
        for (room, combo) in [(name, "0-1"), (name, "0-2"), ("b", "0-3"), ("c", "0-4")] {
            fixture.topic.write(
                GatewayFixture.live(room: room, combo: combo),
                timestamp: GatewayFixture.now
            )
        }
        let signer = LinkSigner(key: Self.key)
        let path = RoomLink.indexPath(signer: signer)
        #expect(try fixture.await(path) { $0.body.contains("and 1 more") })
        let page = try fixture.get(path)
        #expect(page.body.contains("<bdi>&lt;script&gt;&#39;&amp;</bdi> <span>2 live</span>"))
        let link = RoomLink.path(of: RoomID(name), signer: signer).replacing("&", with: "&amp;")
        #expect(page.body.contains("href=\"\(link)\"") && page.body.contains("src=\"\(link)\""))
        #expect(page.body.contains("<bdi>b</bdi>") && !page.body.contains("<bdi>c</bdi>"))
        #expect(!page.body.contains(name))
    }

    @Test func `a megabyte of headers is refused`() throws {
        let fixture = try GatewayFixture()
        let header = "X: " + String(repeating: "x", count: 1_000_000)
        let reader = try fixture.open("/events?room=r", headers: [header])
        _ = reader.readToEnd()
        #expect([0, 413, 431].contains(reader.status) && reader.isClosed)
        #expect(try fixture.get("/livez").status == 200)
    }
}
