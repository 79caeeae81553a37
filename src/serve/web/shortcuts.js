// Keys for the page itself. All have Alt+Shift, which few terminal programs use, and work in the terminal too: the program inside
// does not get them.

import { byId, h } from "./dom.js";

/** `acts`: letter → [what it does, how]. `others`: [keys, what they do], of which the help tells too. */
export function shortcuts(acts, others) {
  addEventListener("keydown", (event) => {
    if (!event.altKey || !event.shiftKey || event.ctrlKey || event.metaKey) return;
    // By place, because Alt makes other characters on some keyboards.
    const act = acts[event.code.replace(/^Key/, "")];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act[1]();
  }, { capture: true });
  const row = (keys, what) => [h("dt", {}, keys.map((key) => h("kbd", {}, key))), h("dd", {}, what)];
  byId("help-keys").append(
    ...Object.entries(acts).flatMap(([letter, [what]]) => row(["Alt", "Shift", letter], what)),
    ...others.flatMap(([keys, what]) => row(keys, what)),
  );
  const help = byId("help");
  byId("help-close").onclick = () => help.close();
  return () => (help.open ? help.close() : help.showModal());
}

/** Digits go to the answer with that number, and only Enter gives it: a slip of the finger answers nothing. */
export function digits(card) {
  card.addEventListener("keydown", (event) => {
    const typing = event.target.matches("input[type=text], input[type=password]");
    if (typing || event.altKey || event.ctrlKey || event.metaKey || !/^[1-9]$/.test(event.key)) return;
    card.querySelectorAll(".options button, .choice input")[Number(event.key) - 1]?.focus();
  });
}
