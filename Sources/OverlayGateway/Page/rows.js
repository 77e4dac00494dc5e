"use strict";

// What is on screen, as elements. Texts go in as text and addresses as picture sources, never as
// markup; the look and the movements are the style's, but for the number that counts.

/** How long a number takes from one count to the next. */
const ROLL_MILLISECONDS = 450;
/** A bounce that is younger than this is left alone by the next one: else a fast burst would never
 * get beyond the first frames. */
const BOUNCE_APART_MILLISECONDS = 120;
const BOUNCE = [
    { transform: "scale(1)" },
    { transform: "scale(1.42)", offset: 0.28, easing: "ease-in-out" },
    { transform: "scale(0.92)", offset: 0.62, easing: "ease-in-out" },
    { transform: "scale(1)" },
];

/** A new element of a class, with what it holds. */
function element(name, className, ...children) {
    const made = document.createElement(name);
    made.className = className;
    made.append(...children);
    return made;
}

/** A name in a box of its own, so that its direction is nobody else's. */
class NameView {
    constructor(className) {
        this.text = element("bdi", "");
        this.text.dir = "auto";
        this.element = element("div", className, this.text);
    }

    set(text) {
        if (this.text.textContent !== text) {
            this.text.textContent = text;
        }
    }
}

/** A picture, over the first grapheme of a name that stands in for it until it is there. */
class PictureView {
    constructor(className) {
        this.letter = element("span", "letter");
        this.element = element("div", className, this.letter);
        this.address = null;
        this.image = null;
    }

    set(address, name, hue) {
        this.letter.textContent = firstGrapheme(name);
        this.element.style.setProperty("--hue", String(hue));
        if (address === this.address) {
            return;
        }
        this.address = address;
        this.image?.remove();
        this.image = address === null ? null : this.load(address);
    }

    load(address) {
        const image = element("img", "");
        image.alt = "";
        image.decoding = "async";
        image.referrerPolicy = "no-referrer";
        image.addEventListener("load", () => image.classList.add("loaded"));
        image.addEventListener("error", () => image.remove());
        image.src = address;
        this.element.append(image);
        return image;
    }
}

/** A number that rolls to its next value and bounces once on the way. */
class CountView {
    constructor(count, isStill) {
        this.isStill = isStill;
        this.digits = element("span", "count");
        this.element = element("div", "number", element("span", "times", "×"), this.digits);
        this.bounce = null;
        this.frame = 0;
        this.put(count);
        this.target = count;
    }

    put(count) {
        this.shown = count;
        this.digits.textContent = countText(count);
    }

    /** Goes on to a count; `isStep` is false for the one that it appears with. */
    roll(count, isStep = true) {
        if (count === this.target) {
            return;
        }
        cancelAnimationFrame(this.frame);
        this.target = count;
        if (this.isStill || count === this.shown + 1) {
            this.put(count);
        } else {
            const from = this.shown;
            const start = performance.now();
            const step = (now) => {
                const passed = Math.min(1, Math.max(0, now - start) / ROLL_MILLISECONDS);
                const share = 1 - (1 - passed) ** 3;
                this.put(passed < 1 ? Math.floor(from + (count - from) * share) : count);
                if (passed < 1) {
                    this.frame = requestAnimationFrame(step);
                }
            };
            this.frame = requestAnimationFrame(step);
        }
        if (isStep && !this.isStill && !(this.bounce?.currentTime < BOUNCE_APART_MILLISECONDS)) {
            this.bounce?.cancel();
            this.bounce = this.element.animate(BOUNCE, { duration: 420, easing: "ease-out" });
        }
    }
}

/** One row: who, what, how many. */
class RowView {
    constructor(row, settings, isStill) {
        this.row = row;
        this.settings = settings;
        this.avatar = new PictureView("avatar");
        this.sender = new NameView("sender");
        this.gift = new NameView("gift");
        this.picture = new PictureView("picture");
        // A combo that begins with a batch counts up from one: nobody gives nothing.
        this.count = new CountView(Math.max(1, row.from), isStill);
        const words = element("div", "words", this.sender.element, this.gift.element);
        const card = element(
            "div", "card", this.avatar.element, words, this.picture.element,
        );
        this.element = element("div", "row", card, this.count.element);
        this.update(false);
    }

    /** Shows what the row has become; `isStep` is false when it appears. */
    update(isStep = true) {
        const { command, phase } = this.row;
        this.element.dataset.phase = phase;
        if (command === this.command) {
            return;
        }
        this.command = command;
        const tier = this.settings.tiers.filter((least) => command.value >= least).length;
        this.element.dataset.tier = String(tier);
        this.element.dataset.combo = command.comboID;
        this.avatar.set(command.avatar, command.sender, command.hue);
        this.sender.set(command.sender);
        this.gift.set(command.gift);
        this.picture.set(command.picture, command.gift || "🎁", hueOf(command.gift));
        this.count.roll(command.count, isStep);
    }
}

/** The place of one lane. */
class LaneView {
    constructor(settings, isStill) {
        this.settings = settings;
        this.isStill = isStill;
        this.view = null;
        this.more = element("span", "more");
        this.element = element("section", "lane", this.more);
    }

    show({ row, missed }) {
        if (this.view !== null && this.view.row === row) {
            this.view.update();
        } else {
            this.view?.element.remove();
            this.view = row && new RowView(row, this.settings, this.isStill);
            if (this.view !== null) {
                this.element.prepend(this.view.element);
            }
        }
        const text = missed > 0 ? `+${missed}` : "";
        if (this.more.textContent !== text) {
            this.more.textContent = text;
        }
    }
}

/** The whole stage. */
class StageView {
    constructor(stage, settings, lanes) {
        const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
        stage.dataset.mode = settings.mode;
        stage.dataset.theme = settings.theme;
        const [vertical, horizontal] = settings.position.split("-");
        stage.dataset.vertical = vertical;
        stage.dataset.horizontal = horizontal;
        const tiers = settings.colors.map((color, tier) => [`--tier-${tier}`, color]);
        const given = { "--ground": settings.card, "--ink": settings.ink, "--soft": settings.ink };
        for (const [name, color] of [...tiers, ...Object.entries(given)]) {
            if (color !== null) {
                stage.style.setProperty(name, color);
            }
        }
        document.documentElement.style.setProperty("--size", String(settings.size));
        this.lanes = Array.from({ length: lanes }, () => new LaneView(settings, isStill));
        stage.replaceChildren(...this.lanes.map((lane) => lane.element));
    }

    show(shown) {
        shown.forEach((state, index) => this.lanes[index].show(state));
    }
}
