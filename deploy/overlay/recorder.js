"use strict";

// Beside the page, from before its first script: writes down what is on screen, frame by frame.

window.recorded = [];

/** The scale and the opacity that an element has in this frame. */
function motionOf(element) {
    const { transform, opacity } = getComputedStyle(element);
    const scale = transform === "none" ? 1 : new DOMMatrix(transform).a;
    return { scale: Math.round(scale * 100) / 100, opacity: Math.round(opacity * 100) / 100 };
}

function lookAtRow(row) {
    const text = (name) => row.querySelector(name).textContent;
    const box = row.getBoundingClientRect();
    return {
        combo: row.dataset.combo,
        sender: text(".sender"),
        gift: text(".gift"),
        count: text(".count"),
        phase: row.dataset.phase,
        tier: Number(row.dataset.tier),
        x: Math.round(box.x),
        y: Math.round(box.y),
        progress: row.getAnimations()[0]?.currentTime ?? 0,
        bounce: motionOf(row.querySelector(".number")).scale,
        ...motionOf(row),
    };
}

/** What each lane shows now. */
function lookAtLanes() {
    return [...document.querySelectorAll(".lane")].map((lane) => ({
        rows: [...lane.querySelectorAll(".row")].map(lookAtRow),
        more: lane.querySelector(".more").textContent,
    }));
}

let lastLook = "";
let lastTime = performance.now();
/** The longest time between two frames since the page was there, milliseconds. */
window.longestGap = 0;

function look() {
    const time = performance.now();
    if (document.querySelector(".lane") !== null) {
        window.longestGap = Math.max(window.longestGap, time - lastTime);
    }
    lastTime = time;
    const lanes = lookAtLanes();
    const text = JSON.stringify(lanes);
    if (text !== lastLook) {
        lastLook = text;
        window.recorded.push({ at: Date.now(), lanes });
    }
    requestAnimationFrame(look);
}

requestAnimationFrame(look);
