// The terminal: xterm.js over the Attach call. Painted once when it joins, then every byte as it comes.

import { Terminal } from "./vendor/xterm.mjs";
import { Unicode11Addon } from "./vendor/addon-unicode11.mjs";
import { byId, safeLink } from "./dom.js";
import { Link } from "./link.js";
import { contrast, palette } from "./palette.js";
import { answerNothing } from "./quiet.js";
import { withSheets } from "./sheets.js";

const FONT = 'ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace';

/** Sizes of the letters in pixels: on a desk, on a phone, and the smallest to which a larger terminal is shrunk. */
const LETTER_PX = 13;
const LETTER_PX_PHONE = 11;
const LETTER_PX_MIN = 5;

/** Rows kept above the screen. */
const SCROLLBACK_ROWS = 5000;

/** Output that xterm.js has not drawn yet, at most: a browser that is slower leaves, and joins anew when all of it is drawn. */
const BEHIND_BYTES_MAX = 8 * 1024 * 1024;

/** What is typed meanwhile is sent then: at most so many keys, more than anybody presses in that time. */
const UNSENT_MAX = 256;

/** Sizes that are dragged through are not sent, in milliseconds. */
const SETTLE_MS = 120;

/** Below this the session is left as it is: a window that small shows a part of it. */
const COLS_MIN = 20;
const ROWS_MIN = 4;

/** What the dock takes up at rest for messages, in pixels; see `.composer` and its box in parts.css. */
const COMPOSER_PX = 54;
const BOX_PX = 34;

/** And for receipts, once there are any: two rows of them; see receipts.js. */
const RECEIPTS_PX = 40;

/** Whether somebody waits for what becomes of a message or an answer. */
const isSending = () => byId("receipts").querySelector("[data-phase=sending]") !== null;

export class Screen {
  view = false;
  fit = true;
  /** Whether what is typed is let fall, because the connection is lost. */
  isAway = false;
  #behind = 0;
  /** What was typed since it left because it was behind; `null` while it is not. */
  #unsent = null;
  #joined = false;
  /** The size that was asked for; empty while it was none. */
  #asked = "";
  #settle = null;
  #plain = new Map();
  #encoder = new TextEncoder();

  /** `heard`: joined(), lost(code, reason), failed(message), titled(text), sized(cols, rows), ended() for one beside the
   * session's own, which `side` names. `onType` may change what is typed. */
  constructor(heard, side) {
    this.heard = heard;
    this.side = side;
    this.onType = (text) => text;
    this.stage = byId("stage");
    this.terminal = new Terminal({
      allowProposedApi: true,
      fontFamily: FONT,
      fontSize: this.#letters(),
      scrollback: SCROLLBACK_ROWS,
      cursorBlink: false,
      linkHandler: { activate: (_, text) => safeLink(text) && window.open(safeLink(text), "_blank", "noopener,noreferrer") },
    });
    this.terminal.loadAddon(new Unicode11Addon());
    this.terminal.unicode.activeVersion = "11";
    answerNothing(this.terminal);
    withSheets(() => this.terminal.open(byId("terminal")));
    this.terminal.onData((text) => this.#send(this.#encoder.encode(this.onType(text))));
    this.terminal.onBinary((text) => this.#send(Uint8Array.from(text, (char) => char.charCodeAt(0))));
    this.terminal.onRender(() => this.#covered() > 0 && this.#reveal());
    this.terminal.onTitleChange((title) => this.heard.titled(title));
    this.link = new Link("api/v1/attach", {
      opened: () => this.#hello(),
      message: (data) => this.#message(data),
      lost: (code, reason) => {
        this.#joined = false;
        if (this.#unsent?.length) this.#complain();
        this.#unsent = null;
        this.heard.lost(code, reason);
      },
    });
    document.addEventListener("visibilitychange", () => document.hidden || this.#resized());
    // Who marks text to copy it is left in peace.
    this.stage.addEventListener("click", () => this.terminal.hasSelection() || this.use());
    new ResizeObserver(() => this.#settled()).observe(this.stage, { box: "border-box" });
  }

  /** Whether it is joined, or will be as soon as what it was given is drawn. */
  get isConnected() {
    return this.link.isOpen || this.#unsent !== null;
  }

  /** Somebody does something in this window, so that its size is the one that counts. */
  use() {
    this.#asked = "";
    this.#claim();
  }

  start(view) {
    this.view = view;
    this.terminal.options.disableStdin = view;
    this.#joined = false;
    this.#unsent = null;
    this.link.restart();
  }

  colours(dark) {
    this.terminal.options.theme = palette(dark);
    this.terminal.options.minimumContrastRatio = contrast(dark);
  }

  focus() {
    this.terminal.focus();
  }

  /** Turns the rows into text that screen readers follow, or back; it costs time with every byte. */
  readAloud() {
    this.terminal.options.screenReaderMode = !this.terminal.options.screenReaderMode;
  }

  /** Types as if it came from the keyboard. */
  type(text) {
    if (!this.view) this.#send(this.#encoder.encode(text));
  }

  get applicationCursor() {
    return this.terminal.modes.applicationCursorKeysMode;
  }

  /** Not while something is on its way into the terminal, where another size would draw all of it anew. */
  #settled() {
    clearTimeout(this.#settle);
    this.#settle = setTimeout(() => (isSending() ? this.#settled() : this.#resized()), SETTLE_MS);
  }

  /** The window has another size, or is looked at again. */
  #resized() {
    this.#zoom();
    if (!document.hidden) this.#claim();
  }

  /** Asks for the size of this window. Whether the session takes it is decided there: others may look too. */
  #claim() {
    if (this.view || !this.fit || !this.#joined) return;
    const { cols, rows } = this.#measure();
    if (this.#asked === `${cols}x${rows}`) return;
    this.#asked = `${cols}x${rows}`;
    this.link.say({ event: "resize", cols, rows });
  }

  #hello() {
    // One that nobody looks at comes back by itself, and must not take the size from those who do.
    const size = this.view || !this.fit || document.hidden ? {} : this.#measure();
    this.#asked = size.cols ? `${size.cols}x${size.rows}` : "";
    this.link.say({ event: "hello", ...size, view: this.view, answers: false, ...(this.side && { terminal: this.side }) });
    for (const bytes of this.#unsent ?? []) this.link.send(bytes);
    this.#unsent = null;
  }

  #message(data) {
    if (data instanceof ArrayBuffer) return this.#paint(new Uint8Array(data));
    const message = JSON.parse(data);
    if (message.event === "ready") {
      this.link.settled();
      this.#joined = true;
      this.#inOrder(() => this.terminal.reset());
      this.#sized(message);
      this.heard.joined();
    }
    if (message.event === "resize") this.#sized(message);
    if (message.event === "error") this.heard.failed(message.message);
    // After the last words, which are still being drawn.
    if (message.event === "exit" && this.side) this.#inOrder(() => this.heard.ended());
  }

  #paint(bytes) {
    if (this.#behind > 0 && this.#behind + bytes.length > BEHIND_BYTES_MAX) return this.#fallBehind();
    this.#behind += bytes.length;
    this.terminal.write(bytes, () => (this.#behind -= bytes.length));
  }

  /** What xterm.js was given it draws to the end: nobody can take it back. Only then it is of use to be painted anew. */
  #fallBehind() {
    this.#joined = false;
    this.#unsent = [];
    this.link.pause();
    this.#inOrder(() => this.link.resume());
  }

  /** xterm.js draws later than it is told to; what belongs between two pieces of output waits its turn. */
  #inOrder(act) {
    this.terminal.write("", act);
  }

  #sized({ cols, rows }) {
    this.#inOrder(() => {
      this.terminal.resize(cols, rows);
      this.#zoom();
      this.heard.sized(cols, rows);
    });
  }

  #send(bytes) {
    if (this.view || bytes.length === 0) return;
    if (this.#unsent && this.#unsent.length < UNSENT_MAX) return this.#unsent.push(bytes);
    if (this.isAway) return;
    // Who types looks at it.
    if (!this.#asked) this.#claim();
    if (!this.link.send(bytes)) this.#complain();
  }

  #complain() {
    this.heard.failed("not connected: what you typed was not sent");
  }

  #letters() {
    return matchMedia("(max-width: 700px)").matches ? LETTER_PX_PHONE : LETTER_PX;
  }

  /** Width and height of one cell, for letters of one pixel. */
  #cell() {
    const box = this.terminal.element.querySelector(".xterm-screen").getBoundingClientRect();
    const px = this.terminal.options.fontSize;
    return { width: box.width / this.terminal.cols / px, height: box.height / this.terminal.rows / px };
  }

