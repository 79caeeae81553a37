// The session itself: what runs, what it cost, its end and its restarts.

import { get, post } from "./api.js";
import { ask } from "./ask.js";
import { byId, duration, h, show } from "./dom.js";
import { sent } from "./receipts.js";

const number = new Intl.NumberFormat("en");

export async function info(page) {
  let status;
  try {
    status = await get("status");
  } catch (error) {
    return error.status && show(byId("session"), h("p", { class: "error" }, error.message));
  }
  page.describe(status);
  const usage = page.agent && (await get("session/usage").catch(() => null));
  const row = (name, value) => value !== null && value !== undefined && value !== "" && [h("dt", {}, name), h("dd", {}, String(value))];
  const labels = Object.entries(status.labels).map(([name, value]) => `${name}=${value}`).join(" ");
  show(byId("session"),
    h("dl", { class: "facts" },
      row("Agent", status.agent), row("Command", status.command.join(" ")), row("Directory", status.cwd), row("Labels", labels),
      row("Life", [life(status), sequel(status)].filter(Boolean).join("; ")), row("Process", status.pid), row("Running for", duration(status.uptime_secs)), row("Restarts", status.restarts || null),
      row("Terminal", status.terminal && `${status.terminal.cols} × ${status.terminal.rows}`), row("Output", `${number.format(status.bytes_read)} bytes`),
      row("Connections", status.ws_clients), row("coop", status.version)),
    usage && [h("h3", {}, "Usage"), h("dl", { class: "facts" },
      row("Requests", number.format(usage.request_count)), row("Tokens read", number.format(usage.input_tokens)), row("Tokens written", number.format(usage.output_tokens)),
      row("From the cache", number.format(usage.cache_read_tokens)), row("To the cache", number.format(usage.cache_write_tokens)),
      // Not every agent tells dollars.
      row("Cost", usage.total_cost_usd > 0 ? `$${usage.total_cost_usd.toFixed(4)}` : null))],
    isOwn(status) && h("h3", {}, "Child"),
    isOwn(status) && h("div", { class: "row start" },
      h("button", { type: "button", disabled: !page.may, onclick: () => restart(page, false) }, "Restart…"),
      status.agent !== "unknown" && h("button", { type: "button", disabled: !page.may, onclick: () => restart(page, true) }, "Restart and resume…")));
}

/** How the child lives, or how it ended. */
export function life(status) {
  if (status.state !== "exited") return status.state;
  return ending({ code: status.exit_code, signal: status.exit_signal, error: status.error }, isOwn(status));
}

/** Whether coop started it, and can do so again; else it was borrowed from tmux or screen, and may go on there. */
const isOwn = ({ backend }) => (backend ?? "pty") === "pty";

export function ending({ code, signal, error }, own = true) {
  if (error) return own ? `could not be started: ${error}` : error;
  return signal ? `ended by signal ${signal}` : `exited with code ${code}`;
}

/** What becomes of a program that has ended, where `--restart` says that something does. */
function sequel(status) {
  if (status.parked) return "parked: it ended five times within a minute, and is not started again by itself";
  if (!status.restarts_at_ms) return null;
  return `it is started again by itself at ${new Date(status.restarts_at_ms).toLocaleTimeString()}`;
}

/** The end that the card shows, and the status after it once that is known. */
let shown = { now: null, status: null };

/** The card of a program that has ended. */
export async function ended(page, now) {
  byId("ended").hidden = now.next !== "exited";
  if (byId("ended").hidden) return;
  const isNew = shown.now !== now;
  if (isNew) shown = { now, status: null };
  drawEnd(page, shown);
  if (!isNew) return;
  const status = await get("status").catch(() => null);
  if (shown.now !== now || !status || !sequel(status)) return;
  shown.status = status;
  drawEnd(page, shown);
}

function drawEnd(page, { now, status }) {
  const own = isOwn(page);
  const again = status?.restarts_at_ms ? "Start it now" : "Start it again";
  show(byId("ended"),
    h("h2", {}, own ? "The program has ended" : "coop serves this session no more", h("span", {}, now.exit ? ending(now.exit, own) : "")),
    status && h("p", {}, `${sequel(status)}.`.replace(/^./, (first) => first.toUpperCase())),
    own && h("div", { class: "options" },
      h("button", { type: "button", class: "primary", disabled: !page.may, onclick: () => restart(page, false, true) }, again),
      page.agent && h("button", { type: "button", disabled: !page.may, onclick: () => restart(page, true, true) }, `${again} and resume`)));
}

async function restart(page, resume, dead = false) {
  const question = { title: "Restart the program?", text: "What runs inside is ended first. Whatever it has not saved is lost.", yes: "Restart" };
  if (!dead && !(await ask(question))) return;
  const line = sent(resume ? "restart and resume" : "restart");
  try {
    const answer = await post("session/restart", { resume });
    line.answered({ delivered: true, receipt: { phase: "accepted", witness: answer.pid ? `process ${answer.pid}` : null } });
  } catch (error) {
    line.failed(error);
    page.refused(error);
  }
}
