// Why coop says what it says: the evidence of each source, and what they do not agree on.

import { get } from "./api.js";
import { runs } from "./badge.js";
import { byId, cut, duration, h, show } from "./dom.js";

const DETAIL_LENGTH_MAX = 400;

/** While the panel is open and nothing changes, ages are refreshed this often, in milliseconds. */
export const REFRESH_MS = 5_000;

const DOES = {
  starting: "It starts.", working: "It works.", idle: "It waits for a message.", prompt: "It asks for an answer.", error: "It was stopped by an error.",
  parked: "It waits for a limit to end.", restarting: "It is being started again.", exited: "It has ended.", unknown: "Nobody can tell what it does.",
};

const SAID_BY = { hooks: "Its hooks say so", session_log: "Its own log says so", stream: "Its output says so", process: "Its process says so", screen: "Its screen says so" };

export async function why(page) {
  let state;
  try {
    state = await get("agent/state?explain=true");
  } catch (error) {
    // While coop cannot be reached, what was known stays; the banner says the rest.
    return error.status && show(byId("why"), h("p", { class: "error" }, error.message));
  }
  const { latest, earlier } = sorted(state.evidence.filter((one) => one.claim !== "unknown"));
  const wasOpen = byId("why").querySelector("details")?.open;
  // What the dock says is not said here again.
  const words = state.last_message !== state.error_detail && state.last_message;
  show(byId("why"),
    h("p", {}, sentence(page, state)),
    words && [h("h3", {}, "Its last words"), h("blockquote", {}, cut(words, 2000))],
    h("h3", {}, "Evidence"),
    latest.length ? h("ul", { class: "evidence" }, latest.map((one) => row(one, isOther(one, state)))) : h("p", { class: "dim" }, "No source tells about this program. Patterns over its screen can (--agent-config)."),
    earlier.length > 0 && h("details", { open: wasOpen }, h("summary", {}, "Earlier"), h("ul", { class: "evidence" }, earlier.map((one) => row(one)))));
}

/** What it does, and who says so by which rule, as a person would say it. */
function sentence(page, state) {
  if (runs(page, { next: state.state })) return "It runs. What it does nobody can tell: coop knows no agent in it.";
  const rule = state.detection_cause.replace(/^\w+: /, "");
  const who = SAID_BY[state.detection_tier];
  return [DOES[state.state] ?? state.state, who && [` ${who}`, rule !== state.detection_tier && [": ", h("code", {}, rule)], "."]].flat(2).filter(Boolean);
}

/** The latest word of each source, and who is silent; then all that was said before. The server tells the last words first. */
function sorted(evidence) {
  const seen = new Set();
  const isLatest = (one) => {
    const source = one.source.split(":")[0];
    const first = !seen.has(source);
    seen.add(source);
    return first || one.decisive || one.claim === "unspecified";
  };
  const latest = evidence.filter(isLatest);
  return { latest, earlier: evidence.filter((one) => !latest.includes(one)) };
}

/** Whether its last word is another one than what was made of all of them. */
const isOther = (one, { state }) => ![state, "unspecified"].includes(one.claim);

const row = (one, other = false) =>
  h("li", { class: one.decisive ? "decisive" : null },
    h("div", {}, h("b", { class: "claim", "data-state": said(one.claim) }, said(one.claim)), h("span", { class: "source" }, one.source), one.decisive && h("span", { class: "tag" }, "decides"), other && h("span", { class: "tag dim" }, "says otherwise")),
    h("div", { class: "dim" }, `${String(one.tier).replaceAll("_", " ")}, ${duration(one.age_ms / 1000)} ago`),
    one.detail && h("pre", {}, cut(one.detail, DETAIL_LENGTH_MAX)));

/** A source that could tell and does not is evidence too. */
const said = (claim) => (claim === "unspecified" ? "silent" : claim);
