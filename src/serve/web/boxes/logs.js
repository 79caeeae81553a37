// coop's own log of a box, as it is written.

import { follow } from "../api.js";
import { byId } from "../dom.js";
import { isThere } from "./words.js";

/** Lines that are shown at first, and kept at most. */
const TAIL = 200;
const LINES_MAX = 2_000;

/** How near to the end somebody is who wants to see the end, in pixels. */
const NEAR_PX = 40;

export function logs(page) {
  const dialog = byId("logs");
  const text = byId("logs-text");
  let stop = null;
  dialog.addEventListener("close", () => stop?.abort());
  byId("logs-close").onclick = () => dialog.close();

  return async (box) => {
    stop?.abort();
    const mine = new AbortController();
    stop = mine;
    byId("logs-title").textContent = `Log of ${box.name}`;
    text.replaceChildren();
    dialog.showModal();
    const add = (line) => {
      const atEnd = text.scrollHeight - text.scrollTop - text.clientHeight < NEAR_PX;
      text.append(`${line}\n`);
      while (text.childNodes.length > LINES_MAX) text.firstChild.remove();
      if (atEnd) text.scrollTop = text.scrollHeight;
    };
    if (box.error) add(box.error);
    if (!isThere(box)) return add(`The box stands still. Its log is read with: coop logs ${box.name}`);
    try {
      await follow(`stream/log?tail=${TAIL}&follow=true`, ({ line }) => add(line), { base: `box/${encodeURIComponent(box.name)}/`, signal: mine.signal });
      if (!mine.signal.aborted) add("— the box has gone —");
    } catch (error) {
      if (mine.signal.aborted) return;
      add(error.message);
      page.refused(error);
    }
  };
}
