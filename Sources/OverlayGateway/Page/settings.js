"use strict";

// What the page's address asks for. A parameter that is absent or makes no sense has its default.

/** How much a row's value must be for each tier above the lowest, in the platform's unit. */
const USUAL_TIERS = [100, 1000, 10000];

/** One of the words that are allowed, the first of them else. */
function oneOf(words, given) {
    return words.includes(given) ? given : words[0];
}

/** A number between two bounds, the usual one where `given` is none. */
function numberWithin(low, high, usual, given) {
    const number = given === null || given.trim() === "" ? NaN : Number(given);
    return Number.isFinite(number) ? Math.min(high, Math.max(low, number)) : usual;
}

/** Three values that rise, for the tiers; the usual ones where `given` is anything else. */
function readTiers(given) {
    const values = (given ?? "").split(",").map((text) => (/^\d{1,15}$/.test(text) ? +text : NaN));
    const rise = values.every((value, index) => value > (index ? values[index - 1] : 0));
    return values.length === USUAL_TIERS.length && rise ? values : USUAL_TIERS;
}

/** A colour, hexadecimal without the `#`, with or without two digits more for how opaque it is. */
function readColor(given) {
    return /^(?:[0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8})$/i.test(given ?? "") ? `#${given}` : null;
}

/** The tiers' colours, lowest first, null where none is given. */
function readColors(given) {
    return (given ?? "").split(",").slice(0, USUAL_TIERS.length + 1).map(readColor);
}

/** The settings that a query (`?room=…&mode=…`) gives. */
function readSettings(search) {
    const query = new URLSearchParams(search);
    const mode = oneOf(["lanes", "sequence"], query.get("mode"));
    const usualPlace = mode === "lanes" ? "bottom-left" : "bottom-center";
    const places = ["top", "middle", "bottom"]
        .flatMap((row) => ["left", "center", "right"].map((column) => `${row}-${column}`));
    return {
        room: query.get("room") ?? "",
        signature: query.get("sig"),
        mode,
        lanes: Math.floor(numberWithin(1, 6, 2, query.get("lanes"))),
        size: numberWithin(0.5, 3, 1, query.get("size")),
        position: oneOf([usualPlace, ...places], query.get("position")),
        theme: oneOf(["dark", "light", "clear"], query.get("theme")),
        tiers: readTiers(query.get("tiers")),
        colors: readColors(query.get("colors")),
        card: readColor(query.get("card")),
        ink: readColor(query.get("ink")),
    };
}

/** The address of a room's events, as it stands behind the page's folder. */
function eventsAddress(settings) {
    const query = new URLSearchParams({ room: settings.room });
    if (settings.signature !== null) {
        query.set("sig", settings.signature);
    }
    return `events?${query}`;
}
