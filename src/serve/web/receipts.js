// What became of messages and answers: how far each got, who saw it, and what is learnt later.

import { byId, cut, h } from "./dom.js";

/** Lines that are kept. */
const LINES_MAX = 30;
const TEXT_LENGTH_MAX = 80;

/** How many rows of text are seen: always so many, so that a new line does not size the terminal anew, and all of the newest. */
const ROWS_MIN = 2;
const ROWS_MAX = 5;
const ROW_PX = 20;

const BUSY = "agent_busy";

const REASONS = {
  [BUSY]: "the agent is busy; tick “queue it” to let it keep the message",
  queued: "the agent has queued it",
  no_prompt: "there is no dialog any more",
};

/** Why a message that nobody has seen arrive may do so yet: sent once more, it would arrive twice. */
const ON_ITS_WAY = ["queued", "unconfirmed"];

/** Lines by the id of their receipt, for those that are confirmed late. */
const open = new Map();

/** A new line: what was sent, and whether that is a no; gives what settles it. */
export function sent(what, isNo = false) {
  const place = h("span", { class: "outcome" }, "sending…");
  const line = h("li", { "data-phase": "sending" }, h("span", { class: "what" }, cut(what, TEXT_LENGTH_MAX)), " ", place);
  byId("receipts").prepend(line);
  byId("receipts").scrollTop = 0;
  makeRoom();
  while (byId("receipts").children.length > LINES_MAX) byId("receipts").lastChild.remove();
  return {
    answered(answer) {
      tell(line, place, phase(answer, isNo), outcome(answer, isNo));
      if (answer.reason === BUSY) line.dataset.reason = BUSY;
      if (answer.receipt && !answer.delivered) open.set(answer.receipt.id, { line, place, isNo });
      if (open.size > LINES_MAX) open.delete(open.keys().next().value);
    },
    /** `giveBack` puts it where it can be sent once more, for who knows better than we do. */
    failed(error, giveBack) {
      tell(line, place, ...fate(error));
      if (error.lost && giveBack) line.append(" ", putBack(giveBack));
    },
  };
}

/** A receipt that got further after its answer was given. */
export function later(receipt) {
  const known = open.get(receipt.id);
  if (!known) return;
  tell(known.line, known.place, phase({ receipt }, known.isNo), seen(receipt, known.isNo));
  if (["accepted", "refused"].includes(receipt.phase)) open.delete(receipt.id);
}

/** News of receipts were missed, and cannot be had any more. */
export function missed() {
  for (const { place } of open.values()) place.textContent += " · what became of it later was missed";
  makeRoom();
  open.clear();
}

/** The agent rests: what it was too busy for can be sent once more. */
export function rested() {
  for (const line of byId("receipts").querySelectorAll(`[data-reason=${BUSY}]`)) {
    delete line.dataset.reason;
    tell(line, line.querySelector(".outcome"), line.dataset.phase, "not delivered: it is idle now, send it again");
  }
}

function tell(line, place, phase, text) {
  line.dataset.phase = phase;
  place.textContent = text;
  makeRoom();
}

/** The strip is as high as its rows, never as a half of one. */
function makeRoom() {
  const list = byId("receipts");
  const rows = Math.round((list.firstChild?.offsetHeight ?? 0) / ROW_PX);
  list.style.height = `${ROW_PX * Math.min(Math.max(rows, ROWS_MIN), ROWS_MAX)}px`;
}

/** How far it got; a no that was taken is `declined`, which is nothing good and nothing bad. */
export function phase(answer, isNo) {
  const far = answer.receipt?.phase ?? (answer.delivered ? "accepted" : "refused");
  return isNo && far === "accepted" ? "declined" : far;
}

/** Whether it is there, or may get there yet. */
export const mayArrive = (answer) => answer.delivered || ON_ITS_WAY.includes(answer.reason);

/** What became of something whose call failed: the phase, and the words. */
export const fate = (error) => (error.lost ? ["unconfirmed", "no answer came: it may have arrived"] : ["refused", complaint(error)]);

export function putBack(giveBack) {
  const button = h("button", { type: "button", class: "quiet" }, "put it back");
  button.addEventListener("click", () => {
    button.remove();
    giveBack();
  });
  return button;
}

const complaint = (error) => (error.code ? `${error.message} (${error.code})` : error.message);

/** The same in words, with who saw it or why it was not taken. */
export function outcome(answer, isNo) {
  const { receipt, reason } = answer;
  const why = reason ? (REASONS[reason] ?? reason) : null;
  if (!receipt) return answer.delivered ? "delivered" : `not delivered: ${why ?? "no reason given"}`;
  return [seen(receipt, isNo), answer.delivered ? null : why].filter(Boolean).join(" · ");
}

function seen(receipt, isNo) {
  const far = phase({ receipt }, isNo);
  const word = far === "declined" ? "refused" : far;
  return receipt.witness ? `${word} · seen by ${receipt.witness}` : word;
}
