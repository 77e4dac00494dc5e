"use strict";

// Tests of what the page decides, run in a browser by deploy/checks/overlay-page.

const failures = [];

function expect(holds, what) {
    if (!holds && failures.length < 20) {
        failures.push(what);
    }
}

function expectEqual(found, expected, what) {
    const [left, right] = [found, expected].map((it) => JSON.stringify(it));
    expect(left === right, `${what}: ${left} instead of ${right}`);
}

/** Random numbers from 0 to below 1 that a seed repeats (mulberry32). */
function randomNumbers(seed) {
    let state = seed >>> 0;
    return () => {
        state = (state + 0x6d2b79f5) >>> 0;
        let mixed = Math.imul(state ^ (state >>> 15), state | 1);
        mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
        return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
    };
}

/** Commands of combos that come, count, hide, resume and end at random, by millisecond. */
function* randomTraffic(random, { lanes, combos, milliseconds, rate }) {
    const live = new Map();
    let born = 0;
    for (let now = 0; now < milliseconds; now += 1) {
        if (random() >= rate) {
            continue;
        }
        const id = `0-${Math.floor(random() * combos) + born}`;
        const is = live.get(id) ?? { comboID: id, sequence: 0, count: 0, lane: 0, isShown: false };
        const kind = random();
        const isShown = !is.isShown || kind < 0.7;
        const lane = is.sequence ? is.lane : Math.floor(random() * lanes * 2);
        const count = isShown ? is.count + 1 + Math.floor(random() ** 4 * 100) : is.count;
        // Late ones, and hides that are lost, are among them.
        const hideAt = now + 2000 - Math.floor(random() ** 6 * 7000);
        const command = {
            comboID: id, sequence: is.sequence + 1, from: is.count, count, lane, isShown, hideAt,
        };
        live.set(id, command);
        if (!isShown && random() < 0.5) {
            live.delete(id);
            born += 1;
        }
        yield { now, command, isOld: random() < 0.1 };
    }
}

function summary({ row, missed }) {
    return row === null ? { combo: null, missed } : {
        combo: row.command.comboID, phase: row.phase,
        count: row.command.count, from: row.from, missed,
    };
}

/**
 * Drives a board as the page does, only when something comes or is due, and its oracles in every
 * millisecond; what they show must be the same all the time. Now and then nobody drives either, as
 * where a page is hidden.
 */
function compareWithOracles(board, oracles, traffic, random, what) {
    let asleepUntil = 0;
    let now = 0;
    const step = (until) => {
        for (; now <= until; now += 1) {
            if (random() < 0.00005) {
                asleepUntil = now + Math.floor(random() * 9000);
            }
            if (now < asleepUntil) {
                continue;
            }
            oracles.forEach((oracle) => oracle.tick(now));
            if (now >= board.nextDue()) {
                board.tick(now);
            }
            const [found, expected] = [board.shown().map(summary), oracles.map((it) => it.shown())];
            if (JSON.stringify(found) !== JSON.stringify(expected)) {
                expectEqual(found, expected, `${what}, at ${now} ms`);
                return false;
            }
        }
        return true;
    };
    let steps = 0;
    for (const { now: at, command, isOld } of traffic) {
        if (!step(at - 1)) {
            return;
        }
        steps += 1;
        oracles[command.lane % oracles.length].take(command, at, isOld);
        board.take(command, at, isOld);
    }
    // What waits takes its time, but not for ever.
    for (const last = now + 300000; now < last && board.nextDue() < Infinity;) {
        if (!step(now + 1000)) {
            return;
        }
    }
    expect(steps > 10, `${what}: only ${steps} commands`);
    expect(board.nextDue() === Infinity, `${what}: nothing is due at the end`);
}

