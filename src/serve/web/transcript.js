// The conversation so far: the live log, and on request what was kept before the agent compacted it.

import { get } from "./api.js";
import { byId, h, show } from "./dom.js";
import { readAll } from "./lines.js";

/** Entries of the live log that are shown, and of each transcript that was asked for; older ones are left out. */
const ENTRIES_MAX = 400;

/** How often a log is looked at while the agent works and somebody watches, in milliseconds. */
export const REFRESH_MS = 2_000;

let cursor = null;
let oldest = 0;
let reading = false;
/** What is live; before it what was asked for, and a line where entries between the two were left out. */
let list = null;
let before = null;
let gap = null;

/** Reads what is new. */
export async function transcript() {
  if (reading) return;
  reading = true;
  try {
    // One answer holds only so much of a long conversation: the rest is asked for until nothing new comes.
    while (await readOn());
  } catch (error) {
    if (!error.status) return;
    cursor = null;
    show(byId("transcript"), h("p", { class: "error" }, error.message));
  } finally {
    reading = false;
  }
}

/** Reads as much as one answer holds; whether it held anything. */
async function readOn() {
  if (cursor === null) await begin();
  const caught = await get(`transcripts/catchup?since_transcript=${cursor.transcript}&since_line=${cursor.line}`);
  // Another conversation has begun meanwhile, or another child; what the cursor asked for says nothing of its log.
  if (cursor === null) return true;
  if (cursor.conversation && cursor.conversation !== caught.session_id) {
    forget();
    return true;
  }
  // The agent has compacted: its log began anew.
  if (caught.current_transcript !== cursor.transcript) await begin();
  cursor = { transcript: caught.current_transcript, line: caught.current_line, conversation: caught.session_id };
  append(caught.live_lines);
  return caught.live_lines.length > 0 || caught.transcripts.length > 0;
}

/** Another conversation, or another child. */
export function forget() {
  cursor = null;
}

async function begin() {
  const { transcripts } = await get("transcripts");
  oldest = transcripts.at(-1)?.number ?? 0;
  cursor = { transcript: oldest, line: 0 };
  oldest += 1;
  list = h("ol", { class: "entries", "aria-label": "Conversation" });
  before = h("ol", { class: "entries", "aria-label": "Before the agent compacted it" });
  gap = h("p", { class: "dim", hidden: true }, "Older entries are left out here.");
  show(byId("transcript"), earlier(), before, gap, list, h("p", { id: "silence", class: "dim" }, "Nothing was said yet."));
}

/** A button for what was kept before; each press shows one transcript more. */
function earlier() {
  if (oldest <= 1) return h("span");
  const button = h("button", { type: "button", class: "quiet" }, `Show transcript ${oldest - 1}, from before the agent compacted it`);
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      const { content } = await get(`transcripts/${oldest - 1}`);
      oldest -= 1;
      const entries = readAll(content.split("\n")).slice(-ENTRIES_MAX).map(entry);
      before.prepend(...entries, h("li", { class: "rule" }, `transcript ${oldest} ends here`));
      byId("silence")?.remove();
      button.replaceWith(earlier());
    } catch (error) {
      button.textContent = error.message;
    }
  });
  return button;
}

function append(lines) {
  const pane = byId("transcript");
  const atEnd = pane.scrollTop + pane.clientHeight >= pane.scrollHeight - 20;
  const all = readAll(lines);
  if (all.length === 0) return;
  byId("silence")?.remove();
  if (list.children.length + all.length > ENTRIES_MAX) gap.hidden = false;
  list.append(...all.slice(-ENTRIES_MAX).map(entry));
  while (list.children.length > ENTRIES_MAX) list.firstChild.remove();
  if (atEnd) pane.scrollTop = pane.scrollHeight;
}

function entry({ who, kind, name, text }) {
  if (kind === "text") return h("li", { class: who }, h("b", {}, who), h("p", {}, text));
  const summary = kind === "tool" ? [h("b", {}, name), " ", h("code", {}, text.split("\n")[0].slice(0, 120))] : ["result"];
  return h("li", { class: kind }, h("details", {}, h("summary", {}, summary), h("pre", {}, text)));
}
