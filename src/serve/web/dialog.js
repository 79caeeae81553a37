// A dialog of an agent as a card: drawn when it changes, and locked while a click would answer something else than it was meant for.

import { show } from "./dom.js";
import { drawPrompt, promptKey } from "./prompt.js";

/** Answers that have just been drawn take no click for this long, in milliseconds: it was meant for what was there before. */
const FRESH_MS = 400;

export class Dialog {
  #shown = null;
  #may = true;
  #busy = false;
  #fresh = null;

  /** `respond(prompt, body, what, isNo)` gives an answer, and ends when it is known what became of it. */
  constructor(element, respond) {
    this.element = element;
    this.respond = respond;
  }

  /** Shows this dialog, or none; whether anything had to be drawn. Who may not answer sees it all the same. */
  show(prompt, may = true) {
    const key = promptKey(prompt, may);
    if (key === this.#shown) return false;
    const { element } = this;
    const typed = element.dataset.prompt === prompt?.id ? element.querySelector(".words input")?.value : "";
    this.#shown = key;
    this.#may = may;
    element.hidden = !prompt;
    element.dataset.prompt = prompt?.id ?? "";
    show(element, prompt ? drawPrompt(prompt, (...given) => this.#answer(prompt, ...given), may) : []);
    const words = element.querySelector(".words input");
    if (words && typed) words.value = typed;
    this.#rest();
    return true;
  }

  #rest() {
    clearTimeout(this.#fresh);
    this.#fresh = setTimeout(() => {
      this.#fresh = null;
      this.#lock();
    }, FRESH_MS);
    this.#lock();
  }

  #lock() {
    const locked = !this.#may || this.#busy || this.#fresh !== null;
    for (const control of this.element.querySelectorAll("button, input")) control.disabled = locked;
  }

  async #answer(prompt, ...given) {
    if (this.#busy) return;
    this.#busy = true;
    // What is locked loses the focus; whoever answers by keys goes on from here, with what comes next or the same once more.
    const pressed = this.element.querySelector(":focus-visible");
    if (pressed) this.element.focus({ preventScroll: true });
    this.#lock();
    try {
      await this.respond(prompt, ...given);
    } finally {
      this.#busy = false;
      this.#lock();
      if (pressed && document.activeElement === this.element) pressed.focus({ preventScroll: true });
    }
  }
}
