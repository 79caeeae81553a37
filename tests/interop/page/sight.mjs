// What is drawn can be seen and reached, on a desk and in a hand: boxes are measured, not looked at.
import assert from "node:assert/strict";
import { receipt } from "./messages.mjs";
import { DESK, HAND } from "./window.mjs";

const PLACES = [{ viewport: DESK }, { ...HAND, viewport: { width: 390, height: 844 } }];

const PATH = `/a/path/${"without-a-blank-".repeat(12)}end.rs`;

/** Dialogs that are longer than their place: [tool, input]. */
const LONG = [
  ["Bash", { command: `cat ${PATH} ${"and so on ".repeat(10)}`, description: PATH }],
  ["Write", { file_path: PATH, content: "line\n".repeat(100) }],
  ["ExitPlanMode", { plan: `# The plan\n\n${Array.from({ length: 80 }, (_, i) => `${i + 1}. a step, and ${PATH}`).join("\n")}` }],
  ["AskUserQuestion", { questions: [1, 2, 3].map((n) => ({ question: `Is it number ${n}, ${PATH}?`, header: "Choice", multiSelect: n === 2, options: [1, 2, 3].map((one) => ({ label: `${one} ${PATH}`, description: PATH })) })) }],
];

/** What lies outside of what it is in, in words. */
const lost = (window, selector) => window.page.evaluate((all) => {
  const found = [];
  for (const one of document.querySelectorAll(all)) {
    const { left, top, right, bottom, width, height } = one.getBoundingClientRect();
    const what = `${one.tagName} ${one.textContent.slice(0, 20) || one.placeholder}`;
    if (width === 0) continue;
    if (left < 0 || top < 0 || right > innerWidth || bottom > innerHeight) found.push(`${what} is outside: ${[left, top, right, bottom]}`);
    // What is scrolled away, or lies below something else, is hit by no finger.
    const hit = document.elementFromPoint(left + width / 2, top + height / 2);
    if (!one.contains(hit) && !hit?.contains(one)) found.push(`${what} is covered by ${hit?.outerHTML.slice(0, 60)}`);
  }
  return found;
}, selector);

const tooWide = (window) => window.page.evaluate(() => [...document.querySelectorAll("#dock, #dock *, #panel *:not(code)")].filter((one) => one.clientWidth > 0 && one.scrollWidth > one.clientWidth && getComputedStyle(one).overflowX !== "visible").map((one) => one.outerHTML.slice(0, 80)));

