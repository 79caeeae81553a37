// What the agent does, as it changes: one WebSocket for state, receipts and transcripts. It asks for what it missed while it
// was away, and notices a network that stands still, which no WebSocket tells by itself.

import { get } from "./api.js";
import { Link } from "./link.js";
import { isSame, meet } from "./met.js";

/** How often a silent connection is asked whether it lives, and how long it may take to say so, in milliseconds. */
const PING_EVERY_MS = 10_000;
const PONG_MS_MAX = 5_000;

export class State extends EventTarget {
  /** The last transition, `null` before the first. */
  now = null;
  /** When the state began, as far as it was seen; `exact` unless it was so before we came. */
  since = { at: Date.now(), exact: false };
  #ping = null;
  #pong = null;
  /** The coop that is followed, and the event up to which all were heard. */
  #met = null;
  #heard = 0;
  /** Of this connection: whether it is known what was missed before it, its last event, and its last state. */
  #caughtUp = false;
  #latest = 0;
  #told = -1;

  constructor() {
    super();
    // The present state first, whoever answers; what was missed is asked for when it is known that it is the same coop.
    this.link = new Link("ws?subscribe=state", {
      opened: () => this.#opened(),
      message: (data) => this.#message(JSON.parse(data)),
      lost: (code, reason) => this.#lost(code, reason),
    });
  }

  start() {
    this.link.restart();
  }

  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  #opened() {
    this.#listen();
    [this.#caughtUp, this.#latest, this.#told] = [false, 0, -1];
    this.link.say({ event: "get:status" });
  }

  /** Goes on where the last connection ended, if that is the same coop: the numbers of another one mean other things. */
  #meet(status) {
    const before = this.#met;
    this.#met = meet(status, Date.now());
    this.#caughtUp = true;
    if (before && isSame(before, this.#met)) return this.link.say({ event: "subscribe", subscribe: ["state"], after_seq: this.#heard });
    this.#heard = this.#latest;
    if (!before) return;
    this.#tell("missed");
    this.#begin();
    this.#tell("another", status);
  }

  /** Something was heard: the next silence is counted from now. */
  #listen() {
    clearTimeout(this.#ping);
    clearTimeout(this.#pong);
    this.#ping = setTimeout(() => this.probe(), PING_EVERY_MS);
  }

  /** Asks for a sign of life; without one the connection counts as lost. */
  probe() {
    if (!this.link.say({ event: "ping" })) return;
    clearTimeout(this.#pong);
    this.#pong = setTimeout(() => {
      this.link.restart();
      this.#tell("stalled");
      this.#lost(0, "");
    }, PONG_MS_MAX);
  }

  #lost(code, reason) {
    clearTimeout(this.#ping);
    clearTimeout(this.#pong);
    this.#tell("lost", { code, reason });
  }

  #message(message) {
    this.#listen();
    this.link.settled();
    const { event } = message;
    if (event === "status") return this.#meet(message);
    // It is told again, or is another coop's.
    if (event === "receipt" && !this.#caughtUp) return;
    this.#latest = Math.max(this.#latest, message.seq ?? 0);
    if (this.#caughtUp) this.#heard = Math.max(this.#heard, message.seq ?? 0);
    if (event === "transition") this.#transition(message);
    else if (event === "exit") this.#transition({ ...(this.now ?? {}), prev: this.now?.next, next: "exited", exit: message, seq: message.seq, prompt: null, cause: "process" });
    // A part of what was missed is not held any more.
    else if (event === "gap") this.#tell("missed");
    else if (event !== "pong") this.#tell(event, message);
  }

  #transition(message) {
    // What led to a state that was told is history.
    if (message.seq <= this.#told) return;
    this.#told = message.seq;
    const first = this.now === null;
    if (!first && this.now.next !== message.next) this.since = { at: Date.now(), exact: true };
    this.now = message;
    this.#tell("transition", message);
    if (first) this.#begin();
  }

  /** The state was there before we came. */
  #begin() {
    this.since = { at: Date.now(), exact: false };
    this.#age();
  }

  /** The evidence of a state that was there before us says for how long at least. */
  async #age() {
    const before = this.since;
    try {
      const { evidence } = await get("agent/state?explain=true");
      const age = evidence.find((one) => one.decisive)?.age_ms ?? 0;
      if (before === this.since) this.since = { at: Date.now() - age, exact: false };
    } catch {
      // A program without a driver has no evidence.
    }
  }
}
