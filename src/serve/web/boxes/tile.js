// One box: what it is, what it does, what it shows, and what can be done with it.

import { address, get } from "../api.js";
import { notice } from "../banner.js";
import { duration, h, show } from "../dom.js";
import { remove, restartAsked, shell, stopAsked } from "./acts.js";
import { Picture } from "./picture.js";
import { Talk } from "./talk.js";
import { facts, isThere, programOf, remarks, stateOf } from "./words.js";

export class Tile {
  #gone = new AbortController();
  #seen = false;
  #facts = "";

  /** `page`: refused(error), changes(box), logs(box), isDark(). */
  constructor(box, page) {
    this.page = page;
    this.name = box.name;
    const home = address(`box/${encodeURIComponent(box.name)}/`);
    this.word = h("b");
    this.since = h("span", { class: "since" });
    this.badge = h("span", { class: "badge" }, h("span", { class: "dot", "aria-hidden": "true" }), this.word, this.since);
    this.program = h("span", { class: "program" });
    this.about = h("p", { class: "about" });
    this.remarks = h("ul", { class: "remarks" });
    this.screen = h("pre", { class: "screen" });
    this.picture = h("a", { class: "picture", href: home, tabindex: "-1", "aria-label": `The screen of ${box.name}` }, this.screen);
    this.talk = new Talk(box.name, page);
    this.acts = h("div", { class: "acts", role: "toolbar", "aria-label": `What to do with ${box.name}` });
    this.element = h("article", { class: "tile", tabindex: "0", "data-name": box.name, "aria-label": box.name, onkeydown: (event) => this.#key(event) },
      h("div", { class: "head" }, h("a", { class: "name", href: home }, box.name), this.program, this.badge),
      this.about, this.remarks, this.picture, this.talk.elements, this.acts);
    this.live = new Picture(box.name, this.screen, page.isDark, this.#gone.signal);
    this.update(box);
  }

  update(box) {
    const state = stateOf(box);
    if (this.box && state !== stateOf(this.box)) this.changedAt = Date.now();
    this.box = box;
    this.element.dataset.state = state;
    this.badge.dataset.state = state;
    this.word.textContent = state === "prompt" && box.agent_state.prompt ? `asks: ${box.agent_state.prompt.type}` : state;
    this.program.textContent = programOf(box);
    this.program.title = box.command.join(" ");
    this.#describe(box);
    this.talk.update(box);
    this.picture.hidden = !isThere(box);
    this.live.see(this.#seen && isThere(box));
    this.tick();
  }

  /** What changes seldom, and holds buttons that may have the focus. */
  #describe(box) {
    const key = JSON.stringify([box.workspace, facts(box), remarks(box), isThere(box), box.workspace_mode, box.state]);
    if (key === this.#facts) return;
    this.#facts = key;
    show(this.about, h("code", { title: box.workspace }, h("bdi", {}, box.workspace)), h("span", {}, facts(box).join(" · ")));
    show(this.remarks, remarks(box).map(({ kind, text }) => h("li", { class: kind }, kind === "warning" ? folded(text) : text)));
    const focused = this.acts.contains(document.activeElement);
    const runs = isThere(box) || box.state === "starting";
    const button = (label, act, title, kind) => h("button", { type: "button", class: kind, title, onclick: (event) => this.#do(event.currentTarget, act) }, label);
    show(this.acts,
      isThere(box) && h("a", { class: "button", href: this.picture.href }, "Open"),
      isThere(box) && button("Shell", () => shell(box.name), "A shell beside the agent"),
      box.workspace_mode === "overlay" && button("Changes", () => this.page.changes(this.box), "What the agent changed, to be applied or thrown away"),
      button("Logs", () => this.page.logs(this.box), "coop's own log of this box"),
      runs && button("Stop", () => stopAsked(box.name)),
      button(runs ? "Restart" : "Start", () => restartAsked(box.name, box.state === "running")),
      button("Remove", () => remove(box.name, runs), null, "danger"));
    if (focused) this.element.focus({ preventScroll: true });
  }

  async #do(button, act) {
    button.disabled = true;
    try {
      await act();
    } catch (error) {
      notice(`${this.name}: ${error.message}`);
      this.page.refused(error);
    } finally {
      button.disabled = false;
    }
  }

  /** On the tile itself; in its fields and buttons, keys are theirs. */
  #key(event) {
    if (event.target !== this.element || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "Enter" && isThere(this.box)) location.assign(this.picture.href);
    if (/^[1-9]$/.test(event.key)) this.talk.card.querySelectorAll(".options button, .choice input")[Number(event.key) - 1]?.focus();
  }

  /** Whether it is in view. */
  see(on) {
    if (on && !this.#seen) this.#age();
    this.#seen = on;
    this.live.see(on && isThere(this.box));
  }

  /** The evidence of a state that was there before us says for how long at least. */
  async #age() {
    const { box } = this;
    if (this.changedAt || !isThere(box) || box.agent === "unknown") return;
    try {
      const { evidence } = await get("agent/state?explain=true", { base: `box/${encodeURIComponent(box.name)}/` });
      const age = evidence.find((one) => one.decisive)?.age_ms;
      if (age !== undefined) this.changedAt ??= Date.now() - age;
    } catch {
      // Then it is told how old the box is.
    }
  }

  /** How long it has been so, as far as somebody knows; else how old it is. */
  tick() {
    const at = this.changedAt ?? this.box.created_at_ms;
    const text = `${this.changedAt ? "" : "made "}${duration((Date.now() - at) / 1000)}${this.changedAt ? "" : " ago"}`;
    if (this.since.textContent !== text) this.since.textContent = text;
  }

  remove() {
    this.#gone.abort();
    this.element.remove();
  }
}

/** What may be long is one line, until somebody wants more of it. */
const folded = (text) => h("details", {}, h("summary", {}, h("span", {}, text)));
