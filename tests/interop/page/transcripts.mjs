// Transcripts as people read them: logs that real agents wrote, read by the page's own code in the browser.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";

const LOGS = new URL("logs/", import.meta.url);

async function readIn(window, name) {
  const lines = (await readFile(new URL(name, LOGS), "utf8")).split("\n");
  return window.page.evaluate(async (all) => (await import(new URL("web/lines.js", document.baseURI))).readAll(all), lines);
}

const has = (entries, wanted) =>
  assert.ok(entries.some((entry) => Object.entries(wanted).every(([name, value]) => entry[name] === value)), `${JSON.stringify(wanted)} in ${JSON.stringify(entries, null, 1)}`);

export const transcripts = [
  ["the logs of all agents are read as who said what", async (world) => {
    const coop = await world.shell();
    const window = await world.open(coop.url);
    await window.connected();
    const claude = await readIn(window, "claude.jsonl");
    has(claude, { who: "user", kind: "text", text: "work4 @@bashsleep" });
    has(claude, { who: "agent", kind: "tool", name: "Bash", text: "sleep 6; echo slept" });
    has(claude, { who: "tool", kind: "result", text: "slept" });
    assert.ok(claude.every((entry) => !entry.text.includes("<command-name>")));
    const codex = await readIn(window, "codex.jsonl");
    has(codex, { who: "user", kind: "text", text: "see @wor" });
    has(codex, { who: "agent", kind: "text", text: "ECHO: see @wor" });
    has(codex, { who: "agent", kind: "tool", name: "exec_command", text: "touch /etc/probe1" });
    const gemini = await readIn(window, "gemini.jsonl");
    has(gemini, { who: "user", kind: "text", text: "now fake:twoshell" });
    has(gemini, { who: "agent", kind: "tool", name: "Shell", text: "touch one" });
    assert.ok(gemini.every((entry, i) => entry.kind !== "text" || gemini[i - 1]?.text !== entry.text), "nothing is said twice");
  }],
];
