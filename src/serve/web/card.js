// The dialog that the agent shows, in the dock.

import { post, WITNESS_MS } from "./api.js";
import { Dialog } from "./dialog.js";
import { byId } from "./dom.js";
import { sent } from "./receipts.js";

/** Gives what draws the card: with the agent's last transition, and whether this window may answer. */
export function card(page) {
  const element = byId("card");
  const dialog = new Dialog(element, (...given) => respond(page, ...given));
  return (now, may) => {
    const prompt = now.next === "prompt" ? now.prompt : null;
    const isNew = prompt && element.dataset.prompt !== prompt.id;
    const focused = element.contains(document.activeElement);
    if (!dialog.show(prompt, may)) return;
    if (isNew) page.prompted();
    if (!focused) return;
    if (prompt) element.focus();
    else page.rest();
  };
}

/** The first thing in the card that takes an answer; the card itself while nothing does. */
export const focusCard = () => (byId("card").querySelector("button:not(:disabled), input:not(:disabled)") ?? byId("card")).focus();

async function respond(page, prompt, body, what, isNo) {
  const line = sent(what, isNo);
  try {
    line.answered(await post("agent/respond", { ...body, prompt_id: prompt.id, timeout_ms: WITNESS_MS }));
  } catch (error) {
    line.failed(error);
    page.refused(error);
  } finally {
    page.used();
  }
}
