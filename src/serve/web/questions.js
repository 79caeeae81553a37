// Questions with options: one of them, several, or own words; all questions of a dialog are answered together.

import { h } from "./dom.js";

const TEXT_LENGTH_MAX = 20_000;

/** `beside` is what stands below the questions and scrolls with them. */
export function questions(prompt, answer, beside) {
  const fields = prompt.questions.map((question, index) => field(question, index));
  const complaint = h("p", { class: "error", role: "alert" });
  const submit = (event) => {
    event.preventDefault();
    const answers = fields.map((one) => one.answer());
    const open = answers.findIndex((one) => one === null);
    complaint.textContent = open < 0 ? "" : `Question ${open + 1} has no answer yet.`;
    if (open < 0) answer({ answers }, fields.map((one) => one.words()).join(" · "));
  };
  return h("form", { class: "questions", onsubmit: submit },
    h("div", { class: "told" }, fields.map((one) => one.element), beside),
    h("div", { class: "answers" }, complaint, h("div", { class: "row" }, h("button", { type: "submit", class: "primary" }, "Answer"))));
}

function field(question, index) {
  const type = question.multi_select ? "checkbox" : "radio";
  const boxes = question.options.map(() => h("input", { type, name: `question-${index}` }));
  const own = h("input", { type: "text", maxlength: TEXT_LENGTH_MAX, placeholder: "Own words", "aria-label": `Own words to: ${question.question}`, autocomplete: "off" });
  const instead = h("p", { class: "instead", role: "status" });
  const rows = question.options.map((label, row) =>
    h("label", { class: "choice" }, boxes[row],
      h("span", {}, label, question.descriptions[row] && h("small", {}, question.descriptions[row]))));
  const element = h("fieldset", {}, h("legend", {}, question.question), question.multi_select && h("p", { class: "dim" }, "Several can be chosen."), rows, own, instead);
  // Own words are an answer instead of an option. Neither erases the other: who takes the words back has the choice again.
  const weigh = () => {
    const counts = own.value.trim() === "";
    element.classList.toggle("own", !counts);
    instead.textContent = counts ? "" : "Your words go instead of the options.";
  };
  own.addEventListener("input", weigh);
  return {
    element,
    answer: () => chosen(question, boxes, own),
    words: () => own.value.trim() || question.options.filter((_, row) => boxes[row].checked).join(", "),
  };
}

/** As the contract has it: `option`, `options` or `text`; `null` while nothing is chosen. */
function chosen(question, boxes, own) {
  if (own.value.trim()) return { text: own.value };
  const numbers = boxes.flatMap((box, row) => (box.checked ? [row + 1] : []));
  if (numbers.length === 0) return null;
  return question.multi_select ? { options: numbers } : { option: numbers[0] };
}
