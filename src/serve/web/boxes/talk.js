// Talking to the agent of a box without opening it: its dialog with the answers, and a message.

import { post, WITNESS_MS } from "../api.js";
import { Dialog } from "../dialog.js";
import { cut, h } from "../dom.js";
import { fate, mayArrive, outcome, phase, putBack } from "../receipts.js";
import { digits } from "../shortcuts.js";
import { isThere, promptOf, stateOf } from "./words.js";

/** The longest message, as on a session's page. */
const MESSAGE_LENGTH_MAX = 100_000;
const TOLD_LENGTH_MAX = 60;

export class Talk {
  constructor(name, page) {
    this.page = page;
    this.base = `box/${encodeURIComponent(name)}/`;
    this.card = h("div", { class: "card", role: "region", "aria-label": `Dialog of ${name}`, tabindex: "-1", hidden: true });
    this.dialog = new Dialog(this.card, (...given) => this.#respond(...given));
    digits(this.card);
    this.message = h("input", { type: "text", maxlength: MESSAGE_LENGTH_MAX, placeholder: "Message the agent", "aria-label": `Message to ${name}`, autocomplete: "off" });
    this.send = h("button", { type: "submit" }, "Send");
    this.nudge = h("form", { class: "nudge", hidden: true, onsubmit: (event) => this.#nudge(event) }, this.message, this.send);
    this.told = h("p", { class: "told", role: "status" });
    this.elements = [this.card, this.nudge, this.told];
  }

  update(box) {
    const prompt = promptOf(box);
    this.busyAgent = stateOf(box) === "working";
    this.nudge.hidden = prompt !== null || !isThere(box) || box.agent === "unknown" || ["exited", "restarting"].includes(stateOf(box));
    const focused = this.card.contains(document.activeElement);
    if (this.dialog.show(prompt) && focused) this.card.closest(".tile")?.focus({ preventScroll: true });
  }

  #respond(prompt, body, what, isNo) {
    return this.#tell(what, isNo, () => post("agent/respond", { ...body, prompt_id: prompt.id, timeout_ms: WITNESS_MS }, { base: this.base }));
  }

  async #nudge(event) {
    event.preventDefault();
    const message = this.message.value.trim();
    if (!message || this.send.disabled) return;
    this.send.disabled = true;
    // An agent that works keeps it until it is done.
    const act = () => post("agent/nudge", { message, queue: this.busyAgent, timeout_ms: WITNESS_MS }, { base: this.base });
    const { answer, error } = await this.#tell(message, false, act);
    // What did not arrive stays in the box, to be sent again; what may have, does not.
    if (answer ? mayArrive(answer) : error.lost) this.message.value = "";
    if (error?.lost) this.told.append(" ", putBack(() => (this.message.value = message)));
    this.send.disabled = false;
  }

  /** Says what becomes of it. */
  async #tell(what, isNo, act) {
    const say = (how, text) => {
      this.told.dataset.phase = how;
      this.told.textContent = `${cut(what, TOLD_LENGTH_MAX)}: ${text}`;
    };
    say("sending", "sending…");
    try {
      const answer = await act();
      say(phase(answer, isNo), outcome(answer, isNo));
      return { answer };
    } catch (error) {
      say(...fate(error));
      this.page.refused(error);
      return { error };
    }
  }
}
