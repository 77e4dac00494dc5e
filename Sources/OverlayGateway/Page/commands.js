"use strict";

// Overlay commands as the page uses them, and which of them it has seen already.

/** Combos whose last command is remembered; the one that was heard of longest ago goes first. */
const REMEMBERED_COMBOS = 4096;
/** A command that comes later than this after its row should have gone shows nothing any more. */
const LATE_MILLISECONDS = 3000;

/** The page's clock: milliseconds that never jump, and what they are in the gateway's time. */
class Clock {
    /** `monotonic` and `wall` are two clocks in milliseconds, the second since the epoch. */
    constructor(monotonic, wall) {
        this.monotonic = monotonic;
        this.offset = wall() - monotonic();
    }

    now() {
        return this.monotonic();
    }

    /** Takes over the gateway's time, whatever this machine believes. */
    set(gatewayTime) {
        this.offset = gatewayTime - this.monotonic();
    }

    /** A time of the gateway on this clock. */
    local(time) {
        return time - this.offset;
    }
}

/** Whether a value is a number that counts something. */
function isCount(value) {
    return Number.isFinite(value) && value >= 0;
}

/**
 * A command of the wire with clean texts and local times, or null for what is none. Nothing of the
 * texts as they came is kept, so that a command's size is bounded.
 */
function readCommand(wire, clock) {
    const kinds = ["show", "update", "hide", "end"];
    const isCommand = typeof wire === "object" && wire !== null && kinds.includes(wire.command)
        && typeof wire.combo_id === "string" && wire.combo_id.length <= 64
        && [wire.seq, wire.from, wire.count, wire.at, wire.hide_at, wire.end_at].every(isCount);
    if (!isCommand) {
        return null;
    }
    return {
        isShown: wire.command === "show" || wire.command === "update",
        comboID: wire.combo_id,
        sequence: wire.seq,
        from: wire.from,
        count: wire.count,
        value: isCount(wire.value) ? wire.value : 0,
        lane: isCount(wire.lane) ? Math.floor(wire.lane) : 0,
        at: wire.at,
        endAt: wire.end_at,
        hideAt: clock.local(wire.hide_at),
        hue: hueOf(String(wire.user_id ?? "").slice(0, TEXT_LIMIT)),
        sender: cleanText(wire.user_name) || cleanText(wire.user_id),
        gift: cleanText(wire.gift_name) || cleanText(wire.gift_id),
        avatar: pictureAddress(wire.user_avatar),
        picture: pictureAddress(wire.gift_image),
    };
}

/**
 * Tells commands that are new from those that were seen, by their combo and sequence.
 *
 * A combo's id names a place in a topic, so it comes again where the topic was made anew. The other
 * combo begins after the first one's end; a command that is only repeated never does.
 */
class SeenCommands {
    constructor(limit = REMEMBERED_COMBOS) {
        this.limit = limit;
        this.last = new Map();
    }

    /** Whether a command was not seen; from now on it is. */
    add({ comboID, sequence, at, endAt }) {
        const last = this.last.get(comboID);
        if (last !== undefined && sequence <= last.sequence && at <= last.endAt) {
            return false;
        }
        this.last.delete(comboID);
        this.last.set(comboID, { sequence, endAt });
        if (this.last.size > this.limit) {
            this.last.delete(this.last.keys().next().value);
        }
        return true;
    }
}
