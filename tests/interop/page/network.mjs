// Between browser and server: a proxy with a path of its own, connections that break, and a network that stands still.
import assert from "node:assert/strict";
import { Coop, WITHIN_MS } from "./coop.mjs";
import { ENDS_LONG_WORK, receipt, waits } from "./messages.mjs";
import { Proxy } from "./proxy.mjs";

/** The README says 15 s; a browser that is kept busy may be a little late. */
const NOTICED_MS = 20_000;

const ATTACH = "/api/v1/attach";

/** More than the page lets wait for xterm.js to draw it. */
const FLOOD_BYTES = 12 * 1024 * 1024;

const LOST = /WebSocket connection|ERR_|Failed to load resource/;

/** A shell behind a proxy. The browser's origin is the proxy's, which coop must be told of. */
async function behind(world) {
  const proxy = world.track(await new Proxy("http://127.0.0.1:1", "/teams/a/coop/").start());
  const coop = world.track(await Coop.shell(world.bin, ["--allow-origin", proxy.origin]));
  proxy.target = new URL(coop.url);
  return { proxy, coop };
}

export const network = [
  ["the page works behind a path of a reverse proxy", async (world) => {
    const { proxy, coop } = await behind(world);
    const window = await world.open(proxy.url);
    await window.connected();
    await window.types("echo behind-$((1))\n");
    await coop.shows("behind-1");
    await window.page.keyboard.press("Alt+Shift+S");
    await window.at("#session").getByText("bash --norc").waitFor();
  }],

  ["a broken connection is told, and afterwards the screen is as it is then", async (world) => {
    const { proxy, coop } = await behind(world);
    const window = await world.open(proxy.url);
    window.expect(LOST);
    await window.connected();
    proxy.cut();
    await window.at("#banner").getByText("Connection lost: keys are not sent.").waitFor();
    const faint = () => Promise.all(["#stage", "#badge"].map((one) => window.at(one).evaluate((element) => Number(getComputedStyle(element).opacity) < 1)));
    assert.deepEqual(await faint(), [true, true], "nothing of it is news");
    assert.ok(!(await window.at("#state-since").isVisible()), "nobody knows how long it is so");
    await coop.call("POST", "input", { text: "echo meanwhile-$((1))", enter: true });
    await coop.shows("meanwhile-1");
    proxy.mend();
    await window.connected();
    assert.deepEqual(await faint(), [false, false]);
    await window.shows("meanwhile-1");
    await window.types("echo again-$((1))\n");
    await coop.shows("again-1");
  }],

  ["a network that stands still is noticed, and gone on with when it moves", async (world) => {
    const { proxy, coop } = await behind(world);
    const window = await world.open(proxy.url);
    window.expect(LOST);
    await window.connected();
    proxy.pause();
    await window.at("#banner").getByText("The network stands still: keys are not sent.").waitFor({ timeout: NOTICED_MS });
    await window.types("echo fallen\n");
    await coop.call("POST", "input", { text: "echo meanwhile-$((2))", enter: true });
    await coop.shows("meanwhile-2");
    proxy.resume();
    await window.connected();
    await window.shows("meanwhile-2");
    await window.types("echo again-$((2))\n");
    await coop.shows("again-2");
    assert.equal((await coop.screen()).split("again-2").length, 2, "typed once");
    assert.ok(!(await coop.screen()).includes("fallen"), "what was typed meanwhile does not come late");
  }],

  ["a window that cannot keep up with a flood joins anew when it has drawn it, shows what the server does, and sends what was typed meanwhile", async (world) => {
    const { proxy, coop } = await behind(world);
    const window = await world.open(proxy.url);
    window.expect(LOST);
    await window.connected();
    await window.at("#terminal").click();
    await window.draws(false);
    const left = window.leaves(ATTACH);
    proxy.flood(ATTACH, FLOOD_BYTES);
    proxy.cut();
    await window.at("#banner").getByText("Connection lost").waitFor();
    proxy.mend();
    await left;
    await window.page.keyboard.type("echo typed-$((1)); exec cat\n");
    await coop.call("POST", "input", { text: "echo meanwhile-$((1))", enter: true });
    await coop.shows("meanwhile-1");
    // Whoever came back at once would be there before these answers are.
    for (const _ of Array(5)) await window.page.evaluate(() => fetch("api/v1/health").then((answer) => answer.text()));
    assert.equal(proxy.opened(ATTACH), 2, "nothing can be painted before the flood is");
    await window.draws(true);
    await coop.shows("typed-1");
    // Nothing is printed behind it, so that there is one end to wait for.
    await window.rows((await coop.call("GET", "screen")).lines);
  }],

  ["a window that nobody looks at comes back without taking the size from others, and has its own when it is looked at", async (world) => {
    const { proxy, coop } = await behind(world);
    const one = await world.open(proxy.url);
    one.expect(LOST);
    await one.connected();
    const size = () => one.at("#fit-toggle").getAttribute("data-size");
    const own = await size();
    const other = await world.open(coop.url, { viewport: { width: 1500, height: 900 } });
    await other.connected();
    const others = await other.at("#fit-toggle").getAttribute("data-size");
    assert.notEqual(own, others);
    await one.looked(false);
    proxy.cut();
    await one.at("#banner").getByText("Connection lost").waitFor();
    proxy.mend();
    await one.connected();
    const { cols, rows } = (await coop.call("GET", "status")).terminal;
    assert.equal(`${cols}×${rows}`, others);
    await one.looked(true);
    await other.page.waitForFunction((wanted) => document.getElementById("fit-toggle").dataset.size === wanted, own);
  }],

  ["a message that waited and was taken while the connection was lost says so afterwards", async (world) => {
    const proxy = world.track(await new Proxy("http://127.0.0.1:1", "/a/").start());
    const coop = await world.played(["--allow-origin", proxy.origin]);
    proxy.target = new URL(coop.url);
    const window = await world.open(proxy.url);
    window.expect(LOST);
    await window.says("idle");
    await waits(coop, window, "and then this");
    proxy.cut();
    await window.at("#banner").getByText("Connection lost").waitFor();
    await coop.call("POST", "input", { text: ENDS_LONG_WORK });
    await coop.shows("You said: and then this");
    proxy.mend();
    await window.connected();
    await receipt(window).getByText("accepted · seen by").waitFor();
  }],

  ["another coop in the place of the one that was lost does not answer for its messages", async (world) => {
    const proxy = world.track(await new Proxy("http://127.0.0.1:1", "/a/").start());
    const flags = ["--allow-origin", proxy.origin];
    const coop = await world.played(flags);
    proxy.target = new URL(coop.url);
    const window = await world.open(proxy.url);
    window.expect(LOST);
    await window.says("idle");
    await waits(coop, window, "and then this");
    proxy.cut();
    await window.at("#banner").getByText("Connection lost").waitFor();
    const next = await world.played([...flags, "--label", "name=the-other"]);
    await next.wait({ states: ["idle"] });
    await window.page.evaluate(() => (document.getElementById("state-since").textContent = "of old"));
    proxy.target = new URL(next.url);
    proxy.mend();
    await window.at("#banner").getByText("This is another session").waitFor();
    await window.at("#title").getByText(/^the-other · claude · /).waitFor();
    // It is idle as the one before, but not since then.
    await window.says("idle");
    await window.at("#state-since").getByText(/^\d s$/).waitFor();
    await window.at("#banner-act").click();
    await window.connected();
    await receipt(window).getByText("what became of it later was missed").waitFor();
    await next.call("POST", "agent/nudge", { message: "something else", timeout_ms: WITHIN_MS });
    await next.call("POST", "agent/nudge", { message: "and one more", timeout_ms: WITHIN_MS });
    assert.ok(!(await receipt(window).textContent()).includes("accepted"));
  }],
];
