// A WebSocket that stays open: lost ones are opened again, later each time, and at once when there is reason to hope.

import { address } from "./api.js";
import { subprotocols } from "./token.js";

/** Between two attempts, in milliseconds: at first, and at most. */
const WAIT_MS_MIN = 250;
const WAIT_MS_MAX = 10_000;

/** The longest that opening may take, in milliseconds: a network that stands still says nothing. */
const OPEN_MS_MAX = 8_000;

export class Link {
  #socket = null;
  #timer = null;
  #wait = WAIT_MS_MIN;
  #wanted = false;
  #paused = false;

  /** `heard`: opened(), message(data), lost(code, reason). With `signal` it is of no use any more. */
  constructor(path, heard, signal = undefined) {
    this.path = path;
    this.heard = heard;
    addEventListener("online", () => this.retry(), { signal });
    document.addEventListener("visibilitychange", () => document.hidden || this.retry(), { signal });
    signal?.addEventListener("abort", () => this.stop());
  }

  get isOpen() {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  start() {
    this.#wanted = true;
    this.#paused = false;
    this.#open();
  }

  stop() {
    this.#wanted = false;
    this.#paused = false;
    clearTimeout(this.#timer);
    this.#drop();
  }

  /** Leaves until `resume`. Whoever starts or stops it meanwhile has the last word. */
  pause() {
    this.stop();
    this.#paused = true;
  }

  resume() {
    if (this.#paused) this.start();
  }

  /** Begins anew, whatever the old connection believes. */
  restart() {
    this.stop();
    this.start();
  }

  /** Tries now instead of later. */
  retry() {
    if (!this.#wanted || this.#socket) return;
    clearTimeout(this.#timer);
    this.#open();
  }

  /** Whatever works now: the next loss is retried soon. */
  settled() {
    this.#wait = WAIT_MS_MIN;
  }

  send(data) {
    if (!this.isOpen) return false;
    this.#socket.send(data);
    return true;
  }

  say(message) {
    return this.send(JSON.stringify(message));
  }

  #open() {
    const url = new URL(address(this.path));
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(url, subprotocols());
    socket.binaryType = "arraybuffer";
    this.#socket = socket;
    const late = setTimeout(() => socket.readyState === WebSocket.OPEN || this.#lose(socket, 0, ""), OPEN_MS_MAX);
    socket.onopen = () => socket === this.#socket && this.heard.opened();
    socket.onmessage = (event) => socket === this.#socket && this.heard.message(event.data);
    socket.onclose = (event) => {
      clearTimeout(late);
      this.#lose(socket, event.code, event.reason);
    };
  }

  #lose(socket, code, reason) {
    if (socket !== this.#socket) return;
    this.#drop();
    if (!this.#wanted) return;
    this.#timer = setTimeout(() => this.#open(), this.#wait * (0.8 + Math.random() * 0.4));
    this.#wait = Math.min(this.#wait * 2, WAIT_MS_MAX);
    this.heard.lost(code, reason);
  }

  #drop() {
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
  }
}
