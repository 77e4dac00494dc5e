"use strict";

// Mode `lanes`: each lane shows one combo at a time, until it hides; the others wait in order.
//
//            its turn                    over, and up for long enough
//   waiting ──────────▶ up ─────────────────────────────────────────▶ leaving ──▶ gone
//                        │  ▲
//                        └──┘ update: only the number changes
//
// A combo is over once it was hidden or ended, or once `hideAt` has passed for long enough that the
// command which should have said so must be lost.

/** Combos that wait for a lane at most. */
const WAITING_LIMIT = 20;
/** Combos without a place that a lane tells apart; beyond, their number stands still. */
const MISSED_LIMIT = 999;
/** How long a row stays that was over before, or soon after, its turn came. */
const LEAST_UP_MILLISECONDS = 1500;
/** How long a row takes to go; the style's animation is as long. */
const LEAVING_MILLISECONDS = 350;
/** How long after `hideAt` a row goes by itself. A hide comes a quarter of a second after it. */
const HEAL_MILLISECONDS = 1000;

/** The lanes: who is on screen, who waits. It knows no clock; times come in, in milliseconds. */
class LaneBoard {
    constructor(lanes) {
        /**
         * `row`: what is on screen, null where nothing is: its latest `command`, the number `from`
         * which it counts on, its `phase` (up, leaving) since `since`, whether it `isOver`.
         */
        this.lanes = Array.from({ length: lanes }, () => ({
            row: null, waiting: [], missed: new Set(),
        }));
    }

    /** Takes a command that was not seen before; `isOld` says that it stood in a snapshot. */
    take(command, now, isOld = false) {
        const lane = this.lanes[command.lane % this.lanes.length];
        const known = [lane.row, ...lane.waiting]
            .find((it) => it?.command.comboID === command.comboID && it.phase !== "leaving");
        if (known !== undefined) {
            known.command = command;
            known.isOver = !command.isShown;
        } else if (command.isShown && now <= command.hideAt + (isOld ? 0 : LATE_MILLISECONDS)) {
            this.add(lane, command, now, isOld);
        }
    }

    add(lane, command, now, isOld) {
        const row = { command, from: command.from, phase: "waiting", since: now, isOver: false };
        if (lane.row === null) {
            this.putUp(lane, row, now);
            row.from = isOld ? command.count : command.from;
        } else if (lane.waiting.length < WAITING_LIMIT) {
            lane.waiting.push(row);
            lane.missed.delete(command.comboID);
        } else if (lane.missed.size < MISSED_LIMIT) {
            lane.missed.add(command.comboID);
        }
    }

    putUp(lane, row, now) {
        // It has counted while it waited: the number that is true now needs no way to it.
        row.from = row.command.count;
        row.phase = "up";
        row.since = now;
        lane.row = row;
    }

    /** Moves on what is due. */
    tick(now) {
        for (const lane of this.lanes) {
            if (lane.row === null || now < this.dueOf(lane.row)) {
                continue;
            }
            if (lane.row.phase === "up") {
                lane.row.phase = "leaving";
                lane.row.since = now;
                continue;
            }
            lane.row = null;
            if (lane.waiting.length > 0) {
                this.putUp(lane, lane.waiting.shift(), now);
            }
            if (lane.waiting.length === 0) {
                lane.missed.clear();
            }
        }
    }

    /** When the row on screen goes on by itself. */
    dueOf({ phase, since, isOver, command }) {
        if (phase === "leaving") {
            return since + LEAVING_MILLISECONDS;
        }
        const over = isOver ? 0 : command.hideAt + HEAL_MILLISECONDS;
        return Math.max(over, since + LEAST_UP_MILLISECONDS);
    }

    /** The time at which `tick` is to be called next; Infinity where nothing is on screen. */
    nextDue() {
        return Math.min(...this.lanes.map(({ row }) => (row ? this.dueOf(row) : Infinity)));
    }

    /** What each lane shows: its row, and how many combos found no place. */
    shown() {
        return this.lanes.map(({ row, missed }) => ({ row, missed: missed.size }));
    }
}
