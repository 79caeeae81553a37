// The form for a new box. What the server says against it is shown as it comes: it names the way out.

import { follow, post } from "../api.js";
import { byId, h, show } from "../dom.js";
import { splitWords } from "./words.js";

/** Starting is waited for so long at most, in milliseconds; what it stands on has been made ready before. */
const START_MS_MAX = 120_000;

export function create(page) {
  const dialog = byId("create");
  let stop = null;
  dialog.addEventListener("close", () => stop?.abort());
  byId("create-cancel").onclick = () => dialog.close();

  byId("create-form").onsubmit = async (event) => {
    event.preventDefault();
    if (byId("create-submit").disabled) return;
    const source = asked();
    if (!source) return complain("A quote of the command is open.");
    complain("");
    byId("create-submit").disabled = true;
    stop = new AbortController();
    const mine = stop;
    try {
      await follow("images/build", (step) => say(progress(step)), { method: "POST", body: { source }, signal: mine.signal });
      if (mine.signal.aborted) return;
      say("starting…");
      const box = await post("boxes", { source }, { msMax: START_MS_MAX });
      page.made(box);
      if (mine === stop) dialog.close();
    } catch (error) {
      if (mine.signal.aborted) return;
      complain(error.message);
      page.refused(error);
    } finally {
      byId("create-submit").disabled = false;
      say("");
    }
  };

  return () => {
    complain("");
    say("");
    show(byId("directories"), [...new Set(page.boxes().map((box) => box.workspace))].map((directory) => h("option", { value: directory })));
    dialog.showModal();
    byId("create-directory").focus();
  };
}

/** The form as the contract wants it; what is empty is left to coop.toml. */
function asked() {
  const of = (id) => byId(`create-${id}`).value.trim();
  const command = splitWords(of("command"));
  if (!command) return null;
  const source = { directory: of("directory"), name: of("name"), command };
  if (of("agent")) source.agent = of("agent");
  if (of("mode")) source.workspace_mode = of("mode");
  if (of("network")) source.network = of("network");
  return source;
}

/** `pull sha256:1234: 45 %` */
function progress({ step, what, done_bytes: done, total_bytes: total, line }) {
  const share = total ? `: ${Math.floor((100 * done) / total)} %` : "";
  return line ?? `${step} ${what}${share}`.trim();
}

const say = (text) => (byId("create-progress").textContent = text);
const complain = (text) => (byId("create-error").textContent = text);
