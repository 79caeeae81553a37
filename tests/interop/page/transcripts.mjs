// Transcripts as people read them: logs that real agents wrote, read by the page's own code in the browser.
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

const LOGS = new URL("logs/", import.meta.url);

async function readIn(window, name) {
  const lines = (await readFile(new URL(name, LOGS), "utf8")).split("\n");
  return window.page.evaluate(async (all) => (await import(new URL("web/lines.js", document.baseURI))).readAll(all), lines);
}

const has = (entries, wanted) =>
  assert.ok(entries.some((entry) => Object.entries(wanted).every(([name, value]) => entry[name] === value)), `${JSON.stringify(wanted)} in ${JSON.stringify(entries, null, 1)}`);

const said = (text) => JSON.stringify({ type: "user", message: { role: "user", content: text } });

/** Has these lines for a live log, so many in one answer, and a transcript from before. */
async function logs(window, lines, atOnce) {
  await window.page.route(/\/transcripts$/, (route) => route.fulfill({ json: { transcripts: [1, 2].map((number) => ({ number })) } }));
  await window.page.route(/\/transcripts\/2$/, (route) => route.fulfill({ json: { content: said("from before") } }));
  await window.page.route(/\/transcripts\/catchup/, (route) => {
    const since = Number(new URL(route.request().url()).searchParams.get("since_line"));
    const live_lines = lines.slice(since, since + atOnce);
    return route.fulfill({ json: { transcripts: [], live_lines, current_transcript: 2, current_line: since + live_lines.length } });
  });
}

/** A conversation with a log of its own, as hooks tell of it. */
async function conversation(coop, session_id, words) {
  const transcript_path = join(coop.home, `${session_id}.jsonl`);
  await writeFile(transcript_path, words.map((word) => `${said(word)}\n`).join(""));
  return { session_id, transcript_path };
}

export const transcripts = [
  ["another conversation takes the place of the one before, from its first word", async (world) => {
    const coop = await world.agent();
    const window = await world.open(coop.url);
    await window.connected();
    await coop.hook("SessionStart", { ...(await conversation(coop, "one", ["said before"])), source: "startup" });
    await window.says("idle");
    await window.page.keyboard.press("Alt+Shift+L");
    const entry = (text) => window.at("#transcript").getByText(text, { exact: true });
    await entry("said before").waitFor();
    // It is longer already, as one that was gone back to.
    const other = await conversation(coop, "other", ["first", "second", "third"]);
    await coop.hook("SessionStart", { ...other, source: "clear" });
    await coop.hook("UserPromptSubmit", { ...other, prompt: "third" });
    await entry("third").waitFor();
    assert.deepEqual(await window.at("#transcript li.user p").allTextContents(), ["first", "second", "third"]);
  }],

  ["a long conversation is read to its end, and what was asked for stays when more is said", async (world) => {
    const coop = await world.agent();
    const window = await world.open(coop.url);
    await window.connected();
    await coop.hook("SessionStart", {});
    await window.says("idle");
    const lines = Array.from({ length: 9 }, (_, number) => said(`word ${number}`));
    await logs(window, lines, 4);
    await window.page.keyboard.press("Alt+Shift+L");
    const entry = (text) => window.at("#transcript").getByText(text, { exact: true });
    await entry("word 8").waitFor();
    await window.at("#transcript").getByRole("button", { name: "Show transcript 2" }).click();
    await entry("from before").waitFor();
    assert.ok(!(await entry("Older entries are left out here.").isVisible()));
    // Far more than are kept.
    for (let number = 9; number < 500; number += 1) lines.push(said(`word ${number}`));
    await coop.hook("UserPromptSubmit", { prompt: "x" });
    await entry("word 499").waitFor();
    assert.ok(await entry("from before").isVisible());
    assert.ok(await entry("Older entries are left out here.").isVisible());
    assert.equal(await window.at("#transcript li.user").count(), 401);
  }],

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
