// The dialog that the agent shows, in the dock.

import { post, WITNESS_MS } from "./api.js";
import { Dialog } from "./dialog.js";
import { byId } from "./dom.js";
import { sent } from "./receipts.js";

/** Gives what draws the card: with the agent's last transition, and whether this window may answer. */
export function card(page) {
  const element = byId("card");
  const dialog = new Dialog(element, (prompt, body, what) => respond(page, prompt, body, what));
  return (now, may) => {
    const prompt = now.next === "prompt" ? now.prompt : null;
    const appeared = prompt && element.hidden;
    const focused = element.contains(document.activeElement);
    if (!dialog.show(prompt, may)) return;
    if (appeared) page.prompted();
    else if (focused && prompt) element.focus();
  };
}

/** The first thing in the card that takes an answer; the card itself while nothing does. */
export const focusCard = () => (byId("card").querySelector("button:not(:disabled), input:not(:disabled)") ?? byId("card")).focus();

async function respond(page, prompt, body, what) {
  const line = sent(what);
  try {
    line.answered(await post("agent/respond", { ...body, prompt_id: prompt.id, timeout_ms: WITNESS_MS }));
  } catch (error) {
    line.failed(error);
    page.refused(error);
  }
}
