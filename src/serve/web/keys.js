// Keys that a phone's keyboard does not have.

import { byId, h } from "./dom.js";

const ARROWS = { "←": ["D", "Left"], "↓": ["B", "Down"], "↑": ["A", "Up"], "→": ["C", "Right"] };

export function keys(screen) {
  let control = false;
  const ctrl = h("button", { type: "button", "aria-pressed": "false", "aria-label": "Control, for the next key" }, "Ctrl");
  const hold = (on) => {
    control = on;
    ctrl.setAttribute("aria-pressed", String(on));
  };
  ctrl.addEventListener("click", () => {
    hold(!control);
    screen.focus();
  });
  // The next letter becomes what Control makes of it.
  screen.onType = (text) => {
    if (!control || text.length !== 1) return text;
    hold(false);
    const code = text.toUpperCase().charCodeAt(0);
    return code >= 0x40 && code <= 0x5f ? String.fromCharCode(code & 0x1f) : text;
  };
  const key = (label, name, bytes) => {
    const button = h("button", { type: "button", "aria-label": name }, label);
    // The soft keyboard stays as it is, open or closed.
    button.addEventListener("pointerdown", (event) => event.preventDefault());
    button.addEventListener("click", () => screen.type(typeof bytes === "function" ? bytes() : bytes));
    return button;
  };
  byId("keys").append(
    key("Esc", "Escape", "\x1b"),
    key("Tab", "Tab", "\t"),
    key("⇧Tab", "Shift Tab", "\x1b[Z"),
    ctrl,
    ...Object.entries(ARROWS).map(([label, [letter, name]]) => key(label, name, () => (screen.applicationCursor ? `\x1bO${letter}` : `\x1b[${letter}`))),
    key("⏎", "Enter", "\r"),
  );
}