  /** The same where letters have their own size: browsers round cells, so that those of shrunk letters would fit otherwise. */
  #plainCell() {
    const px = this.#letters();
    if (this.terminal.options.fontSize === px) this.#plain.set(px, this.#cell());
    return this.#plain.get(px) ?? this.#cell();
  }

  /** How many cells this window has room for. */
  #measure() {
    const cell = this.#plainCell();
    const room = this.#room();
    const fits = (space, one, least) => Math.max(least, Math.floor(space / (one * this.#letters())));
    return { cols: fits(room.width, cell.width, COLS_MIN), rows: fits(room.height, cell.height, ROWS_MIN) };
  }

  #room() {
    const style = getComputedStyle(this.stage);
    const across = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight);
    const down = parseFloat(style.paddingTop) + parseFloat(style.paddingBottom);
    // With the place of scroll bars: they come and go with the size that others give the session, which is no reason to ask for another.
    return { width: this.stage.offsetWidth - across, height: this.stage.offsetHeight + this.#covered() - down };
  }

  /** Dialogs and long messages lie before the lower rows for a while: the session is not sized anew for that. */
  #covered() {
    const cards = byId("card").offsetHeight + byId("ended").offsetHeight;
    const isFirst = isSending() && byId("receipts").children.length === 1;
    const lines = byId("trouble").offsetHeight + Math.max(0, byId("receipts").offsetHeight - (isFirst ? 0 : RECEIPTS_PX));
    if (cards > 0) return lines + cards - (document.body.classList.contains("talks") ? COMPOSER_PX : 0);
    return lines + Math.max(0, byId("message").offsetHeight - BOX_PX);
  }

  /** Beside a dialog, the last rows that hold something are those that matter. */
  #reveal() {
    if (this.#covered() <= 0) return (this.stage.scrollTop = 0);
    const { baseY, cursorY } = this.terminal.buffer.active;
    let last = this.terminal.rows - 1;
    while (last > cursorY && !this.terminal.buffer.active.getLine(baseY + last)?.translateToString(true)) last -= 1;
    const height = this.#cell().height * this.terminal.options.fontSize;
    this.stage.scrollTop = (last + 2) * height - this.stage.clientHeight;
  }

  /** A terminal that is larger than the window is shown smaller, as far as it can be read. */
  #zoom() {
    const { cols, rows } = this.terminal;
    const cell = this.#cell();
    if (!cell.width || !cell.height) return;
    const room = this.#room();
    const px = Math.min(room.width / (cols * cell.width), room.height / (rows * cell.height), this.#letters());
    const size = Math.max(LETTER_PX_MIN, Math.floor(px * 4) / 4);
    if (size !== this.terminal.options.fontSize) this.terminal.options.fontSize = size;
    this.#reveal();
  }
}
