// What is seen: every box, as it stands, without a reload; and first those that ask.
import assert from "node:assert/strict";

export const tile = (window, name) => window.at(`.tile[data-name="${name}"]`);

/** Waits until the word on a tile is this. */
export const says = (window, name, word) => tile(window, name).locator(".badge b").getByText(word, { exact: true }).waitFor();

export const act = (window, name, label) => tile(window, name).locator(".acts").getByText(label, { exact: true });

const places = (window) => window.page.evaluate(() => Object.fromEntries(["asking", "live", "still"].map((id) => [id, [...document.querySelectorAll(`#${id} .tile`)].map((one) => one.dataset.name)])));

/** Waits until the small picture of a box shows this. */
const pictures = (window, name, words) => tile(window, name).locator(".screen").getByText(words).first().waitFor();

export const tiles = [
  ["every box has a tile that says what it is and what it does", async (world) => {
    const user = await world.user();
    const project = await user.shell("red", "--workspace", "overlay");
    await user.agent("green");
    const window = await world.open(user.url);
    await says(window, "red", "running");
    await says(window, "green", "idle");
    await tile(window, "green").getByText("claude", { exact: true }).waitFor();
    await tile(window, "green").locator(".since").getByText(/^\d+ s$/).waitFor();
    await tile(window, "red").locator(".since").getByText(/^made .* ago$/).waitFor();
    await tile(window, "red").getByText(project).waitFor();
    await tile(window, "red").getByText("changes are kept apart · no network").waitFor();
    await window.at("#counts").getByText("2 running", { exact: true }).waitFor();
  }],

  ["tiles follow what agents do, and boxes that come, stop and go, without a reload", async (world) => {
    const user = await world.user();
    const window = await world.open(user.url);
    await window.at("#none").waitFor();
    await window.page.evaluate(() => (window.here = true));
    await user.agent("blue");
    await says(window, "blue", "idle");
    await user.asks("blue");
    await says(window, "blue", "asks: permission");
    assert.deepEqual((await places(window)).asking, ["blue"]);
    await user.coop("stop", "blue");
    await says(window, "blue", "stopped");
    await window.at("#still").getByText("blue").first().waitFor();
    await user.coop("restart", "blue");
    await says(window, "blue", "idle");
    await user.coop("rm", "blue", "--force");
    await tile(window, "blue").waitFor({ state: "detached" });
    await window.at("#none").waitFor();
    assert.ok(await window.page.evaluate(() => window.here), "the page was not loaded again");
  }],

  ["a tile shows the screen of its box as it changes, and only while it is in view", async (world) => {
    const user = await world.user();
    for (const name of ["a1", "a2"]) await user.shell(name);
    const window = await world.open(user.url, { viewport: { width: 420, height: 330 } });
    await user.types("a1", "printf '\\e[31mthe %s\\e[0m\\n' picture");
    await pictures(window, "a1", "the picture");
    const colour = await tile(window, "a1").locator(".screen span", { hasText: "the picture" }).first().evaluate((one) => one.style.color);
    assert.equal(colour, "rgb(239, 123, 123)");
    await user.types("a2", "echo later-$((1))");
    await user.wait("a2", { text: "later-1" });
    await window.page.setViewportSize({ width: 420, height: 1200 });
    await pictures(window, "a2", "later-1");
    const clients = async () => (await user.inside("a1", "GET", "status")).ws_clients;
    assert.equal(await clients(), 1);
    await window.page.setViewportSize({ width: 420, height: 330 });
    await tile(window, "a2").scrollIntoViewIfNeeded();
    await window.page.waitForFunction(() => document.querySelector("#tiles").scrollTop > 0);
    await window.page.evaluate(() => document.querySelector("#tiles").scrollTo(0, 1e6));
    await gone(clients);
  }],

  ["a flood in a box is shown a few times in a second, not as fast as it comes", async (world) => {
    const user = await world.user();
    await user.shell("flood");
    const window = await world.open("about:blank");
    const frames = [];
    window.page.on("websocket", (socket) => socket.on("framereceived", ({ payload }) => String(payload).includes('"screen"') && frames.push(Date.now())));
    await window.page.goto(user.url);
    await pictures(window, "flood", "ready>");
    await user.types("flood", "for ((i = 0; i < 20000; i++)); do echo row $i; done; echo end-$((1))");
    await pictures(window, "flood", "end-1");
    for (let i = 4; i < frames.length; i += 1) assert.ok(frames[i] - frames[i - 4] > 800, `five pictures in ${frames[i] - frames[i - 4]} ms`);
  }],

  ["those that ask are on top, the one that asked first first, and an answer reaches the box", async (world) => {
    const user = await world.user();
    await user.shell("aaa");
    await user.agent("second");
    await user.agent("first");
    const window = await world.open(user.url);
    await says(window, "aaa", "running");
    await user.asks("second");
    await says(window, "second", "asks: permission");
    await user.asks("first");
    await says(window, "first", "asks: permission");
    assert.deepEqual((await places(window)).asking, ["second", "first"], "a later question does not move an earlier one");
    await window.page.waitForFunction(() => document.title.startsWith("(2)"));
    const card = tile(window, "second").locator(".card");
    await card.getByText("make test", { exact: true }).waitFor();
    await card.getByRole("button", { name: "Yes" }).first().click();
    await user.wait("second", { text: "● allowed" });
    await says(window, "second", "idle");
    await tile(window, "second").locator(".told").getByText("accepted").waitFor();
    // By keys, and with words.
    await window.page.keyboard.press("Alt+Shift+A");
    await window.page.keyboard.press("2");
    assert.match(await window.page.evaluate(() => document.activeElement.textContent), /^2?No$/, "a digit only goes there");
    await window.page.keyboard.press("Tab");
    await window.page.keyboard.type("not now\n");
    await user.wait("first", { text: "● denied" });
    await says(window, "first", "idle");
    assert.deepEqual((await places(window)).asking, []);
  }],

  ["a long warning is one line until more of it is wanted, and what removes looks like nothing else", async (world) => {
    const user = await world.user();
    const window = await world.open("about:blank");
    const warning = `a mount is not what it was: ${"and why that is so ".repeat(30)}`;
    const box = { name: "red", state: "stopped", command: ["bash"], workspace: "/w", workspace_mode: "overlay", network: "none", published: [], warnings: [warning], created_at_ms: 1 };
    await window.page.route("**/stream/boxes", (route) => route.fulfill({ body: `${JSON.stringify({ changed: box })}\n{"all_told":true}\n` }));
    await window.page.goto(user.url);
    const line = tile(window, "red").locator(".remarks li");
    await line.waitFor();
    const folded = (await line.boundingBox()).height;
    assert.ok(folded < 24, `${folded} px`);
    await line.locator("summary").click();
    assert.ok((await line.boundingBox()).height > 2 * folded);
    const colour = (label) => act(window, "red", label).evaluate((one) => getComputedStyle(one).color);
    assert.notEqual(await colour("Remove"), await colour("Start"));
  }],

  ["a message goes to the agent of its box, and its receipt is shown", async (world) => {
    const user = await world.user();
    await user.agent("green");
    const window = await world.open(user.url);
    await says(window, "green", "idle");
    await tile(window, "green").getByLabel("Message to green").fill("hello from afar");
    await window.page.keyboard.press("Enter");
    await user.wait("green", { text: "You said: hello from afar" });
    await tile(window, "green").locator(".told").getByText("accepted · seen by").waitFor();
    assert.equal(await tile(window, "green").getByLabel("Message to green").inputValue(), "");
  }],

  ["what a program says or is called stays text", async (world) => {
    const user = await world.user();
    const hostile = `<img src=x onerror="document.title='owned'">`;
    await user.shell("odd", "--env", `X=${hostile}`);
    const window = await world.open(user.url);
    await user.types("odd", 'echo "$X"; printf "\\e]0;$X\\a"');
    await pictures(window, "odd", "onerror");
    assert.equal(await window.page.evaluate(() => document.querySelectorAll("main img, main script").length), 0);
    assert.notEqual(await window.page.title(), "owned");
  }],
];

/** Looks until nobody is there any more. */
async function gone(clients) {
  for (let tries = 0; tries < 200; tries += 1) {
    if ((await clients()) === 0) return;
    await new Promise((rest) => setTimeout(rest, 50));
  }
  assert.fail("the picture of a tile that nobody sees is still drawn");
}
