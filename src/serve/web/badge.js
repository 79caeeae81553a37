// The state in the header: the word, since when, and who says so.

import { byId, cut, duration } from "./dom.js";

const CAUSE_LENGTH_MAX = 80;

export function badge(state) {
  const draw = () => {
    const { now, since } = state;
    if (!now) return;
    const word = now.next === "prompt" && now.prompt ? `prompt: ${now.prompt.type}` : now.next;
    byId("badge").dataset.state = now.next;
    byId("state-word").textContent = word;
    byId("state-since").title = since.exact ? "in this state" : "in this state at least; it was before this page came";
  };
  // Once a second, and only while somebody looks.
  const tick = () => {
    if (!document.hidden && state.now) byId("state-since").textContent = duration((Date.now() - state.since.at) / 1000);
  };
  state.addEventListener("transition", () => {
    draw();
    tick();
    byId("state-cause").textContent = cut(state.now.cause ?? "", CAUSE_LENGTH_MAX);
    byId("state-cause").title = "which source told the state, and by which rule";
  });
  setInterval(tick, 1000);
}
