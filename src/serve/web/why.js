// Why coop says what it says: the evidence of each source, and what they do not agree on.

import { get } from "./api.js";
import { byId, cut, duration, h, show } from "./dom.js";

const DETAIL_LENGTH_MAX = 400;

/** While the panel is open and nothing changes, ages are refreshed this often, in milliseconds. */
export const REFRESH_MS = 5_000;

export async function why() {
  let state;
  try {
    state = await get("agent/state?explain=true");
  } catch (error) {
    // While coop cannot be reached, what was known stays; the banner says the rest.
    return error.status && show(byId("why"), h("p", { class: "error" }, error.message));
  }
  const rows = state.evidence.map((one) =>
    h("li", { class: one.decisive ? "decisive" : null },
      h("div", {}, h("b", { class: "claim", "data-state": said(one.claim) }, said(one.claim)), h("span", { class: "source" }, one.source), one.decisive && h("span", { class: "tag" }, "decides")),
      h("div", { class: "dim" }, `${words(one.tier)}, ${duration(one.age_ms / 1000)} ago`),
      one.detail && h("pre", {}, cut(one.detail, DETAIL_LENGTH_MAX))));
  show(byId("why"),
    h("p", {}, "It is ", h("b", {}, state.state), ", says ", h("code", {}, state.detection_cause), ` (${words(state.detection_tier)}).`),
    state.error_detail && h("p", { class: "error" }, state.error_category ? `${words(state.error_category)}: ${state.error_detail}` : state.error_detail),
    state.parked_reason && h("p", {}, `Parked: ${state.parked_reason}${state.resume_at_epoch_ms ? `, until ${new Date(state.resume_at_epoch_ms).toLocaleString()}` : ""}`),
    state.disagreement && h("p", { class: "warning" }, `They do not agree: ${state.disagreement}`),
    state.last_message && [h("h3", {}, "Its last words"), h("blockquote", {}, cut(state.last_message, 2000))],
    h("h3", {}, "Evidence"),
    rows.length ? h("ul", { class: "evidence" }, rows) : h("p", { class: "dim" }, "No source tells about this program. Patterns over its screen can (--agent-config)."));
}

/** A source that could tell and does not is evidence too. */
const said = (claim) => (claim === "unspecified" ? "silent" : claim);

const words = (name) => String(name ?? "").replaceAll("_", " ");
