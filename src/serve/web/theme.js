// Dark and light: as the system says, unless somebody chose.

import { byId } from "./dom.js";

const NAME = "coop-theme";
const CHOICES = ["system", "dark", "light"];
const system = matchMedia("(prefers-color-scheme: dark)");

function chosen() {
  try {
    return CHOICES.includes(localStorage.getItem(NAME)) ? localStorage.getItem(NAME) : "system";
  } catch {
    return "system";
  }
}

let choice = chosen();

const dark = () => (choice === "system" ? system.matches : choice === "dark");

export function theme(change) {
  const apply = () => {
    document.documentElement.dataset.theme = dark() ? "dark" : "light";
    byId("theme-toggle").setAttribute("aria-label", `Colours: ${choice}`);
    change(dark());
  };
  system.addEventListener("change", apply);
  apply();
  return () => {
    choice = CHOICES[(CHOICES.indexOf(choice) + 1) % CHOICES.length];
    try {
      localStorage.setItem(NAME, choice);
    } catch {
      // Then it is for this visit.
    }
    apply();
  };
}
