// The terminal in the page: what is typed there is typed, what is seen there is so, and who looks changes nothing.
import assert from "node:assert/strict";
import { DESK, HAND, PHONE } from "./window.mjs";

const columns = async (window) => parseInt(await window.at("#fit-toggle").getAttribute("data-size"), 10);

/** Waits until the session has so many columns, as the window is told. */
const settles = (window, wanted) => window.page.waitForFunction((all) => parseInt(document.getElementById("fit-toggle").dataset.size, 10) === all, wanted);

export const terminal = [
  ["what is typed in the page is on the server's screen, and the other way round", async (world) => {
    const coop = await world.shell();
    const window = await world.open(coop.url);
    await window.connected();
    await window.types("echo typed-$((40+2)) wörds 🦀\n");
    await coop.shows("typed-42 wörds 🦀");
    await window.shows("typed-42 wörds 🦀");
    await coop.call("POST", "input", { text: "echo told-$((1+1))", enter: true });
    await window.shows("told-2");
  }],

  ["the session gets the size of the window, and follows it", async (world) => {
    const coop = await world.shell();
    const window = await world.open(coop.url);
    await window.connected();
    const first = (await coop.call("GET", "status")).terminal;
    assert.ok(first.cols < 200 && first.cols > 60 && first.rows > 20, JSON.stringify(first));
    await window.page.setViewportSize({ width: DESK.width + 320, height: DESK.height });
    await window.page.waitForFunction((size) => document.getElementById("fit-toggle").dataset.size !== size, `${first.cols}×${first.rows}`);
    const second = (await coop.call("GET", "status")).terminal;
    assert.ok(second.cols > first.cols && second.rows === first.rows, JSON.stringify([first, second]));
    await window.types(`stty size\n`);
    await coop.shows(`${second.rows} ${second.cols}`);
  }],

  ["a viewer types nothing and sizes nothing", async (world) => {
    const coop = await world.shell();
    const window = await world.open(`${coop.url}/?view`);
    await window.connected();
    await window.types("echo nobody\n");
    await window.page.keyboard.press("Control+d");
    assert.equal(await window.at("#view-toggle").getAttribute("aria-pressed"), "true");
    // What is told afterwards has overtaken nothing.
    await coop.call("POST", "input", { text: "echo somebody", enter: true, wait_for: "echoed" });
    await window.shows("somebody");
    const status = await coop.call("GET", "status");
    assert.deepEqual([status.bytes_written, status.terminal.cols, status.terminal.rows], ["echo somebody\r".length, 200, 50]);
  }],

  ["two windows show the same, and either types", async (world) => {
    const coop = await world.shell();
    const [one, other] = [await world.open(coop.url), await world.open(coop.url, { viewport: { width: 1500, height: 900 } })];
    await one.connected();
    await other.connected();
    await one.types("echo from-$((1))\n");
    await other.shows("from-1");
    await other.types("echo from-$((2))\n");
    await one.shows("from-2");
    await coop.shows("from-2");
    // The session has the size of the one that was used last, and the other does not ask for its own again.
    const size = await other.at("#fit-toggle").getAttribute("data-size");
    await one.page.waitForFunction((wanted) => document.getElementById("fit-toggle").dataset.size === wanted, size);
    await one.page.evaluate(() => {
      window.sizes = [];
      const button = document.getElementById("fit-toggle");
      new MutationObserver(() => window.sizes.push(button.dataset.size)).observe(button, { attributes: true });
    });
    for (const n of [3, 4, 5]) {
      await other.types(`echo from-$((${n}))\n`);
      await one.shows(`from-${n}`);
    }
    assert.deepEqual(await one.page.evaluate(() => window.sizes), []);
  }],

  ["the session gets the size of a window in which somebody does something: a click, a message, an answer", async (world) => {
    const coop = await world.agent();
    const desk = await world.open(coop.url);
    await desk.connected();
    const own = await columns(desk);
    // Each time elsewhere: two taps at one place mark a word.
    const hand = await world.open(coop.url, HAND);
    await hand.connected();
    const others = await columns(hand);
    assert.notEqual(own, others);
    await desk.at("#terminal").click();
    await settles(desk, own);
    await hand.at("#terminal").tap({ position: { x: 30, y: 60 } });
    await settles(desk, others);
    await coop.hook("SessionStart", {});
    await desk.says("idle");
    await desk.page.route("**/agent/nudge", (route) => route.fulfill({ json: { delivered: true, receipt: null } }));
    await desk.at("#message").fill("hello");
    await settles(desk, own);
    await hand.at("#terminal").tap({ position: { x: 30, y: 140 } });
    await settles(desk, others);
    await desk.at("#send").click();
    await desk.at("#receipts").getByText("delivered").waitFor();
    await settles(desk, own);
    await hand.at("#terminal").tap({ position: { x: 30, y: 220 } });
    await settles(desk, others);
    const told = coop.hook("PermissionRequest", { tool_name: "Bash", tool_input: { command: "ls" } });
    await desk.at("#card").getByRole("button", { name: "Yes" }).first().click();
    await told;
    await settles(desk, own);
  }],

  ["the bar of the terminal lies beside its last column, at the edge", async (world) => {
    const coop = await world.shell();
    const window = await world.open(coop.url);
    await window.connected();
    await window.types("seq 500\n");
    await window.shows("500");
    const bar = await window.at(".scrollbar.vertical").boundingBox();
    const screen = await window.at(".xterm-screen").boundingBox();
    const stage = await window.at("#stage").boundingBox();
    assert.ok(bar.width <= 8 && bar.x >= screen.x + screen.width && bar.x + bar.width <= stage.x + stage.width, JSON.stringify({ bar, screen, stage }));
    await window.at("#fit-toggle").click();
    await coop.call("POST", "resize", { cols: 40, rows: 20 });
    await window.page.waitForFunction(() => document.getElementById("fit-toggle").dataset.size === "40×20");
    const later = await window.at(".scrollbar.vertical").boundingBox();
    assert.equal(later.x, bar.x, "not in the middle of the page");
  }],

  ["a query of the program is answered once, however many windows look", async (world) => {
    const coop = await world.shell();
    for (const path of ["/", "/", "/?view"]) await (await world.open(coop.url + path)).connected();
    const ask = String.raw`IFS=; stty -echo; printf '\e[6n\e[c\e]11;?\e\\'; read -rd c -t 5 first; read -rd x -t 1 rest; stty echo; printf '%q|%q\n' "$first" "$rest"; echo asked-$((1))`;
    await coop.call("POST", "input", { text: ask, enter: true });
    await coop.shows("asked-1");
    const screen = await coop.screen();
    assert.equal(screen.split("\n").join("").split("R\\E[?").length, 2, screen);
    assert.equal(screen.split("rgb:").length, 2, screen);
  }],

  ["full-screen programs and their colours are drawn without a complaint", async (world) => {
    const coop = await world.shell();
    const window = await world.open(coop.url);
    await window.connected();
    await window.types(String.raw`printf '\e[?1049h\e[2J\e[3;5H\e[38;2;10;200;120;48;5;18mtrue colours\e[0m\e[5;5H\e]0;a title\a'; read -rn1; printf '\e[?1049l'` + "\n");
    await window.shows("true colours");
    await window.page.waitForFunction(() => document.title === "a title");
    // The title is there before the rows are painted.
    const drawn = await window.page.waitForFunction(() => {
      const words = [...document.querySelectorAll(".xterm-rows span")].find((one) => one.textContent.startsWith("true"));
      return words && getComputedStyle(words).color;
    });
    assert.equal(await drawn.jsonValue(), "rgb(10, 200, 120)");
    await window.page.keyboard.press("q");
    await window.shows("ready>");
  }],

  ["on a phone nothing overflows, and its missing keys are there", async (world) => {
    const coop = await world.shell();
    const window = await world.open(coop.url, HAND);
    await window.connected();
    const { cols } = (await coop.call("GET", "status")).terminal;
    assert.ok(cols > 40 && cols < 80, `${cols} columns`);
    assert.equal(await window.page.evaluate(() => document.documentElement.scrollWidth), PHONE.width);
    await window.at("#terminal").tap();
    await window.page.keyboard.type("cat -v\n");
    await window.at("#keys button[aria-label=Escape]").tap();
    await window.at("#keys button[aria-label=Up]").tap();
    await coop.shows("^[^[[A");
    await window.at("#keys button[aria-label^=Control]").tap();
    await window.page.keyboard.type("c");
    await coop.shows("^C");
    await window.at("#panel-toggle").tap();
    await window.at("#why").getByText("Evidence").waitFor();
    await window.at("#panel-close").tap();
    await window.at("#panel").waitFor({ state: "hidden" });
  }],

  ["everything can be reached by keys", async (world) => {
    const coop = await world.shell();
    const window = await world.open(coop.url);
    await window.connected();
    const press = (letter) => window.page.keyboard.press(`Alt+Shift+${letter}`);
    const focused = () => window.page.evaluate(() => document.activeElement.id || document.activeElement.className);
    await press("T");
    assert.match(await focused(), /xterm-helper-textarea/);
    await press("S");
    assert.equal(await focused(), "tab-session");
    await window.at("#session").getByText("bash --norc").waitFor();
    await window.page.keyboard.press("ArrowLeft");
    assert.equal(await focused(), "tab-why", "without an agent there is no transcript between the two");
    await press("D");
    await press("D");
    await window.page.waitForFunction(() => document.documentElement.dataset.theme === "light");
    await press("H");
    await window.at("#help").getByText("fit the terminal").waitFor();
    await window.page.keyboard.press("Escape");
    assert.equal((await coop.call("GET", "status")).bytes_written, 0, "none of these keys is the program's");
  }],
];
