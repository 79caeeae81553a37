// The message box: a nudge, and its receipt.

import { post, WITNESS_MS } from "./api.js";
import { byId } from "./dom.js";
import { sent } from "./receipts.js";

/** The box grows to this, in pixels. */
const BOX_PX_MAX = 160;

export function composer(page) {
  const box = byId("message");
  const grow = () => {
    box.style.height = "auto";
    box.style.height = box.value ? `${Math.min(box.scrollHeight + 2, BOX_PX_MAX)}px` : "";
  };
  box.addEventListener("input", grow);
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
    const line = sent(message);
    try {
      const answer = await post("agent/nudge", { message, queue: byId("queue").checked, timeout_ms: WITNESS_MS });
      line.answered(answer);
      // What did not arrive stays in the box, to be sent again.
      if (answer.delivered || answer.reason === "queued") box.value = "";
    } catch (error) {
      line.failed(error);
      page.refused(error);
    } finally {
      byId("send").disabled = false;
      grow();
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
