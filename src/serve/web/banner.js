// One line below the header: that the connection is lost, or that something was not done.

import { byId } from "./dom.js";

/** How long a notice stays, in milliseconds. */
const NOTICE_MS = 6_000;

let standing = null;
let timer = null;

/** Stays until it is lifted; `act` is `[label, function]`. */
export function raise(kind, text, act) {
  standing = { kind, text, act };
  draw(standing);
}

export function lift(kind) {
  if (standing?.kind !== kind) return;
  standing = null;
  draw(null);
}

/** Goes by itself, and gives way to what stands. */
export function notice(text) {
  if (standing) return;
  clearTimeout(timer);
  draw({ kind: "notice", text });
  timer = setTimeout(() => standing || draw(null), NOTICE_MS);
}

function draw(what) {
  byId("banner").hidden = !what;
  if (!what) return;
  byId("banner").dataset.kind = what.kind;
  byId("banner-text").textContent = what.text;
  byId("banner-act").hidden = !what.act;
  byId("banner-act").textContent = what.act?.[0] ?? "";
  byId("banner-act").onclick = what.act?.[1] ?? null;
}
