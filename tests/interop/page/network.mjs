// Between browser and server: a proxy with a path of its own, connections that break, and a network that stands still.
import assert from "node:assert/strict";
import { Coop } from "./coop.mjs";
import { Proxy } from "./proxy.mjs";

/** The README says 15 s; a browser that is kept busy may be a little late. */
const NOTICED_MS = 20_000;

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

  ["a broken connection is told, and what was missed is there afterwards", async (world) => {
    const { proxy, coop } = await behind(world);
    const window = await world.open(proxy.url);
    window.expect(LOST);
    await window.connected();
    proxy.cut();
    await window.at("#banner").getByText("Connection lost").waitFor();
    await coop.call("POST", "input", { text: "echo meanwhile-$((1))", enter: true });
    await coop.shows("meanwhile-1");
    proxy.mend();
    await window.connected();
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
    await window.at("#banner").getByText("Connection lost").waitFor({ timeout: NOTICED_MS });
    await coop.call("POST", "input", { text: "echo meanwhile-$((2))", enter: true });
    await coop.shows("meanwhile-2");
    proxy.resume();
    await window.connected();
    await window.shows("meanwhile-2");
    await window.types("echo again-$((2))\n");
    await coop.shows("again-2");
    assert.equal((await coop.screen()).split("again-2").length, 2, "typed once");
  }],
];
