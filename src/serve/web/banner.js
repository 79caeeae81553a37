// One line below the header: that the connection is lost, or that something was not done.

import { byId } from "./dom.js";

/** How long a notice stays, in milliseconds. */
const NOTICE_MS = 6_000;

/** What stands, by kind; the last that was raised is seen, and the one below it when that is lifted. */
const standing = new Map();
let timer = null;

/** Stays until it is lifted; `act` is `[label, function]`. */
export function raise(kind, text, act) {
  standing.delete(kind);
  standing.set(kind, { kind, text, act });
  draw(top());
}

export function lift(kind) {
  if (standing.delete(kind)) draw(top());
}

/** Goes by itself, and gives way to what stands. */
export function notice(text) {
  if (standing.size > 0) return;
  clearTimeout(timer);
  draw({ kind: "notice", text });
  timer = setTimeout(() => draw(top()), NOTICE_MS);
}

const top = () => [...standing.values()].at(-1);

function draw(what) {
  byId("banner").hidden = !what;
  if (!what) return;
  byId("banner").dataset.kind = what.kind;
  byId("banner-text").textContent = what.text;
  byId("banner-act").hidden = !what.act;
  byId("banner-act").textContent = what.act?.[0] ?? "";
  byId("banner-act").onclick = what.act?.[1] ?? null;
}
