// The page: brings its parts together and decides who may do what.

import { get } from "./api.js";
import { badge } from "./badge.js";
import { lift, notice, raise } from "./banner.js";
import { card, focusCard } from "./card.js";
import { composer, offer } from "./composer.js";
import { byId } from "./dom.js";
import { admitted, asked } from "./gate.js";
import { ended, info } from "./info.js";
import { keys } from "./keys.js";
import { Panel } from "./panel.js";
import { later, missed, rested } from "./receipts.js";
import { digits, shortcuts } from "./shortcuts.js";
import { State } from "./state.js";
import { Screen } from "./terminal.js";
import { theme } from "./theme.js";
import { current } from "./token.js";
import { drawTrouble } from "./trouble.js";
import * as transcript from "./transcript.js";
import * as why from "./why.js";

const SESSION_REFRESH_MS = 5_000;

/** A shell beside the session's program, which this window shows in its place. */
const side = new URLSearchParams(location.search).get("terminal");

/** What the parts may ask of the page. */
const page = {
  /** Whether this window may type, answer, restart. */
  may: !new URLSearchParams(location.search).has("view"),
  /** The kind of agent; `null` for programs without a driver, which take no messages. */
  agent: null,
  /** Whose the terminal is, as the status has it. */
  backend: null,
  redraw,
  describe,
  /** A call was refused: with the token it may be the token that is wrong. */
  refused: (error) => error.status === 401 && enter(),
  /** A dialog has appeared, and nothing hides it. Whoever types somewhere is not interrupted, and a key that was on its way answers nothing. */
  prompted() {
    panel.giveWay();
    if (document.activeElement === document.body) byId("card").focus();
  },
  /** The dialog that had the focus has gone. */
  rest: () => (byId("composer").hidden ? screen.focus() : byId("message").focus()),
  /** Somebody does something here: the session gets the size of this window. */
  used: () => screen.use(),
};

const state = new State();
const screen = new Screen({
  joined: connected,
  lost,
  failed: notice,
  titled: (title) => titled(title),
  sized: (cols, rows) => (byId("fit-toggle").dataset.size = `${cols}×${rows}`),
  ended: () => over("The shell has ended."),
}, side);
const panel = new Panel(
  { why: [() => why.why(page), why.REFRESH_MS], transcript: [transcript.transcript, transcript.REFRESH_MS, true], session: [() => info(page), SESSION_REFRESH_MS] },
  () => state.now?.next === "working",
);
const turnColours = theme((dark) => screen.colours(dark));

badge(state, page);
const drawCard = card(page);
composer(page);
keys(screen);
digits(byId("card"));

state.addEventListener("transition", ({ detail }) => {
  connected();
  if (detail.prev !== detail.next && ["restarting", "starting"].includes(detail.next)) transcript.forget();
  if (detail.next === "idle") rested();
  redraw();
  panel.refresh();
});
state.addEventListener("another", ({ detail }) => another(detail));
state.addEventListener("receipt", ({ detail }) => later(detail));
state.addEventListener("missed", missed);
// Another conversation, which need not change the state.
state.addEventListener("start:outcome", () => panel.refresh());
state.addEventListener("lost", ({ detail }) => lost(detail.code));
// The terminal's connection goes the same way, and cannot tell by itself that it stands still.
state.addEventListener("stalled", () => {
  stands = true;
  screen.link.restart();
});

function redraw() {
  const { now } = state;
  if (!now) return;
  // A shell's window leaves the agent to others; its state stays in the header.
  if (side) return;
  drawTrouble(now);
  // Before the card, which may give the focus to the message box.
  offer(now, page.may && page.agent !== null);
  drawCard(now, page.may);
  ended(page, now);
}

function describe(status) {
  page.agent = status.agent === "unknown" ? null : status.agent;
  page.backend = status.backend;
  panel.offer("transcript", page.agent !== null);
  const home = status.cwd.split("/").filter(Boolean).at(-1) ?? "/";
  const program = side ? "shell" : (page.agent ?? status.command[0]?.split("/").at(-1) ?? "coop");
  page.name = [status.labels.name, program, home].filter(Boolean).join(" · ");
  titled(page.title);
}

/** The program's own title, as text. */
function titled(title) {
  page.title = title;
  byId("title").textContent = page.name ?? "coop";
  byId("title").title = title || (page.name ?? "");
  document.title = [title, page.name, "coop"].filter(Boolean)[0].slice(0, 120);
}

// Connection.

/** Whether the network stands still, as far as it was noticed. */
let stands = false;

