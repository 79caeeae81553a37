// The dialog that the agent shows, in the dock.

import { post, WITNESS_MS } from "./api.js";
import { byId, show } from "./dom.js";
import { drawPrompt, promptKey } from "./prompt.js";
import { sent } from "./receipts.js";

/** What the card shows. */
let shown = null;
let busy = false;

export function card(page, now, may) {
  const prompt = now.next === "prompt" ? now.prompt : null;
  const key = promptKey(prompt, may);
  if (key === shown) return;
  const element = byId("card");
  const appeared = prompt && element.hidden;
  const focused = element.contains(document.activeElement);
  const typed = element.dataset.prompt === prompt?.id ? element.querySelector(".words input")?.value : "";
  shown = key;
  element.hidden = !prompt;
  element.dataset.prompt = prompt?.id ?? "";
  show(element, prompt ? drawPrompt(prompt, (body, what) => respond(page, prompt, body, what), may) : []);
  const box = element.querySelector(".words input");
  if (box && typed) box.value = typed;
  lock(!may || busy);
  if (appeared) page.prompted();
  else if (focused && prompt) element.focus();
}

/** Nothing can be answered while an answer is on its way, or by who only looks. */
function lock(on) {
  for (const control of byId("card").querySelectorAll("button, input")) control.disabled = on;
}

/** The first thing in the card that takes an answer. */
export const focusCard = () => byId("card").querySelector("button:not(:disabled), input:not(:disabled)")?.focus();

async function respond(page, prompt, body, what) {
  if (busy) return;
  busy = true;
  lock(true);
  const line = sent(what);
  try {
    line.answered(await post("agent/respond", { ...body, prompt_id: prompt.id, timeout_ms: WITNESS_MS }));
  } catch (error) {
    line.failed(error);
    page.refused(error);
  } finally {
    busy = false;
    lock(!page.may);
  }
}
