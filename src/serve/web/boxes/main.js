// The page of all boxes: brings its parts together.

import { lift, notice, raise } from "../banner.js";
import { byId } from "../dom.js";
import { admitted, asked } from "../gate.js";
import { shortcuts } from "../shortcuts.js";
import { theme } from "../theme.js";
import { current } from "../token.js";
import { changes } from "./changes.js";
import { create } from "./create.js";
import { logs } from "./logs.js";
import { inOrder, put, step, tidy } from "./order.js";
import { Tile } from "./tile.js";
import { Watch } from "./watch.js";
import { counts, placeOf } from "./words.js";

/** How far outside of the window a tile counts as seen: who scrolls finds its picture there. */
const NEAR = "120px";

/** By name. */
const tiles = new Map();
let dark = true;

/** What the parts may ask of the page. */
const page = {
  /** A call was refused: with the token it may be the token that is wrong. */
  refused: (error) => error.status === 401 && enter(),
  isDark: () => dark,
  box: (name) => tiles.get(name)?.box,
  boxes: () => [...tiles.values()].map((tile) => tile.box),
  made: (box) => notice(`${box.name} is ${box.state}.`),
};
page.changes = changes(page);
page.logs = logs(page);
const toCreate = create(page);

const turnColours = theme((on) => {
  dark = on;
  for (const tile of tiles.values()) tile.live.redraw();
});

const sight = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) tiles.get(target.dataset.name)?.see(isIntersecting && !document.hidden);
}, { rootMargin: NEAR });

document.addEventListener("visibilitychange", () => {
  // It is looked at anew: the observer tells of changes only.
  for (const tile of tiles.values()) {
    sight.unobserve(tile.element);
    if (document.hidden) tile.see(false);
    else sight.observe(tile.element);
  }
});

const watch = new Watch({
  changed(box) {
    let tile = tiles.get(box.name);
    if (tile) tile.update(box);
    else {
      tile = new Tile(box, page);
      tiles.set(box.name, tile);
    }
    put(tile, placeOf(box));
    sight.observe(tile.element);
    count();
  },
  removed: forget,
  settled(names) {
    for (const name of [...tiles.keys()].filter((known) => !names.has(known))) forget(name);
    lift("lost");
    count();
  },
  lost,
});

function forget(name) {
  const tile = tiles.get(name);
  if (!tile) return;
  // Who was there goes on from the tile beside it.
  const beside = tile.element.contains(document.activeElement) ? (tile.element.nextElementSibling ?? tile.element.previousElementSibling) : null;
  sight.unobserve(tile.element);
  tile.remove();
  tiles.delete(name);
  beside?.focus({ preventScroll: true });
  count();
}

function count() {
  const boxes = page.boxes();
  const asking = boxes.filter((box) => placeOf(box) === "asking").length;
  byId("counts").textContent = counts(boxes);
  document.title = `${asking ? `(${asking}) ` : ""}Boxes · coop`;
  tidy(boxes.length > 0);
}

// Connection.

/** Says so, and finds out whether it is the network or the token. */
async function lost(error) {
  if (error.status === 401) return enter();
  raise("lost", "Connection lost. Trying again…", ["Try now", () => watch.retry()]);
}

async function enter() {
  watch.stop();
  await asked(current() !== null);
  await open();
}

async function open() {
  try {
    await admitted("daemon");
  } catch (error) {
    raise("lost", error.message, ["Try again", () => open()]);
    return;
  }
  lift("lost");
  watch.start();
}

// Tools.

const focusedTile = () => tiles.get(document.activeElement?.closest?.(".tile")?.dataset.name);
const onTile = (label) => () => {
  const tile = focusedTile() ?? tiles.get(inOrder()[0]?.dataset.name);
  [...(tile?.acts.querySelectorAll("button, a") ?? [])].find((one) => one.textContent === label)?.click();
};
const toAnswers = () => byId("asking").querySelector(".card button:not(:disabled), .card input:not(:disabled)")?.focus();
const toMessage = () => focusedTile()?.talk.message.focus();
const help = shortcuts({
  N: ["a new box", toCreate],
  A: ["to the answers of the first that asks", toAnswers],
  M: ["to the message for this box", toMessage],
  S: ["a shell in this box", onTile("Shell")],
  C: ["this box's changes", onTile("Changes")],
  L: ["this box's log", onTile("Logs")],
  D: ["dark, light, as the system", turnColours],
  H: ["this help", () => help()],
}, [
  [["↑", "↓"], "from box to box; Enter opens one"],
  [["1", "…", "9"], "on a box that asks: go to that answer; Enter gives it"],
]);
byId("create-open").onclick = toCreate;
byId("theme-toggle").onclick = turnColours;
byId("help-toggle").onclick = help;

addEventListener("keydown", (event) => {
  const by = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
  const free = event.target === document.body || event.target.matches(".tile, #tiles");
  if (!by || !free || event.altKey || event.ctrlKey || event.metaKey || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  step(by);
});
setInterval(() => {
  if (!document.hidden) for (const tile of tiles.values()) tile.tick();
}, 1000);

// A link with a token that was followed in this very tab.
addEventListener("hashchange", () => location.hash.includes("token=") && location.reload());

await open();