const tests = {
    "lanes show what the oracle says"(random, seed) {
        for (let round = 0; round < 16; round += 1) {
            const lanes = 1 + Math.floor(random() * 6);
            const traffic = randomTraffic(random, {
                lanes, combos: 2 + Math.floor(random() ** 2 * 120), milliseconds: 16000,
                rate: random() < 0.5 ? 0.004 : 0.03,
            });
            const oracles = Array.from({ length: lanes }, () => new LaneOracle());
            const what = `seed ${seed}, round ${round}`;
            compareWithOracles(new LaneBoard(lanes), oracles, traffic, random, what);
        }
    },

    "the sequence shows what the oracle says"(random, seed) {
        for (let round = 0; round < 6; round += 1) {
            const traffic = randomTraffic(random, {
                lanes: 1, combos: 5, milliseconds: 30000, rate: round % 2 ? 0.001 : 0.006,
            });
            const what = `seed ${seed}, round ${round}`;
            const oracles = [new SequenceOracle()];
            compareWithOracles(new GiftSequence(), oracles, traffic, random, what);
        }
    },

    "a command counts once, also where its topic was made anew"() {
        const seen = new SeenCommands(2);
        const command = (comboID, sequence, at) => ({ comboID, sequence, at, endAt: at + 5000 });
        expect(seen.add(command("0-1", 1, 1000)), "the first is new");
        expect(!seen.add(command("0-1", 1, 1000)), "its repetition is not");
        expect(seen.add(command("0-1", 3, 2000)), "a gap is no reason");
        expect(!seen.add(command("0-1", 2, 1500)), "an earlier one comes too late");
        expect(!seen.add(command("0-1", 1, 1000)), "nor is the first one new now");
        expect(seen.add(command("0-1", 1, 7001)), "the same place in another topic");
        expect(seen.add(command("0-2", 1, 0)) && seen.add(command("0-3", 1, 0)), "others");
        expect(seen.last.size === 2, "what is remembered is bounded");
    },

    "events are taken apart wherever the stream is cut"(random, seed) {
        const pieces = ["data: {}", "data:a: b", "data", ": comment", "id: 0-7#2", "id", "\n", "\n",
            "event: command", "retry: 1000", "data: \u{1F339}", "unknown: x", "id: 0-8#1"];
        for (let round = 0; round < 300; round += 1) {
            const length = Math.floor(random() * 30);
            const lines = Array.from(
                { length }, () => pieces[Math.floor(random() * pieces.length)],
            );
            const end = random() < 0.5 ? "\n" : "\r\n";
            const text = lines.map((line) => (line === "\n" ? end : line + end)).join("");
            const parser = new EventParser();
            const events = [];
            for (let start = 0; start < text.length;) {
                const next = start + 1 + Math.floor(random() * 12);
                events.push(...parser.take(text.slice(start, next)));
                start = next;
            }
            const whole = eventsOfWhole(text);
            expectEqual(events, whole.events, `seed ${seed}, round ${round}`);
            expectEqual(parser.lastID, whole.lastID, `seed ${seed}, round ${round}: id`);
        }
    },

    "an event that never ends is refused"() {
        const parser = new EventParser();
        let isRefused = false;
        try {
            for (let part = 0; part < 100; part += 1) {
                parser.take("x".repeat(1024 * 1024));
            }
        } catch {
            isRefused = true;
        }
        expect(isRefused, "100 MB were taken");
    },

    "names lose what could harm and keep what they are written with"() {
        const cases = [
            ["小魚兒", "小魚兒"], ["  a \t b\n", "a b"], ["a\u0000b\u001b[1m", "a b [1m"],
            ["\u202Egnp.exe", "gnp.exe"], ["a\u2066b\u2069\u200Bc\uFEFF", "abc"],
            ["\u{1F469}\u200D\u{1F467}", "\u{1F469}\u200D\u{1F467}"],
            ["می\u200Cخواهم", "می\u200Cخواهم"], ["\uD83Dx", "\uFFFDx"],
            ["<img src=x onerror=alert(1)>", "<img src=x onerror=alert(1)>"],
            ["x".repeat(10000), `${"x".repeat(40)}…`], ["e" + "\u0301".repeat(5000), null],
            [null, ""], [7, ""], ["\u202E", ""],
        ];
        for (const [given, expected] of cases) {
            const found = cleanText(given);
            expect(found.length <= 40 * 24 + 1, `${JSON.stringify(given).slice(0, 40)} is bounded`);
            if (expected !== null) {
                expectEqual(found, expected, "clean text");
            }
        }
        expect(cleanText("e" + "\u0301".repeat(5000)).length <= 25, "a pile of marks is cut");
        const family = "\u{1F469}\u200D\u{1F469}\u200D\u{1F467}";
        for (const [name, letter] of [
            ["zoë", "Z"], ["夜空", "夜"], [`${family} x`, family], ["ქეთი", "ქ"], ["", "★"],
            ["e\u0301a", "E\u0301"], ["🇹🇼 阿明", "🇹🇼"], ["<b>", "<"],
        ]) {
            expectEqual(firstGrapheme(name), letter, `the letter of ${name}`);
        }
    },

    "only pictures of safe places are loaded"() {
        const good = ["https://a.example/x.png", "http://127.0.0.1:8080/x", "http://localhost/x"];
        const bad = ["", null, 7, "http://a.example/x.png", "javascript:alert(1)", "//a/x", "x.png",
            "data:image/svg+xml,<svg/>", "JaVaScRiPt:1", " javascript:1", "blob:https://a/1",
            "file:///etc/passwd", "http://127.0.0.1.a.example/", "https://user:word@a.example/x",
            `https://a.example/${"x".repeat(3000)}`, "http://localhost@a.example/x"];
        good.forEach((it) => expectEqual(pictureAddress(it), new URL(it).href, "picture"));
        bad.forEach((it) => expectEqual(pictureAddress(it), null, `picture ${it}`));
    },

    "counts fit their place"() {
        for (const [count, text] of [
            [1, "1"], [1314, "1314"], [9999999, "9999999"], [10000000, "10M"],
            [12990000, "12.9M"], [1e9, "1B"], [9223372036854775807, "9223372T"],
        ]) {
            expectEqual(countText(count), text, "count");
        }
    },

    "what is no command is none"() {
        const clock = new Clock(() => 1000, () => 5000);
        const good = {
            command: "show", combo_id: "0-1", seq: 1, from: 0, count: 2, at: 5000, hide_at: 7000,
            end_at: 10000, user_id: "7",
        };
        const read = readCommand(good, clock);
        expectEqual([read.sender, read.hideAt, read.lane, read.value], ["7", 3000, 0, 0], "read");
        clock.set(6000);
        expectEqual(readCommand(good, clock).hideAt, 2000, "by the gateway's clock");
        const bad = [null, 7, "x", [], {}, { ...good, command: "grow" }, { ...good, seq: "1" },
            { ...good, count: -1 }, { ...good, hide_at: null }, { ...good, combo_id: 7 }];
        bad.forEach((it) => expectEqual(readCommand(it, clock), null, JSON.stringify(it)));
        const odd = { ...good, lane: -1, value: "x", user_name: {}, gift_name: ["<b>"] };
        expectEqual(readCommand(odd, clock).lane, 0, "a lane that is none");
    },

    "parameters that make no sense have their default"() {
        const usual = readSettings("?room=r");
        expectEqual([usual.mode, usual.lanes, usual.size, usual.position, usual.theme],
            ["lanes", 2, 1, "bottom-left", "dark"], "defaults");
        const odd = readSettings("?lanes=99&size=x&mode=<b>&position=1&tiers=3,2,1&colors=red");
        expectEqual([odd.room, odd.lanes, odd.size, odd.mode, odd.tiers, odd.colors],
            ["", 6, 1, "lanes", [100, 1000, 10000], [null]], "odd ones");
        const set = readSettings("?mode=sequence&lanes=0&size=2&tiers=1,2,3&colors=fff,,00ff00");
        expectEqual([set.mode, set.lanes, set.size, set.position, set.tiers, set.colors],
            ["sequence", 1, 2, "bottom-center", [1, 2, 3], ["#fff", null, "#00ff00"]], "set ones");
        const colors = readSettings("?card=00000080&ink=12345");
        expectEqual([colors.card, colors.ink], ["#00000080", null], "colours of cards");
        const room = "a/b?c&d=é #";
        const address = eventsAddress(readSettings(`?room=${encodeURIComponent(room)}&sig=0a`));
        expectEqual(new URL(address, "http://h/").searchParams.get("room"), room, "room");
    },

    "waits grow to a limit, and differ"() {
        expectEqual(waitBeforeTry(0, 0), 250, "the first, at least");
        expectEqual(waitBeforeTry(2, 0.999999) > 1999, true, "the third, at most");
        expectEqual(waitBeforeTry(10, 1), 15000, "the longest");
    },
};

/** Runs one of them; what did not hold. */
function runPageTest(name, seed) {
    failures.length = 0;
    tests[name](randomNumbers(seed), seed);
    return failures;
}
