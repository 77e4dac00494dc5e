"use strict";

// The room's stream of events. It is read by `fetch`, as an EventSource gives up at the first
// answer but 200, waits the same time whatever happens, and can't tell silence from a dead line.

/** The first and the longest wait before the stream is asked for again; half of it is by chance. */
const FIRST_WAIT_MILLISECONDS = 500;
const LONGEST_WAIT_MILLISECONDS = 15000;
/** A line is dead that says nothing for so long: the gateway comments every 15 s. */
const SILENCE_MILLISECONDS = 40000;
/** Characters of one event, and what comes with it; a room's snapshot has the most. */
const EVENT_LIMIT = 64 * 1024 * 1024;

/** Takes a stream of events apart, as the HTML standard says (section 9.2.6), as far as it goes. */
class EventParser {
    constructor(lastID = "") {
        /** The id of the last event that is complete: where a later stream has to go on. */
        this.lastID = lastID;
        this.rest = [];
        this.restLength = 0;
        this.clear();
    }

    clear() {
        this.name = "";
        this.data = [];
        this.id = this.lastID;
    }

    /** Takes some text; the events that are complete with it, as `{ name, data }`. */
    take(text) {
        const end = text.lastIndexOf("\n");
        this.restLength += text.length;
        if (this.restLength > EVENT_LIMIT) {
            throw new Error("an event is too long");
        }
        if (end < 0) {
            this.rest.push(text);
            return [];
        }
        const lines = (this.rest.join("") + text.slice(0, end)).split("\n");
        this.rest = [text.slice(end + 1)];
        this.restLength = this.rest[0].length;
        const events = [];
        for (const line of lines) {
            this.takeLine(line.endsWith("\r") ? line.slice(0, -1) : line, events);
        }
        return events;
    }

    takeLine(line, events) {
        if (line === "") {
            this.lastID = this.id;
            if (this.data.length > 0) {
                events.push({ name: this.name || "message", data: this.data.join("\n") });
            }
            this.clear();
            return;
        }
        const [, field, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line);
        if (field === "event") {
            this.name = value;
        } else if (field === "data") {
            this.data.push(value);
        } else if (field === "id" && !value.includes("\0")) {
            this.id = value;
        }
    }
}

/** The time to wait before the next try, after so many that brought nothing. */
function waitBeforeTry(failures, chance) {
    const longest = Math.min(LONGEST_WAIT_MILLISECONDS, FIRST_WAIT_MILLISECONDS * 2 ** failures);
    return longest * (0.5 + chance / 2);
}

/** Reads the stream for ever; what comes is told to `onEvents`, a list at a time. */
class EventStream {
    constructor(address, onEvents) {
        this.address = address;
        this.onEvents = onEvents;
        this.lastID = "";
        this.failures = 0;
    }

    async run() {
        for (;;) {
            try {
                await this.read();
            } catch (error) {
                console.warn(`giftcombo: the events broke off: ${error.message}`);
            }
            const wait = waitBeforeTry(this.failures, Math.random());
            this.failures = Math.min(this.failures + 1, 10);
            await new Promise((done) => setTimeout(done, wait));
        }
    }

    async read() {
        const abort = new AbortController();
        let watch = 0;
        const heard = () => {
            clearTimeout(watch);
            watch = setTimeout(() => abort.abort(new Error("silence")), SILENCE_MILLISECONDS);
        };
        const headers = { Accept: "text/event-stream" };
        if (this.lastID !== "") {
            headers["Last-Event-ID"] = this.lastID;
        }
        heard();
        try {
            const options = { headers, signal: abort.signal, cache: "no-store" };
            const answer = await fetch(this.address, options);
            if (!answer.ok) {
                throw new Error(`status ${answer.status}`);
            }
            const parser = new EventParser(this.lastID);
            const decoder = new TextDecoder();
            const reader = answer.body.getReader();
            for (;;) {
                const { done, value } = await reader.read();
                if (done) {
                    return;
                }
                heard();
                const events = parser.take(decoder.decode(value, { stream: true }));
                this.lastID = parser.lastID;
                if (events.length > 0) {
                    this.failures = 0;
                    this.onEvents(events);
                }
            }
        } finally {
            clearTimeout(watch);
            abort.abort();
        }
    }
}
