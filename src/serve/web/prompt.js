// A dialog of an agent, with buttons that answer this very dialog and no other.

import { h, link, safeLink } from "./dom.js";
import { questions } from "./questions.js";

/** The longest free text of an answer. */
const TEXT_LENGTH_MAX = 20_000;

const TITLES = { permission: "Permission", plan: "Plan", question: "Question", setup: "Setup" };

/** `answer(body, what)` is called with what the contract wants, and the words for it. */
export function drawPrompt(prompt, answer, may) {
  const body = prompt.type === "question" && prompt.questions.length ? questions(prompt, answer) : choices(prompt, answer);
  const drawn = prompt.screen_lines.length > 0 && h("details", {}, h("summary", {}, "As the agent draws it"), h("pre", {}, prompt.screen_lines.join("\n")));
  return [head(prompt), about(prompt), body, note(prompt, may), drawn];
}

/** What two drawings of one dialog have in common: what the agent draws anew does not throw away what was chosen in it. */
export function promptKey(prompt, may) {
  const { screen_lines: _, question_current: __, ...told } = prompt ?? {};
  return prompt && JSON.stringify([told, may]);
}

function head(prompt) {
  const what = [prompt.tool, prompt.subtype].filter((word) => word && word !== "tool").join(" · ").replaceAll("_", " ");
  return h("h2", {}, TITLES[prompt.type] ?? prompt.type, what && h("span", {}, what));
}

function about(prompt) {
  const url = prompt.auth_url && safeLink(prompt.auth_url);
  return [
    prompt.input && prompt.questions.length === 0 && h("pre", { class: "asked" }, readable(prompt.input)),
    prompt.summary && h("pre", { class: "asked plan" }, prompt.summary),
    url && h("p", {}, link(url, "Log in at ", new URL(url).host), ". A code that is shown there belongs into the terminal."),
    prompt.auth_url && !url && h("p", {}, `Log in at ${prompt.auth_url}`),
  ];
}

/** A tool's input is JSON, unless it was cut: then it is shown as it stands. */
function readable(input) {
  try {
    const value = JSON.parse(input);
    if (typeof value.command === "string") return value.description ? `${value.command}\n\n# ${value.description}` : value.command;
    return Object.entries(value).map(([name, one]) => `${name}: ${typeof one === "string" ? one : JSON.stringify(one)}`).join("\n");
  } catch {
    return input;
  }
}

/** One button for each option; yes and no before they are read, which an agent's hook takes already. Words can go with a no. */
function choices(prompt, answer) {
  const button = (label, body, kind) =>
    h("button", { type: "button", class: kind, onclick: () => answer(body, label) }, label);
  const options = !prompt.ready ? [] : prompt.options.map((label, index) =>
    h("button", { type: "button", class: index === 0 ? "primary" : null, onclick: () => answer({ option: index + 1 }, label) },
      h("kbd", { "aria-hidden": "true" }, String(index + 1)), label));
  const plain = prompt.type === "setup" ? [] : [button("Yes", { accept: true }, "primary"), button("No", { accept: false })];
  return [h("div", { class: "options", role: "group", "aria-label": "Answers" }, options.length ? options : plain), takesWords(prompt) && words(prompt, answer)];
}

/** Of the dialogs that set an agent up, only those take words that want a key. */
const takesWords = ({ type, subtype, options }) => type !== "setup" || (subtype === "api_key" && options.length === 0);

function words(prompt, answer) {
  const refusal = prompt.type !== "setup";
  const label = refusal ? "No, and say what to do instead" : "The key";
  const box = h("input", { type: refusal ? "text" : "password", maxlength: TEXT_LENGTH_MAX, placeholder: label, "aria-label": label, autocomplete: "off" });
  const send = (event) => {
    event.preventDefault();
    // A key is not shown again in what became of it.
    if (box.value.trim()) answer(refusal ? { accept: false, text: box.value } : { text: box.value }, refusal ? box.value : label);
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
