// The side panel: three tabs, of which the one that is seen is kept fresh.

import { byId } from "./dom.js";

/** From this width on the panel has room beside the terminal; below, it lies over it. */
const WIDE = matchMedia("(min-width: 1000px)");

const NAMES = ["why", "transcript", "session"];

export class Panel {
  /** Whether there is a session to ask. */
  live = false;
  #timer = null;

  /** `panes`: name → [refresh, how often in milliseconds, whether only while the agent works]. */
  constructor(panes, works) {
    this.panes = panes;
    this.works = works;
    this.name = "why";
    for (const name of NAMES) byId(`tab-${name}`).addEventListener("click", () => this.choose(name));
    byId("panel").querySelector("[role=tablist]").addEventListener("keydown", (event) => this.#arrow(event));
    byId("panel-toggle").addEventListener("click", () => this.toggle());
    byId("panel-close").addEventListener("click", () => this.open(false));
    byId("panel").addEventListener("keydown", (event) => event.key === "Escape" && !WIDE.matches && this.open(false));
    this.open(WIDE.matches);
  }

  /** Makes way where it lies over what is below it. */
  giveWay() {
    if (!WIDE.matches) this.open(false);
  }

  /** Whether there is such a tab. */
  offer(name, on) {
    byId(`tab-${name}`).hidden = !on;
    if (!on && this.name === name) this.#show("why");
  }

  get isOpen() {
    return !byId("panel").hidden;
  }

  toggle() {
    this.open(!this.isOpen);
  }

  open(on) {
    byId("panel").hidden = !on;
    document.body.classList.toggle("with-panel", on);
    byId("panel-toggle").setAttribute("aria-expanded", String(on));
    this.refresh();
  }

  /** Shows a tab and puts the focus into it. */
  choose(name) {
    if (byId(`tab-${name}`).hidden) return;
    this.#show(name);
    this.open(true);
    byId(`tab-${name}`).focus();
  }

  #show(name) {
    this.name = name;
    for (const one of NAMES) {
      byId(one).hidden = one !== name;
      byId(`tab-${one}`).setAttribute("aria-selected", String(one === name));
      byId(`tab-${one}`).tabIndex = one === name ? 0 : -1;
    }
  }

  /** Something changed: what is seen is read anew, and from time to time as long as it is seen. */
  async refresh() {
    clearTimeout(this.#timer);
    if (!this.isOpen || !this.live) return;
    const [refresh, everyMs, onlyWhileWorking] = this.panes[this.name];
    if (!document.hidden) await refresh();
    clearTimeout(this.#timer);
    const idle = onlyWhileWorking && !this.works();
    if (!idle) this.#timer = setTimeout(() => this.refresh(), everyMs);
  }

  #arrow(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const names = NAMES.filter((name) => !byId(`tab-${name}`).hidden);
    this.choose(names[(names.indexOf(this.name) + step + names.length) % names.length]);
  }
}
