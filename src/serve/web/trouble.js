// Why an agent stands still that should not: its error, or the limit that it waits for.

import { byId } from "./dom.js";

/** In one sentence, `null` while nothing is wrong; `state` is a state of the contract or a transition to it. Pure. */
export function trouble(kind, state) {
  if (kind === "error") return [words(state.error_category), state.error_detail || "the agent stopped with an error"].filter(Boolean).join(": ");
  if (kind !== "parked") return null;
  const at = state.resume_at_epoch_ms;
  return `Parked: ${state.parked_reason ?? "a limit"}${at ? `; it goes on at ${time(new Date(at))}` : ""}`;
}

/** With the day where that is not today. */
const time = (at) => (at.toDateString() === new Date().toDateString() ? at.toLocaleTimeString() : at.toLocaleString());

const words = (name) => (name && !["unspecified", "other"].includes(name) ? name.replaceAll("_", " ") : null);

/** The line in the dock. */
export function drawTrouble(now) {
  const line = byId("trouble");
  line.textContent = trouble(now.next, now) ?? "";
  line.dataset.state = now.next;
  line.hidden = line.textContent === "";
}
