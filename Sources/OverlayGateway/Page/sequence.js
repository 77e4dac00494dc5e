"use strict";

// Mode `sequence`: each gift once, one after the other in the order in which they came.

/** How long a gift is on screen: it grows in the first tenth and flies out in the last one. */
const TURN_MILLISECONDS = 4000;
/** Gifts that wait at most: what comes when so many do is only counted. */
const QUEUE_LIMIT = 50;

/** The gift on screen and those that wait. It is driven as a `LaneBoard` is. */
class GiftSequence {
    constructor() {
        this.row = null;
        this.waiting = [];
        this.missed = 0;
    }

    /**
     * Takes a command that was not seen before. Of a combo in a snapshot (`isOld`) only the latest
     * gift is there, which is shown while the combo would be on screen.
     */
    take(command, now, isOld = false) {
        if (!command.isShown || now > command.hideAt + (isOld ? 0 : LATE_MILLISECONDS)) {
            return;
        }
        if (this.row === null) {
            this.putUp(command, now);
        } else if (this.waiting.length < QUEUE_LIMIT) {
            this.waiting.push(command);
        } else {
            this.missed += 1;
        }
    }

    putUp(command, now) {
        this.row = { command, from: command.from, phase: "up", since: now };
    }

    /** Moves on what is due. */
    tick(now) {
        if (now < this.nextDue()) {
            return;
        }
        this.row = null;
        if (this.waiting.length > 0) {
            this.putUp(this.waiting.shift(), now);
        } else {
            this.missed = 0;
        }
    }

    /** The time at which `tick` is to be called next; Infinity where nothing is on screen. */
    nextDue() {
        return this.row ? this.row.since + TURN_MILLISECONDS : Infinity;
    }

    /** What is shown, as of a board with one lane. */
    shown() {
        return [{ row: this.row, missed: this.missed }];
    }
}
