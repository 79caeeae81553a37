// How the page is reached: with a token, behind a proxy, over a network that breaks, on a phone, by keys.
import assert from "node:assert/strict";
import { Proxy } from "../page/proxy.mjs";
import { PHONE } from "../page/window.mjs";
import { act, says, tile } from "./tiles.mjs";

const TOKEN = "a-token/with+odd=characters~";
const REFUSED = /401 \(Unauthorized\)|HTTP Authentication failed/;

/** The proxy comes first, because its origin must be allowed. */
async function behind(world, prefix) {
  const proxy = world.track(await new Proxy("http://127.0.0.1:1", prefix).start());
  const user = await world.user("--allow-origin", proxy.origin);
  proxy.target = new URL(user.url);
  return { user, proxy };
}

export const reaching = [
  ["the token is asked for once, for all boxes and for each, and no address ever has it", async (world) => {
    const user = await world.user("--auth-token", TOKEN);
    await user.shell("red");
    const window = await world.open(user.url);
    window.expect(REFUSED);
    const addresses = [];
    window.page.on("request", (request) => addresses.push(request.url()));
    window.page.on("websocket", (socket) => addresses.push(socket.url()));
    const enter = async (token) => {
      await window.at("#token").fill(token);
      await window.at("#gate-form button[type=submit]").click();
    };
    await enter("wrong");
    await window.at("#gate-error").getByText("That is not the token of these boxes.").waitFor();
    await enter(TOKEN);
    await says(window, "red", "running");
    await tile(window, "red").locator(".screen").getByText("ready>").first().waitFor();
    await window.page.reload();
    await says(window, "red", "running");
    await act(window, "red", "Shell").click();
    await window.connected();
    await window.types("echo in-$((1))\n");
    await window.shows("in-1");
    assert.ok(!(await window.at("#gate").isVisible()), "a box asks again");
    assert.ok(addresses.length > 10 && addresses.every((address) => !/token=|wrong|odd/.test(address)), addresses.join("\n"));
  }],

  ["a token in the fragment is taken and removed from the address bar", async (world) => {
    const user = await world.user("--auth-token", TOKEN);
    const window = await world.open(`${user.url}/#token=${encodeURIComponent(TOKEN)}`);
    await window.at("#none").waitFor();
    assert.equal(window.page.url(), `${user.url}/`);
  }],

  ["behind a proxy with a path of its own everything works, shells too", async (world) => {
    const { user, proxy } = await behind(world, "/some/where/");
    await user.agent("green");
    const window = await world.open(proxy.url);
    await says(window, "green", "idle");
    await tile(window, "green").locator(".screen").getByText("Played for tests").first().waitFor();
    await user.asks("green");
    await tile(window, "green").locator(".card").getByRole("button", { name: "Yes" }).first().click();
    await user.wait("green", { text: "● allowed" });
    await act(window, "green", "Shell").click();
    await window.connected();
    await window.types("echo behind-$((1))\n");
    await window.shows("behind-1");
    await window.at("#boxes").click();
    await says(window, "green", "idle");
    assert.equal(window.page.url(), proxy.url);
  }],

  ["after the network was cut the page catches up: what changed, came and went meanwhile", async (world) => {
    const { user, proxy } = await behind(world, "/");
    await user.shell("stays");
    await user.shell("goes");
    const window = await world.open(proxy.url);
    window.expect(/ERR_|WebSocket/);
    await says(window, "goes", "running");
    proxy.cut();
    await window.at("#banner").getByText("Connection lost").waitFor();
    await user.coop("rm", "goes", "--force");
    await user.coop("stop", "stays");
    proxy.mend();
    await says(window, "stays", "stopped");
    await tile(window, "goes").waitFor({ state: "detached" });
    await window.at("#banner").waitFor({ state: "hidden" });
  }],

  ["a network that stands still is noticed, and the page catches up when it moves", async (world) => {
    const { user, proxy } = await behind(world, "/");
    await user.shell("red");
    const window = await world.open(proxy.url);
    window.expect(/ERR_|WebSocket/);
    await says(window, "red", "running");
    proxy.pause();
    await window.at("#banner").getByText("Connection lost").waitFor();
    await user.coop("stop", "red");
    proxy.resume();
    await says(window, "red", "stopped");
    await window.at("#banner").waitFor({ state: "hidden" });
  }],

  ["on a phone nothing overflows, and an answer is a tap away", async (world) => {
    const user = await world.user();
    await user.shell("red", "--workspace", "overlay");
    await user.agent("green");
    await user.asks("green");
    const window = await world.open(user.url, { viewport: PHONE, hasTouch: true, isMobile: true, deviceScaleFactor: 2 });
    await says(window, "red", "running");
    assert.equal(await window.page.evaluate(() => document.documentElement.scrollWidth), PHONE.width);
    assert.equal(await window.page.evaluate(() => document.querySelector("main").scrollWidth), PHONE.width);
    await tile(window, "green").locator(".card").getByRole("button", { name: "Yes" }).first().tap();
    await user.wait("green", { text: "● allowed" });
    await act(window, "red", "Changes").tap();
    await window.at("#changes-note").getByText("Nothing is changed").waitFor();
    const box = await window.at("#changes").boundingBox();
    assert.ok(box.x >= 0 && box.x + box.width <= PHONE.width, JSON.stringify(box));
  }],

  ["everything can be reached by keys", async (world) => {
    const user = await world.user();
    await user.shell("one");
    await user.shell("two", "--workspace", "overlay");
    const window = await world.open(user.url);
    await says(window, "two", "running");
    const focused = () => window.page.evaluate(() => document.activeElement.dataset.name ?? document.activeElement.id);
    await window.page.keyboard.press("ArrowDown");
    assert.equal(await focused(), "one");
    await window.page.keyboard.press("ArrowDown");
    assert.equal(await focused(), "two");
    await window.page.keyboard.press("Alt+Shift+C");
    await window.at("#changes-note").getByText("Nothing is changed").waitFor();
    await window.page.keyboard.press("Escape");
    await window.page.keyboard.press("Alt+Shift+D");
    await window.page.keyboard.press("Alt+Shift+D");
    await window.page.waitForFunction(() => document.documentElement.dataset.theme === "light");
    await window.page.keyboard.press("Alt+Shift+H");
    await window.at("#help").getByText("from box to box").waitFor();
    await window.page.keyboard.press("Escape");
    await tile(window, "two").focus();
    await window.page.keyboard.press("Enter");
    await window.connected();
    assert.match(window.page.url(), /\/box\/two\/$/);
  }],
];
