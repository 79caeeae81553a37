// What a box does, in a word, a colour and a sentence. Pure.

import { trouble } from "../trouble.js";

/** The word for what a box does: its agent's state while it runs, and its own otherwise. */
export function stateOf(box) {
  if (box.state !== "running") return box.state;
  const agent = box.agent_state?.state;
  // Nobody can tell what a program without a driver does: it runs.
  return !agent || agent === "unknown" || agent === "unspecified" ? "running" : agent;
}

/** The dialog that waits for somebody. */
export const promptOf = (box) => (stateOf(box) === "prompt" ? (box.agent_state.prompt ?? null) : null);

/** Where a box belongs on the page: `asking`, `live` or `still`. */
export function placeOf(box) {
  if (promptOf(box)) return "asking";
  return ["starting", "running", "ended", "parked"].includes(box.state) ? "live" : "still";
}

/** Whether its session answers. */
export const isThere = (box) => ["running", "ended", "parked"].includes(box.state);

const FILES = { rw: "writes to the project", ro: "only reads the project", overlay: "changes are kept apart" };
const NETWORK = { host: "this machine's network", none: "no network", filtered: "filtered network" };

/** What it is made of, in a few words. */
export function facts(box) {
  const image = box.image && box.image !== "host" ? `image ${box.image}` : null;
  return [FILES[box.workspace_mode], NETWORK[box.network], image, box.published.length > 0 && `ports ${box.published.join(", ")}`].filter(Boolean);
}

/** What somebody should know: why it stands as it does. */
export function remarks(box) {
  const { agent_state: agent } = box;
  return [
    box.error && { kind: "error", text: box.error },
    box.state === "lost" && { kind: "error", text: "Its session has gone without having been told to." },
    box.state === "parked" && { kind: "warning", text: "Its program ended too often, and is not started again by itself." },
    agent && trouble(agent.state, agent) && { kind: agent.state === "error" ? "error" : "warning", text: trouble(agent.state, agent) },
    ...box.warnings.map((text) => ({ kind: "warning", text })),
  ].filter(Boolean);
}

/** What runs: the agent, or else the program. */
export const programOf = (box) => (box.agent && box.agent !== "unknown" ? box.agent : (box.command[0]?.split("/").at(-1) ?? ""));

/** `1 asking, 3 running, 2 standing still` */
export function counts(boxes) {
  const places = boxes.map(placeOf);
  const number = (place) => places.filter((one) => one === place).length;
  const said = [[number("asking"), "asking"], [number("live"), "running"], [number("still"), "standing still"]];
  return said.filter(([n]) => n > 0).map(([n, word]) => `${n} ${word}`).join(", ") || "none";
}

/** The words of a command line: blanks part them, quotes keep them together. `null` while a quote is open. */
export function splitWords(line) {
  const words = [];
  let word = null;
  let quote = null;
  for (let i = 0; i < line.length; i += 1) {
    const char = line[i];
    if (quote) {
      if (char === quote) quote = null;
      else if (char === "\\" && quote === '"' && '"\\'.includes(line[i + 1] ?? "")) word += line[(i += 1)];
      else word += char;
    } else if (/\s/.test(char)) {
      if (word !== null) words.push(word);
      word = null;
    } else if (char === "'" || char === '"') {
      quote = char;
      word ??= "";
    } else if (char === "\\" && i + 1 < line.length) word = (word ?? "") + line[(i += 1)];
    else word = (word ?? "") + char;
  }
  if (quote) return null;
  return word === null ? words : [...words, word];
}
