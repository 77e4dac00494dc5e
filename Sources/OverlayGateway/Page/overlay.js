"use strict";

// Puts it all together: events in, rows out, one timer for what is due next.

(() => {
    const settings = readSettings(location.search);
    const board = settings.mode === "lanes" ? new LaneBoard(settings.lanes) : new GiftSequence();
    const stage = document.getElementById("stage");
    const view = new StageView(stage, settings, board.shown().length);
    const clock = new Clock(() => performance.now(), () => Date.now());
    const seen = new SeenCommands();
    let timer = 0;

    /** Takes what is due off the board, shows the rest, and comes back when more is due. */
    function refresh() {
        board.tick(clock.now());
        view.show(board.shown());
        clearTimeout(timer);
        const wait = board.nextDue() - clock.now();
        if (wait < Infinity) {
            timer = setTimeout(refresh, Math.max(0, wait));
        }
    }

    function take(wire, isOld) {
        const command = readCommand(wire, clock);
        if (command !== null && seen.add(command)) {
            board.take(command, clock.now(), isOld);
        }
    }

    function takeSnapshot({ now, combos }) {
        if (isCount(now)) {
            clock.set(now);
        }
        for (const wire of Array.isArray(combos) ? combos : []) {
            take(wire, true);
        }
    }

    /** What an event's data are, or null where they are nothing that can be read. */
    function parse(data) {
        try {
            return JSON.parse(data);
        } catch {
            return null;
        }
    }

    const stream = new EventStream(eventsAddress(settings), (events) => {
        for (const { name, data } of events) {
            const value = parse(data);
            if (name === "snapshot" && value !== null) {
                takeSnapshot(value);
            } else if (name === "command") {
                take(value, false);
            }
        }
        refresh();
    });
    stream.run();
})();
