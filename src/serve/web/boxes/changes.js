// What an agent changed in a workspace that is kept apart: looked at, carried over, thrown away.

import { get, post } from "../api.js";
import { ask } from "../ask.js";
import { byId, h, show } from "../dom.js";
import { stop } from "./acts.js";
import { isThere } from "./words.js";

/** Lines that are drawn; more would stop the browser, and `coop diff` has them all. */
const LINES_MAX = 5_000;

const KINDS = { added: "A", modified: "M", deleted: "D", type_changed: "T", mode_changed: "m" };

/** The longest that carrying over is waited for, in milliseconds. */
const SLOW_MS_MAX = 600_000;

export function changes(page) {
  const dialog = byId("changes");
  let box = null;
  const path = (what) => `boxes/${encodeURIComponent(box.name)}/${what}`;

  async function open(which) {
    box = which;
    byId("changes-title").textContent = `Changes in ${box.name}`;
    say("reading…");
    show(byId("changes-list"));
    show(byId("changes-text"));
    complain("");
    lock(true);
    if (!dialog.open) dialog.showModal();
    await read();
  }

  async function read() {
    try {
      draw(await get(path("diff"), { msMax: SLOW_MS_MAX }));
    } catch (error) {
      failed(error);
    }
  }

  function draw(diff) {
    const { changes: list, text, is_cut: isCut } = diff;
    const row = (change) => h("li", {}, h("label", {},
      h("input", { type: "checkbox", checked: true, value: change.path }), h("b", { "data-kind": change.kind }, KINDS[change.kind] ?? "?"), h("code", {}, change.path)));
    show(byId("changes-list"), list.map(row));
    const lines = text.split("\n");
    const drawn = lines.slice(0, LINES_MAX).map((line) => h("span", { class: look(line) }, `${line}\n`));
    show(byId("changes-text"), drawn, (isCut || lines.length > LINES_MAX) && h("span", { class: "dim" }, `The rest is too long for this page: coop diff ${box.name}`));
    byId("changes-text").hidden = text === "";
    say(list.length === 0 ? "Nothing is changed." : `${list.length} changed ${list.length === 1 ? "file" : "files"} in ${box.workspace}`);
    lock(list.length === 0);
  }

  /** The chosen ones; none of them named means all. */
  function chosen() {
    const all = [...byId("changes-list").querySelectorAll("input")];
    const on = all.filter((one) => one.checked);
    return { paths: on.length === all.length ? [] : on.map((one) => one.value), count: on.length };
  }

  /** Layers of a box that runs are the kernel's: it is stopped first, if somebody agrees. */
  async function stands() {
    const now = page.box(box.name) ?? box;
    if (!isThere(now)) return true;
    if (!(await ask({ title: `Stop ${box.name} first?`, text: "Changes can be moved while the box stands still. It can be started again afterwards.", yes: "Stop it" }))) return false;
    await stop(box.name);
    return true;
  }

  async function act(what, force = false) {
    const { paths, count } = chosen();
    if (count === 0) return complain("Nothing is chosen.");
    complain("");
    lock(true);
    try {
      if (!(await stands())) return lock(false);
      const told = await post(path(what), { paths, ...(what === "apply" && { force }) }, { msMax: SLOW_MS_MAX });
      const done = told.applied ?? told.discarded;
      await read();
      say(`${what === "apply" ? "Applied" : "Discarded"}: ${done.length === 0 ? "nothing" : done.join(", ")}`);
      if (told.refused?.length) await refused(told.refused, force);
    } catch (error) {
      failed(error);
    }
  }

  async function refused(lines, force) {
    complain(`Left alone:\n${lines.join("\n")}`);
    if (!force && (await ask({ title: "Apply the rest all the same?", text: lines.join("; "), yes: "Apply all the same" }))) await act("apply", true);
  }

  async function discard() {
    const { count } = chosen();
    const text = `${count} changed ${count === 1 ? "file is" : "files are"} thrown away, and cannot be brought back.`;
    if (await ask({ title: `Discard changes of ${box.name}?`, text, yes: "Discard" })) await act("discard");
  }

  const say = (text) => (byId("changes-note").textContent = text);
  const complain = (text) => (byId("changes-error").textContent = text);
  const lock = (on) => ["changes-apply", "changes-discard"].forEach((id) => (byId(id).disabled = on));
  function failed(error) {
    complain(error.message);
    lock(false);
    page.refused(error);
  }

  byId("changes-apply").onclick = () => act("apply");
  byId("changes-discard").onclick = discard;
  byId("changes-close").onclick = () => dialog.close();
  return open;
}

/** How a line of a diff looks. */
function look(line) {
  if (/^(diff |index |--- |\+\+\+ |new file|deleted file|old mode|new mode|Binary)/.test(line)) return "meta";
  return { "+": "plus", "-": "minus", "@": "place" }[line[0]] ?? null;
}
