// All boxes as they come, change and go: one stream, which is opened again when it is lost.

import { follow, get } from "../api.js";

/** Between two attempts, in milliseconds: at first, and at most. */
const WAIT_MS_MIN = 250;
const WAIT_MS_MAX = 10_000;

/** A stream on which nothing happens looks like one that is dead: how often somebody asks, in milliseconds, and how long
 * the answer may take. */
const ASK_EVERY_MS = 10_000;
const ANSWER_MS_MAX = 5_000;

/** A window that nobody sees lets go after this, in milliseconds: browsers have few connections for one server. */
const UNSEEN_MS = 60_000;

export class Watch {
  #wait = WAIT_MS_MIN;
  #stop = null;
  #timer = null;
  #unseen = null;
  #wanted = false;

  /** `heard`: changed(box), removed(name), settled(names), lost(error). */
  constructor(heard) {
    this.heard = heard;
    addEventListener("online", () => this.retry());
    document.addEventListener("visibilitychange", () => this.#seen(!document.hidden));
    setInterval(() => this.#ask(), ASK_EVERY_MS);
  }

  start() {
    this.stop();
    this.#wanted = true;
    this.#open();
  }

  stop() {
    this.#wanted = false;
    this.#drop();
  }

  /** Tries now instead of later. */
  retry() {
    if (!this.#wanted || this.#stop) return;
    clearTimeout(this.#timer);
    this.#open();
  }

  async #open() {
    const stop = new AbortController();
    this.#stop = stop;
    const names = new Set();
    let told = false;
    try {
      await follow("stream/boxes", (news) => {
        if (stop !== this.#stop) return;
        if (news.changed) this.heard.changed(news.changed);
        if (news.changed && !told) names.add(news.changed.name);
        if (news.removed) this.heard.removed(news.removed);
        if (!news.all_told) return;
        told = true;
        this.#wait = WAIT_MS_MIN;
        // What is not among them went while nobody looked.
        this.heard.settled(names);
      }, { signal: stop.signal });
      this.#lost(stop, new Error("the daemon has left"));
    } catch (error) {
      this.#lost(stop, error);
    }
  }

  #lost(stop, error) {
    if (stop !== this.#stop) return;
    this.#drop();
    if (!this.#wanted) return;
    this.#timer = setTimeout(() => this.#open(), this.#wait * (0.8 + Math.random() * 0.4));
    this.#wait = Math.min(this.#wait * 2, WAIT_MS_MAX);
    this.heard.lost(error);
  }

  #drop() {
    clearTimeout(this.#timer);
    const stop = this.#stop;
    this.#stop = null;
    stop?.abort();
  }

  async #ask() {
    const stop = this.#stop;
    if (!stop || document.hidden) return;
    try {
      await get("daemon", { msMax: ANSWER_MS_MAX });
    } catch (error) {
      if (error.status === 0) this.#lost(stop, error);
    }
  }

  #seen(on) {
    clearTimeout(this.#unseen);
    if (on) this.retry();
    else this.#unseen = setTimeout(() => this.#drop(), UNSEEN_MS);
  }
}
