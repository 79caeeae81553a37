// The message box: a nudge, and its receipt.

import { post, WITNESS_MS } from "./api.js";
import { byId } from "./dom.js";
import { mayArrive, sent } from "./receipts.js";

/** The box grows to this, in pixels. */
const BOX_PX_MAX = 160;

export function composer(page) {
  const box = byId("message");
  const grow = () => {
    box.style.height = "auto";
    box.style.height = box.value ? `${Math.min(box.scrollHeight + 2, BOX_PX_MAX)}px` : "";
  };
  /** What was not taken is in the box again, to be sent once more, before what was typed meanwhile. */
  const giveBack = (message) => {
    box.value = box.value ? `${message}\n${box.value}` : message;
    grow();
  };
  box.addEventListener("input", () => {
    grow();
    page.used();
  });
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    byId("composer").requestSubmit();
  });
  byId("composer").addEventListener("submit", async (event) => {
    event.preventDefault();
    const message = box.value.trim();
    if (!message || byId("send").disabled) return;
    byId("send").disabled = true;
    // Whoever goes on typing meanwhile writes the next message.
    box.value = "";
    grow();
    const line = sent(message);
    try {
      const answer = await post("agent/nudge", { message, queue: byId("queue").checked, timeout_ms: WITNESS_MS });
      line.answered(answer);
      if (!mayArrive(answer)) giveBack(message);
    } catch (error) {
      // The agent may have it: with the next Enter it would get it twice.
      if (!error.lost) giveBack(message);
      line.failed(error, () => giveBack(message));
      page.refused(error);
    } finally {
      byId("send").disabled = false;
      grow();
      page.used();
    }
  });
}

/** Shows the box when the agent can be told something, and the choice to queue while it works. */
export function offer(now, may) {
  const talks = may && !["prompt", "exited", "restarting"].includes(now.next);
  byId("composer").hidden = !talks;
  document.body.classList.toggle("talks", may);
  byId("queue-row").hidden = now.next !== "working";
}
