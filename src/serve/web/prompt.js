// A dialog of an agent, with buttons that answer this very dialog and no other.

import { h, link, safeLink } from "./dom.js";
import { questions } from "./questions.js";

/** The longest free text of an answer. */
const TEXT_LENGTH_MAX = 20_000;

const TITLES = { permission: "Permission", plan: "Plan", question: "Question", setup: "Setup" };

/** `answer(body, what, isNo)` is called with what the contract wants, and the words for it. What is told scrolls, answers stay in sight. */
export function drawPrompt(prompt, answer, may) {
  const asked = about(prompt);
  const drawn = prompt.screen_lines.length > 0 &&
    h("details", { open: asked.isCut }, h("summary", {}, "As the agent draws it"), h("pre", {}, prompt.screen_lines.join("\n")));
  const notes = note(prompt, may);
  if (prompt.type === "question" && prompt.questions.length) return [head(prompt), questions(prompt, answer, drawn), notes];
  return [head(prompt), h("div", { class: "told" }, asked.elements, drawn), h("div", { class: "answers" }, choices(prompt, answer), notes)];
}

/** What two drawings of one dialog have in common: what the agent draws anew does not throw away what was chosen in it. */
export function promptKey(prompt, may) {
  const { screen_lines: _, question_current: __, ...told } = prompt ?? {};
  return prompt && JSON.stringify([told, may]);
}

function head(prompt) {
  // Of questions and plans the kind says all; an agent's name of the tool behind it would be a riddle.
  const tool = prompt.type === "permission" ? prompt.tool : null;
  const what = [tool, prompt.subtype].filter((word) => word && word !== "tool").join(" · ").replaceAll("_", " ");
  return h("h2", {}, TITLES[prompt.type] ?? prompt.type, what && h("span", {}, what));
}

/** What it is about; `isCut` where a part of it is all that is known. */
function about(prompt) {
  const url = prompt.auth_url && safeLink(prompt.auth_url);
  const { text, plan, isCut } = prompt.questions.length > 0 ? {} : readable(prompt);
  const elements = [
    text && h("pre", { class: plan ? "asked plan" : "asked", tabindex: "0", "aria-label": "What it asks for" }, text),
    isCut && h("p", { class: "dim" }, "Cut – see what the agent draws."),
    url && h("p", {}, link(url, "Log in at ", new URL(url).host), ". A code that is shown there belongs into the terminal."),
    prompt.auth_url && !url && h("p", {}, `Log in at ${prompt.auth_url}`),
  ];
  return { elements, isCut };
}

/** A tool's input for people, or the plan in it, which is not told twice. It is JSON, unless it was cut: then it is shown as it stands. */
function readable({ type, input, input_full: full, summary }) {
  const value = parsed(full ?? input);
  if (typeof value?.plan === "string" && type === "plan") return { text: value.plan, plan: true };
  if (summary) return { text: summary, plan: true };
  if (value === null) return { text: full ?? input, isCut: Boolean(full ?? input) };
  if (typeof value.command === "string") return { text: value.description ? `${value.command}\n\n# ${value.description}` : value.command };
  return { text: Object.entries(value).map(([name, one]) => `${name}: ${typeof one === "string" ? one : JSON.stringify(one)}`).join("\n") };
}

function parsed(json) {
  try {
    const value = JSON.parse(json);
    return Object(value) === value ? value : { input: value };
  } catch {
    return null;
  }
}

/** One button for each option; yes and no before they are read, which an agent's hook takes already. Words can go with a no. */
function choices(prompt, answer) {
  const button = (shown, body, kind, label = shown) =>
    h("button", { type: "button", class: kind, onclick: () => answer(body, label, isNo(prompt, label)) }, shown);
  const options = !prompt.ready ? [] : prompt.options.map((label, index) =>
    button([h("kbd", { "aria-hidden": "true" }, String(index + 1)), label], { option: index + 1 }, index === 0 ? "primary" : null, label));
  const plain = prompt.type === "setup" ? [] : [button("Yes", { accept: true }, "primary"), button("No", { accept: false })];
  return [h("div", { class: "options", role: "group", "aria-label": "Answers" }, options.length ? options : plain), takesWords(prompt) && words(prompt, answer)];
}

/** Whether an answer refuses what is asked for: the contract has the labels alone, and all agents begin those with this word. */
const isNo = ({ type }, label) => type !== "setup" && /^no\b/i.test(label);

/** Of the dialogs that set an agent up, only those take words that want a key. */
const takesWords = ({ type, subtype, options }) => type !== "setup" || (subtype === "api_key" && options.length === 0);

function words(prompt, answer) {
  const refusal = prompt.type !== "setup";
  const label = refusal ? "No, and say what to do instead" : "The key";
  const box = h("input", { type: refusal ? "text" : "password", maxlength: TEXT_LENGTH_MAX, placeholder: label, "aria-label": label, autocomplete: "off" });
  const send = (event) => {
    event.preventDefault();
    // A key is not shown again in what became of it.
    if (box.value.trim()) answer(refusal ? { accept: false, text: box.value } : { text: box.value }, refusal ? box.value : label, refusal);
  };
  return h("form", { class: "words", onsubmit: send }, box, h("button", { type: "submit" }, refusal ? "Refuse" : "Send"));
}

function note(prompt, may) {
  const text = !may ? "Read only: turn it off to answer." : !prompt.ready ? "Its options are still being read…" : isElsewhere(prompt) ? "It is answered in the terminal." : null;
  const fallback = prompt.options_fallback ? "The labels are coop's own: the dialog's could not be read." : null;
  return [text, fallback].filter(Boolean).map((line) => h("p", { class: "dim" }, line));
}

/** Whether there is nothing in the card to answer it with. */
const isElsewhere = (prompt) => prompt.type === "setup" && prompt.options.length === 0 && !takesWords(prompt);
