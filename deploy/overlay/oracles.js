"use strict";

// What the page's boards should show, said slowly: everything that was heard is kept, and each
// millisecond is worked out anew from all of it.

/** What a lane shows, from all commands of the lane that were heard. */
class LaneOracle {
    constructor() {
        this.heard = [];
        this.places = [];
    }

    /** The place that a combo has or had last, unless it is on its way out. */
    placeOf(comboID) {
        return this.places.findLast((it) => it.comboID === comboID && it.leaves === undefined);
    }

    take(command, now, isOld) {
        this.heard.push(command);
        const id = command.comboID;
        if (this.placeOf(id) !== undefined || !command.isShown) {
            return;
        }
        if (now > command.hideAt + (isOld ? 0 : 3000)) {
            return;
        }
        const waiting = this.places.filter((it) => it.starts === undefined && !it.isMissed);
        const isFree = this.places.every((it) => it.isMissed || it.gone !== undefined);
        const place = { comboID: id, from: isOld ? command.count : command.from };
        if (isFree) {
            this.places.push({ ...place, starts: now });
        } else if (waiting.length < 20) {
            this.places = this.places.filter((it) => !(it.isMissed && it.comboID === id));
            this.places.push(place);
        } else if (this.places.filter((it) => it.isMissed).length < 999) {
            this.places.push({ ...place, isMissed: true, leaves: null });
            this.unite(id);
        }
    }

    /** A combo without a place is counted once. */
    unite(id) {
        const missed = this.places.filter((it) => it.isMissed && it.comboID === id);
        this.places = this.places.filter((it) => !missed.slice(1).includes(it));
    }

    latest(comboID) {
        return this.heard.findLast((it) => it.comboID === comboID);
    }

    tick(now) {
        const current = this.places.find((it) => it.starts !== undefined && it.gone === undefined);
        if (current === undefined) {
            return;
        }
        if (current.leaves !== undefined) {
            if (now >= current.leaves + 350) {
                current.gone = now;
                this.next(now);
            }
            return;
        }
        const { isShown, hideAt } = this.latest(current.comboID);
        if ((!isShown || now >= hideAt + 1000) && now >= current.starts + 1500) {
            current.leaves = now;
            current.last = this.latest(current.comboID);
        }
    }

    next(now) {
        const waiting = this.places.filter((it) => it.starts === undefined && !it.isMissed);
        if (waiting.length > 0) {
            waiting[0].starts = now;
            waiting[0].from = this.latest(waiting[0].comboID).count;
        }
        if (waiting.length <= 1) {
            this.places = this.places.filter((it) => !it.isMissed);
        }
    }

    shown() {
        const row = this.places.find((it) => it.starts !== undefined && it.gone === undefined);
        const missed = this.places.filter((it) => it.isMissed).length;
        if (row === undefined) {
            return { combo: null, missed };
        }
        const isLeaving = row.leaves !== undefined;
        const { count } = isLeaving ? row.last : this.latest(row.comboID);
        return {
            combo: row.comboID, phase: isLeaving ? "leaving" : "up",
            count, from: row.from, missed,
        };
    }
}

/** What mode `sequence` shows, from all gifts that were heard. */
class SequenceOracle {
    constructor() {
        this.gifts = [];
        this.missed = 0;
    }

    take(command, now, isOld) {
        if (!command.isShown || now > command.hideAt + (isOld ? 0 : 3000)) {
            return;
        }
        const ahead = this.gifts.filter((it) => it.ends === undefined);
        if (ahead.length === 51) {
            this.missed += 1;
            return;
        }
        this.gifts.push({ command, starts: ahead.length === 0 ? now : undefined });
    }

    tick(now) {
        const ahead = this.gifts.filter((it) => it.ends === undefined);
        if (ahead.length === 0 || now - ahead[0].starts < 4000) {
            return;
        }
        ahead[0].ends = now;
        if (ahead.length > 1) {
            ahead[1].starts = now;
        } else {
            this.missed = 0;
        }
    }

    shown() {
        const row = this.gifts.find((it) => it.ends === undefined);
        if (row === undefined) {
            return { combo: null, missed: this.missed };
        }
        const { comboID, count, from } = row.command;
        return { combo: comboID, phase: "up", count, from, missed: this.missed };
    }
}

/** The events of a whole stream that is there all at once: its blocks, by blank lines. */
function eventsOfWhole(text) {
    const events = [];
    let lastID = "";
    for (const block of text.replaceAll("\r\n", "\n").split("\n\n").slice(0, -1)) {
        const fields = block.split("\n").map((line) => {
            const colon = line.indexOf(":");
            return colon < 0 ? [line, ""]
                : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")];
        });
        const all = (name) => fields.filter(([it]) => it === name).map(([, value]) => value);
        lastID = all("id").at(-1) ?? lastID;
        if (all("data").length > 0) {
            events.push({ name: all("event").at(-1) || "message", data: all("data").join("\n") });
        }
    }
    return { events, lastID };
}