export const sight = [
  ["of every dialog all answers are in sight, and nothing runs off its side", async (world) => {
    for (const place of PLACES) {
      const coop = await world.agent();
      const window = await world.open(coop.url, place);
      await window.connected();
      for (const [tool, input] of LONG) {
        const told = coop.hook("PermissionRequest", { tool_name: tool, tool_input: input });
        await window.at("#card button:not(:disabled)").first().waitFor();
        assert.deepEqual(await lost(window, "#card h2, #card .answers button, #card .words input, #badge, #keys button:first-child"), [], tool);
        assert.deepEqual(await tooWide(window), [], tool);
        const long = await window.page.evaluate(() => [...document.querySelectorAll("#card .asked")].every((one) => one.clientHeight <= 0.4 * innerHeight));
        assert.ok(long, "it scrolls in itself");
        await coop.hook("PostToolUse", { tool_name: tool, tool_input: input });
        await window.at("#card").waitFor({ state: "hidden" });
        void told;
      }
    }
  }],

  ["what a dialog has stands in one column, and what is chosen beside the first line of its words", async (world) => {
    const coop = await world.agent();
    const window = await world.open(coop.url);
    await window.connected();
    const edges = (selector) => window.page.evaluate((all) => [...document.querySelectorAll(all)].map((one) => one.getBoundingClientRect()).map(({ left, right }) => `${Math.round(left)}-${Math.round(right)}`), selector);
    for (const [tool, input] of LONG) {
      coop.hook("PermissionRequest", { tool_name: tool, tool_input: input }).catch(() => {});
      await window.at("#card button:not(:disabled)").first().waitFor();
      const all = await edges("#card .asked, #card .options, #card .words, #card fieldset, #card .choice, #card fieldset input[type=text]");
      assert.equal(new Set(all).size, 1, `${tool}: ${all}`);
      const apart = await window.page.evaluate(() => [...document.querySelectorAll("#card .choice")].map((row) => {
        const [box, words] = [row.querySelector("input").getBoundingClientRect(), row.querySelector("span")];
        const first = document.createRange();
        first.setStart(words.firstChild, 0);
        first.setEnd(words.firstChild, 1);
        const line = first.getBoundingClientRect();
        return Math.abs((box.top + box.bottom) / 2 - (line.top + line.bottom) / 2);
      }));
      assert.ok(apart.every((px) => px <= 2), String(apart));
      await coop.hook("PostToolUse", { tool_name: tool, tool_input: input });
      await window.at("#card").waitFor({ state: "hidden" });
    }
  }],

  ["receipts are seen whole, as many as there is room for, and none take no room", async (world) => {
    for (const place of PLACES) {
      const coop = await world.agent();
      const window = await world.open(coop.url, place);
      await window.connected();
      await coop.hook("SessionStart", {});
      await window.says("idle");
      const below = (await window.at("#composer").boundingBox());
      const keys = await window.at("#keys").boundingBox();
      assert.equal(Math.round(below.y + below.height), Math.round(keys?.y ?? place.viewport.height), "no strip without a receipt");
      window.expect(/409/);
      for (const message of ["short", "of as many words as it takes to fill more than one line of a phone and a bit of the next", "no", "no more"]) {
        await window.page.route("**/agent/nudge", (route) => route.fulfill(message === "no" ? { status: 409, json: { error: { code: "WRITER_BUSY", message: `another writes, and goes on to do so for longer than anybody waits: ${message.repeat(40)}` } } } : { json: { delivered: true, receipt: { id: message, phase: "accepted", witness: "hooks: UserPromptSubmit" } } }));
        await window.at("#message").fill(message);
        await window.at("#send").click();
        await window.at("#receipts li[data-phase=sending]").waitFor({ state: "detached" });
        const { strip, rows, first } = await window.page.evaluate(() => {
          const box = (one) => one.getBoundingClientRect().toJSON();
          const list = document.getElementById("receipts");
          return { strip: box(list), rows: [...list.children].map(box), first: list.firstChild.scrollWidth <= list.firstChild.clientWidth };
        });
        assert.ok(first, "not cut at its side");
        assert.ok(strip.bottom <= (keys?.y ?? place.viewport.height) && strip.height >= 40 && strip.height % 20 === 0, JSON.stringify(strip));
        assert.ok(rows[0].top >= strip.top && rows[0].bottom <= strip.bottom, `${message}: ${JSON.stringify([strip, rows[0]])}`);
      }
      assert.ok(await receipt(window).isVisible());
    }
  }],

  ["in a hand nothing hides what the agent does: the header stays above the panel, which a dialog closes", async (world) => {
    const coop = await world.agent();
    const window = await world.open(coop.url, PLACES[1]);
    await window.connected();
    await window.at("#panel-toggle").tap();
    await window.at("#why").getByText("Evidence").waitFor();
    assert.deepEqual(await lost(window, "#badge, #title, #panel-close"), []);
    coop.hook("PermissionRequest", { tool_name: "Bash", tool_input: { command: "ls" } }).catch(() => {});
    await window.at("#panel").waitFor({ state: "hidden" });
    await window.at("#card button:not(:disabled)").first().waitFor();
    assert.deepEqual(await lost(window, "#card .answers button"), []);
  }],

  ["in a hand the name comes before how long it has been so", async (world) => {
    const coop = await world.agent(["--label", "name=a-name-to-know"]);
    const window = await world.open(coop.url, PLACES[1]);
    await window.connected();
    await window.says("starting");
    const title = await window.at("#title").boundingBox();
    const name = await window.page.evaluate(() => {
      const range = document.createRange();
      range.setStart(document.getElementById("title").firstChild, 0);
      range.setEnd(document.getElementById("title").firstChild, "a-name-to-know".length);
      return range.getBoundingClientRect().toJSON();
    });
    assert.ok(name.right <= title.x + title.width, JSON.stringify({ title, name }));
    assert.ok(!(await window.at("#state-since").isVisible()));
  }],
];
