// What the agent does, as it changes: one WebSocket for state, receipts and transcripts. It also notices a network that
// stands still, which no WebSocket tells by itself.

import { get } from "./api.js";
import { Link } from "./link.js";

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

  constructor() {
    super();
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
      this.#lost(0, "");
      this.#tell("stalled");
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
    if (event === "transition") this.#transition(message);
    else if (event === "exit") this.#transition({ ...(this.now ?? {}), prev: this.now?.next, next: "exited", exit: message, prompt: null, cause: "process" });
    else if (event !== "pong") this.#tell(event, message);
  }

  #transition(message) {
    const first = this.now === null;
    if (first || this.now.next !== message.next) this.since = { at: Date.now(), exact: !first };
    this.now = message;
    this.#tell("transition", message);
    if (first) this.#age();
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