function connected() {
  if (!screen.isConnected || !state.link.isOpen) return;
  stands = false;
  away(false);
  lift("lost");
}

/** While the connection is lost nothing of the page is news, and keys are let fall: later they could answer something else. */
function away(on) {
  screen.isAway = on;
  document.body.classList.toggle("away", on);
}

/** Another coop has taken the place of the one that was seen here. */
function another(status) {
  describe(status);
  transcript.forget();
  panel.refresh();
  raise("another", "This is another session: the one that was here has gone.", ["OK", () => lift("another")]);
}

/** How the server closes what asks for something that is not there. */
const GONE = 1008;

/** There is nothing more to see of a shell; where it was opened from, there is. */
function over(words) {
  screen.link.stop();
  raise("over", words, ["To the agent", () => location.assign(location.pathname)]);
}

let checking = false;

/** Says so, and finds out whether it is the network or the token. */
async function lost(code, reason) {
  // The first thing that a terminal says is which one it wants to be.
  if (code === GONE && side) return over(reason);
  if (code === 4401 && !screen.view && !current()) return lookOnly();
  away(true);
  raise("lost", `${stands ? "The network stands still" : "Connection lost"}: keys are not sent. Trying again…`, ["Try now", () => retry()]);
  if (checking) return;
  checking = true;
  try {
    await get("status");
  } catch (error) {
    if (error.status === 401) await enter();
  } finally {
    checking = false;
  }
}

function retry() {
  screen.link.retry();
  state.link.retry();
  state.probe();
}

/** Whether this window only looks because it has no token, and not because somebody wants it so. */
let lacksToken = false;

/** Without a token, where anybody may read. */
function lookOnly() {
  lacksToken = true;
  view(true);
  raise("reader", "You may look only: no token was shown.", ["Enter the token", () => enter()]);
}

async function enter() {
  screen.link.stop();
  state.link.stop();
  await asked(current() !== null);
  lift("reader");
  if (lacksToken) look(false);
  lacksToken = false;
  await open();
}

async function open() {
  try {
    describe(await admitted("status"));
  } catch (error) {
    raise("lost", error.message, ["Try again", () => open()]);
    return;
  }
  lift("lost");
  state.start();
  screen.start(!page.may);
  panel.live = true;
  panel.refresh();
}

// Tools.

/** Whether this window only looks. */
function look(on) {
  page.may = !on;
  byId("view-toggle").setAttribute("aria-pressed", String(on));
  document.body.classList.toggle("view", on);
}

function view(on) {
  look(on);
  screen.start(on);
  redraw();
  panel.refresh();
}

function fit() {
  screen.fit = !screen.fit;
  byId("fit-toggle").setAttribute("aria-pressed", String(screen.fit));
  screen.start(!page.may);
}

const toTerminal = () => screen.focus();
const toMessage = () => (byId("card").hidden ? page.rest() : focusCard());
const help = shortcuts({
  T: ["to the terminal", toTerminal],
  M: ["to the message, or to the dialog", toMessage],
  A: ["to the dialog's answers", focusCard],
  W: ["why: evidence for the state", () => panel.choose("why")],
  L: ["the transcript", () => panel.choose("transcript")],
  S: ["the session: usage, restart", () => panel.choose("session")],
  P: ["side panel", () => panel.toggle()],
  R: ["read only", () => view(page.may)],
  F: ["fit the terminal to this window", fit],
  D: ["dark, light, as the system", turnColours],
  X: ["text for screen readers", () => screen.readAloud()],
  H: ["this help", () => help()],
}, [
  [["Enter"], "send the message (with Shift: a new line)"],
  [["1", "…", "9"], "in a dialog: go to that answer; Enter gives it"],
  [["Esc"], "from the message or the dialog back to the terminal"],
]);
byId("view-toggle").onclick = () => view(page.may);
byId("fit-toggle").onclick = fit;
byId("theme-toggle").onclick = turnColours;
byId("help-toggle").onclick = help;
byId("dock").addEventListener("keydown", (event) => event.key === "Escape" && toTerminal());
look(!page.may);
// Who serves all boxes has this one at `box/NAME/`.
byId("boxes").hidden = !/\/box\/[^/]+\/$/.test(new URL(".", document.baseURI).pathname);

// A link with a token that was followed in this very tab.
addEventListener("hashchange", () => location.hash.includes("token=") && location.reload());
// Where a soft keyboard covers the page instead of shrinking it; who has zoomed in is left alone.
visualViewport?.addEventListener("resize", () => {
  document.body.style.height = visualViewport.scale === 1 ? `${visualViewport.height}px` : "";
});

await open();
