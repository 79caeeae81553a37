// A small live picture of a box's screen. Drawn while it is seen, a few times in a second at most: the next one is asked
// for when the last is drawn and the program has printed more.

import { h, show } from "../dom.js";
import { Link } from "../link.js";
import { drawRow } from "./ansi.js";

/** Between two pictures, in milliseconds. */
const BETWEEN_MS = 300;

/** How long one question for more waits, in milliseconds: as long as the contract allows. */
const WAIT_MS = 600_000;

/** An answer that came sooner was none: the program has ended, and prints no more. */
const TOO_SOON_MS = 1_000;

/** What is seen is as wide as the text on it, in steps of so many columns: a short text is not drawn too small to be read. */
const COLS_STEP = 20;
const COLS_MIN = 60;

export class Picture {
  #rows = [];
  #drawn = [];
  #timer = null;
  #on = false;

  /** Draws into `element`, until the signal. */
  constructor(name, element, isDark, signal) {
    this.element = element;
    this.isDark = isDark;
    this.link = new Link(`box/${encodeURIComponent(name)}/ws?subscribe=state`, {
      opened: () => this.#ask(),
      message: (data) => this.#message(JSON.parse(data)),
      lost: () => clearTimeout(this.#timer),
    }, signal);
    signal.addEventListener("abort", () => clearTimeout(this.#timer));
  }

  /** Whether somebody sees it and there is something to see. */
  see(on) {
    if (on === this.#on) return;
    this.#on = on;
    clearTimeout(this.#timer);
    if (on) this.link.start();
    else this.link.stop();
  }

  /** Draws all of it anew, in other colours. */
  redraw() {
    this.#drawn = [];
    this.#draw();
  }

  #ask() {
    this.link.say({ event: "screen:get", request_id: "screen", format: "ansi", cursor: false });
  }

  #message(message) {
    if (message.event === "screen") {
      this.link.settled();
      this.#rows = message.lines;
      this.#draw();
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#wait(message.offset), BETWEEN_MS);
    } else if (message.event === "wait:result") {
      if (message.matched || message.elapsed_ms > TOO_SOON_MS) this.#ask();
    } else if (message.event === "transition" && message.prev !== message.next) this.#ask();
  }

  #wait(offset) {
    this.link.say({ event: "wait", request_id: "more", offset: offset + 1, timeout_ms: WAIT_MS });
  }

  /** Rows that are as they were are left alone; those below the last text are not drawn. */
  #draw() {
    const last = this.#rows.findLastIndex((row) => row.trim() !== "");
    const rows = this.#rows.slice(0, last + 1);
    const { children } = this.element;
    while (children.length > rows.length) this.element.lastChild.remove();
    while (children.length < rows.length) this.element.append(h("div"));
    rows.forEach((row, i) => {
      if (this.#drawn[i] === row) return;
      show(children[i], drawRow(row, this.isDark()));
    });
    this.#drawn = rows;
    const longest = Math.max(0, ...[...children].map((row) => row.textContent.trimEnd().length));
    this.element.style.setProperty("--cols", String(Math.max(COLS_MIN, Math.ceil(longest / COLS_STEP) * COLS_STEP)));
  }
}
