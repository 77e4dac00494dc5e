"use strict";

// Names, numbers and picture addresses as strangers send them, made fit to be shown. What comes out
// is put into the page as text only.

/** Characters of a name that are looked at; a longer one is cut before anything else is done. */
const TEXT_LIMIT = 400;
/** Graphemes of a name that are shown. */
const GRAPHEME_LIMIT = 40;
/** Code units of one grapheme. The longest emoji that fonts know have under 20; piles of combining
 * marks that would run over the rows above and below have more. */
const GRAPHEME_LENGTH_LIMIT = 24;
/** Characters of a picture's address. */
const ADDRESS_LIMIT = 2048;

// Tags stay: flags are spelled with them. So do the joiners, which Persian and emoji need, and the
// marks of one direction, which end with the text that they stand in.
const DANGEROUS = new RegExp(
    "[\\u202A-\\u202E\\u2066-\\u2069" // embeddings, overrides, isolates
    // What nobody sees.
    + "\\u00AD\\u115F\\u1160\\u3164\\uFFA0\\u180E\\u200B\\u2060-\\u2065\\u206A-\\u206F\\uFEFF"
    + "\\uFFF9-\\uFFFB\\u{1BCA0}-\\u{1BCA3}\\u{1D173}-\\u{1D17A}]",
    "gu",
);
const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** A text of any origin as one short line without control characters. */
function cleanText(text) {
    if (typeof text !== "string") {
        return "";
    }
    const isCut = text.length > TEXT_LIMIT;
    const line = text.slice(0, TEXT_LIMIT)
        .replace(/\p{Cs}/gu, "\uFFFD").replace(/[\p{Cc}\s]+/gu, " ").replace(DANGEROUS, "").trim();
    const shown = [];
    for (const { segment } of graphemes.segment(line)) {
        if (shown.length === GRAPHEME_LIMIT) {
            return `${shown.join("").trimEnd()}…`;
        }
        shown.push(cutGrapheme(segment));
    }
    return shown.join("") + (isCut ? "…" : "");
}

/** A grapheme that fits its line: no mountains of combining marks. */
function cutGrapheme(grapheme) {
    if (grapheme.length <= GRAPHEME_LENGTH_LIMIT) {
        return grapheme;
    }
    let cut = "";
    for (const character of grapheme) {
        if (cut.length + character.length > GRAPHEME_LENGTH_LIMIT) {
            break;
        }
        cut += character;
    }
    return cut;
}

/** What stands in the place of a picture: the first grapheme of a clean name, as a capital. */
function firstGrapheme(name) {
    for (const { segment } of graphemes.segment(name)) {
        // Other scripts have capitals too, but few fonts do (Georgian).
        const hasCapitals = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]/u.test(segment);
        return hasCapitals ? segment.toUpperCase() : segment;
    }
    return "★";
}

/** A hue from 0 to 359 that is the same for a name everywhere. */
function hueOf(text) {
    let hash = 2166136261;
    for (let index = 0; index < text.length; index += 1) {
        hash = Math.imul(hash ^ text.charCodeAt(index), 16777619);
    }
    return (hash >>> 0) % 360;
}

/** The address of a picture that may be loaded, else null: https, or http on this machine. */
function pictureAddress(text) {
    if (typeof text !== "string" || text === "" || text.length > ADDRESS_LIMIT) {
        return null;
    }
    let address;
    try {
        address = new URL(text);
    } catch {
        return null;
    }
    if (address.username !== "" || address.password !== "") {
        return null;
    }
    const isLoopback = ["localhost", "127.0.0.1"].includes(address.hostname);
    const isAllowed = address.protocol === "https:" || (address.protocol === "http:" && isLoopback);
    return isAllowed ? address.href : null;
}

/** A count as it stands behind the ×: up to seven digits, above that rounded down with a unit. */
function countText(count) {
    if (count < 1e7) {
        return String(count);
    }
    const [size, unit] = [[1e12, "T"], [1e9, "B"], [1e6, "M"]].find(([least]) => count >= least);
    const units = count / size;
    return (units < 100 ? Math.floor(units * 10) / 10 : Math.floor(units)) + unit;
}
