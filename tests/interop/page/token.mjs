// The token: asked once, never in an address, kept as long as wanted.
import assert from "node:assert/strict";
import { Proxy } from "./proxy.mjs";

const TOKEN = "a-token/with+odd=characters~";

const guarded = (world, ...flags) => world.shell(["--auth-token", TOKEN, ...flags], TOKEN);
/** Chromium says in the console which call was refused. */
const REFUSED = /401 \(Unauthorized\)|HTTP Authentication failed/;

async function enter(window, token, keep = false) {
  await window.at("#token").fill(token);
  if (keep) await window.at("#token-keep").check();
  await window.at("#gate-form button[type=submit]").click();
}

export const token = [
  ["the token is asked for once, a wrong one is told to be that, and no address ever has it", async (world) => {
    const coop = await guarded(world);
    const window = await world.open(coop.url);
    window.expect(REFUSED);
    const addresses = [];
    window.page.on("request", (request) => addresses.push(request.url()));
    window.page.on("websocket", (socket) => addresses.push(socket.url()));
    await enter(window, "wrong");
    await window.at("#gate-error").getByText("That is not this session's token.").waitFor();
    await enter(window, TOKEN);
    await window.connected();
    await window.types("echo in-$((1))\n");
    await coop.shows("in-1");
    await window.page.reload();
    await window.connected();
    assert.ok(!(await window.at("#gate").isVisible()), "a reload asks again");
    assert.ok(addresses.length > 10 && addresses.every((address) => !/token=|wrong|odd/.test(address)), addresses.join("\n"));
    const other = await window.context.newPage();
    await other.goto(coop.url);
    await other.locator("#gate").waitFor();
  }],

  ["a token that is to be remembered is there in the next tab", async (world) => {
    const coop = await guarded(world);
    const window = await world.open(coop.url);
    window.expect(REFUSED);
    await enter(window, TOKEN, true);
    await window.connected();
    const other = await window.context.newPage();
    await other.goto(coop.url);
    await other.waitForFunction(() => document.querySelector(".xterm-rows")?.textContent.includes("ready>"));
  }],

  ["a wrong token that was kept for all boxes does not come back", async (world) => {
    const proxy = world.track(await new Proxy("http://127.0.0.1:1", "/box/red/").start());
    const coop = await guarded(world, "--allow-origin", proxy.origin);
    proxy.target = new URL(coop.url);
    const window = await world.open(proxy.url);
    window.expect(REFUSED);
    const kept = () => window.page.evaluate(() => [sessionStorage, localStorage].map((one) => one.getItem("coop-token:/")));
    await window.page.evaluate(() => [sessionStorage, localStorage].forEach((one) => one.setItem("coop-token:/", "wrong")));
    await window.page.reload();
    await window.at("#gate-error").getByText("That is not this session's token.").waitFor();
    assert.deepEqual(await kept(), [null, null]);
    await window.page.reload();
    await window.at("#gate").waitFor();
    assert.equal(await window.at("#gate-error").textContent(), "", "it was shown again");
    await enter(window, TOKEN);
    await window.connected();
    assert.deepEqual(await kept(), [null, null], "it is for this one alone");
  }],

  ["a token in the fragment is taken and removed from the address bar", async (world) => {
    const coop = await guarded(world);
    const window = await world.open(`${coop.url}/?view#token=${encodeURIComponent(TOKEN)}`);
    await window.connected();
    assert.equal(window.page.url(), `${coop.url}/?view`);
    assert.equal(await window.page.evaluate(() => location.hash), "");
  }],

  ["coop open hands the token to the page, which asks for nothing, and no server is sent it", async (world) => {
    const coop = await guarded(world);
    const address = await coop.opened(TOKEN);
    assert.equal(address.split("#")[0], `${coop.url}/`);
    const window = await world.open("about:blank");
    const addresses = [];
    window.page.on("request", (request) => addresses.push(request.url()));
    await window.page.goto(address);
    await window.connected();
    await window.types("echo opened-$((1))\n");
    await coop.shows("opened-1");
    assert.equal(window.page.url(), `${coop.url}/`);
    assert.ok(!(await window.at("#gate").isVisible()), "it was asked for all the same");
    assert.ok(addresses.length > 5 && addresses.every((one) => !one.split("#")[0].includes("odd")), addresses.join("\n"));
    await window.page.reload();
    await window.connected();
  }],

  ["where anybody may read, a page without the token looks and says why it does no more", async (world) => {
    const coop = await guarded(world, "--anonymous-read");
    const window = await world.open(coop.url);
    await window.at("#banner").getByText("You may look only").waitFor();
    await window.shows("ready>");
    await window.types("echo nobody\n");
    assert.equal((await coop.call("GET", "status")).bytes_written, 0);
    await window.at("#banner-act").click();
    await enter(window, TOKEN);
    // It only looked because it had to.
    await window.page.waitForFunction(() => document.getElementById("view-toggle").getAttribute("aria-pressed") === "false");
    await window.connected();
    await window.types("echo somebody-$((1))\n");
    await coop.shows("somebody-1");
  }],

  ["who wants to look only still does when the token is there", async (world) => {
    const coop = await guarded(world);
    const window = await world.open(`${coop.url}/?view`);
    window.expect(REFUSED);
    await enter(window, TOKEN);
    await window.connected();
    assert.equal(await window.at("#view-toggle").getAttribute("aria-pressed"), "true");
    await window.types("echo nobody\n");
    assert.equal((await coop.call("GET", "status")).bytes_written, 0);
  }],
];
