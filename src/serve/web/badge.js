// The state in the header: the word, since when, and who says so.

import { byId, cut, duration, h, show } from "./dom.js";

const CAUSE_LENGTH_MAX = 80;

export function badge(state, page) {
  const draw = () => {
    const { now, since } = state;
    if (!now) return;
    // A phone has room for the first word only; the dialog itself says of which kind it is.
    const kind = now.next === "prompt" && now.prompt ? h("span", { class: "kind" }, `: ${now.prompt.type}`) : null;
    const word = runs(page, now) ? "running" : now.next;
    byId("badge").dataset.state = word;
    show(byId("state-word"), word, kind);
    byId("state-since").title = since.exact ? "in this state" : "in this state at least; it was before this page came";
  };
  // Once a second, and only while somebody looks.
  const tick = () => {
    if (!document.hidden && state.now) byId("state-since").textContent = duration((Date.now() - state.since.at) / 1000);
  };
  state.addEventListener("transition", () => {
    draw();
    tick();
    byId("state-cause").textContent = runs(page, state.now) ? "" : cut(state.now.cause ?? "", CAUSE_LENGTH_MAX);
    byId("state-cause").title = "which source told the state, and by which rule";
  });
  setInterval(tick, 1000);
}

/** Nobody can tell what a program without a driver does: it runs. */
export const runs = (page, { next }) => page.agent === null && next === "unknown";
