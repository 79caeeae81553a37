// What can be done from the page: a shell, a new box, stop, restart, remove; changes looked at and applied.
import assert from "node:assert/strict";
import { join } from "node:path";
import { act, says, tile } from "./tiles.mjs";

const confirm = (window) => window.at("#confirm-yes").click();

export const doing = [
  ["a shell that is opened from the page is inside the box, and what is typed there is typed", async (world) => {
    const user = await world.user();
    const project = await user.agent("green");
    const window = await world.open(user.url);
    await says(window, "green", "idle");
    await act(window, "green", "Shell").click();
    await window.page.waitForURL(/\/box\/green\/\?terminal=/);
    await window.connected();
    await window.types("echo shell-$((40+2)) $HOSTNAME; pwd\n");
    await window.shows("shell-42");
    await window.shows(project);
    assert.ok(!(await window.at("#composer").isVisible()), "a shell takes no messages");
    const { lines } = await user.inside("green", "GET", "screen");
    assert.ok(!lines.join("\n").includes("shell-42"), "the agent's terminal is another");
    await window.types("exit\n");
    await window.at("#banner").getByText("The shell has ended").waitFor();
    await window.at("#boxes").click();
    await says(window, "green", "idle");
  }],

  ["a message of which nobody knows whether it arrived is not there to be sent again, until somebody puts it back", async (world) => {
    const user = await world.user();
    await user.agent("green");
    const window = await world.open(user.url);
    window.expect(/ERR_FAILED/);
    await says(window, "green", "idle");
    const box = tile(window, "green").getByLabel("Message to green");
    const send = async (how) => {
      await window.page.unroute("**/agent/nudge").catch(() => {});
      await window.page.route("**/agent/nudge", how);
      await box.fill("hello");
      await box.press("Enter");
      await tile(window, "green").locator(".nudge button:not([disabled])").waitFor();
      return box.inputValue();
    };
    const not = (reason) => (route) => route.fulfill({ json: { delivered: false, reason, receipt: null, state: "idle" } });
    assert.equal(await send(not("agent_busy")), "hello");
    assert.equal(await send(not("unconfirmed")), "");
    assert.equal(await send((route) => route.abort()), "");
    await tile(window, "green").locator('.told[data-phase="unconfirmed"]').getByText("no answer came: it may have arrived").waitFor();
    await tile(window, "green").getByRole("button", { name: "put it back" }).click();
    assert.equal(await box.inputValue(), "hello");
  }],

  ["the page of a box is opened from its tile, and leads back", async (world) => {
    const user = await world.user();
    await user.shell("red");
    const window = await world.open(user.url);
    await act(window, "red", "Open").click();
    await window.connected();
    await window.types("echo opened-$((1))\n");
    await user.wait("red", { text: "opened-1" });
    await window.at("#boxes").click();
    await says(window, "red", "running");
  }],

  ["a box is made from the page; what the server says against it is shown as it says it", async (world) => {
    const user = await world.user();
    const project = await user.project("fresh");
    const window = await world.open(user.url);
    window.expect(/40\d \(/);
    await window.at("#none").waitFor();
    await window.page.keyboard.press("Alt+Shift+N");
    await window.at("#create-directory").fill(join(project, "nowhere"));
    await window.at("#create-command").fill("bash --norc -c 'echo \"made here\"; exec cat'");
    await window.at("#create-network").selectOption("none");
    await window.at("#create-submit").click();
    await window.at("#create-error").getByText("nowhere").waitFor();
    await window.at("#create-directory").fill(project);
    await window.at("#create-submit").click();
    await window.at("#create").waitFor({ state: "hidden" });
    await says(window, "fresh", "running");
    await user.wait("fresh", { text: "made here" });
    const box = await user.call("GET", "api/v1/boxes/fresh");
    assert.deepEqual([box.command, box.network], [["bash", "--norc", "-c", 'echo "made here"; exec cat'], "none"]);
  }],

  ["a project that asks for trust is not started, and the page says what it asks for", async (world) => {
    const user = await world.user();
    const project = await user.project("greedy", { "coop.toml": '[session]\nname = "greedy"\n[network]\nmode = "host"\n' });
    const window = await world.open(user.url);
    window.expect(/4\d\d \(/);
    await window.at("#create-open").click();
    await window.at("#create-directory").fill(project);
    await window.at("#create-command").fill("cat");
    await window.at("#create-submit").click();
    await window.at("#create-error").getByText("coop trust").waitFor();
    await window.at("#create-cancel").click();
    await window.at("#none").waitFor();
  }],

  ["a box is stopped, started and removed from the page, which asks first", async (world) => {
    const user = await world.user();
    await user.shell("red");
    const window = await world.open(user.url);
    await act(window, "red", "Stop").click();
    await window.at("#confirm-no").click();
    await says(window, "red", "running");
    await act(window, "red", "Stop").click();
    await confirm(window);
    await says(window, "red", "stopped");
    await act(window, "red", "Start").click();
    await says(window, "red", "running");
    await act(window, "red", "Remove").click();
    await window.at("#confirm").getByText("cannot be brought back").waitFor();
    await confirm(window);
    await tile(window, "red").waitFor({ state: "detached" });
    assert.deepEqual((await user.call("GET", "api/v1/boxes")).boxes, []);
  }],

  ["changes of an agent are shown, and those that are chosen are applied", async (world) => {
    const user = await world.user();
    await user.project("work", { "notes.txt": "one\ntwo\n" });
    await user.shell("work", "--workspace", "overlay");
    await user.types("work", "echo three >> notes.txt; echo more > other.txt; echo done-$((1))");
    await user.wait("work", { text: "done-1" });
    const window = await world.open(user.url);
    await act(window, "work", "Changes").click();
    const dialog = window.at("#changes");
    await dialog.locator(".diff .plus").getByText("+three").waitFor();
    await dialog.getByLabel("other.txt").uncheck();
    await window.at("#changes-apply").click();
    await window.at("#confirm").getByText("Stop work first?").waitFor();
    await confirm(window);
    await window.at("#changes-note").getByText("Applied: notes.txt").waitFor();
    assert.equal(await user.read("work", "notes.txt"), "one\ntwo\nthree\n");
    await dialog.getByLabel("other.txt").waitFor();
    await assert.rejects(user.read("work", "other.txt"));
    await window.at("#changes-discard").click();
    await confirm(window);
    await window.at("#changes-note").getByText("Discarded: other.txt").waitFor();
    await window.at("#changes-close").click();
    await says(window, "work", "stopped");
  }],

  ["a box with changes that nobody applied is removed only if it is said twice", async (world) => {
    const user = await world.user();
    await user.shell("work", "--workspace", "overlay");
    await user.types("work", "echo kept > only-here.txt; echo done-$((1))");
    await user.wait("work", { text: "done-1" });
    const window = await world.open(user.url);
    window.expect(/409 \(Conflict\)/);
    await act(window, "work", "Remove").click();
    await confirm(window);
    await window.at("#confirm").getByText("Remove work all the same?").waitFor();
    await window.at("#confirm-no").click();
    await says(window, "work", "stopped");
    await act(window, "work", "Remove").click();
    await confirm(window);
    await window.at("#confirm").getByText("Remove work all the same?").waitFor();
    await confirm(window);
    await tile(window, "work").waitFor({ state: "detached" });
  }],

  ["the log of a box is shown as it is written", async (world) => {
    const user = await world.user();
    await user.shell("red");
    const window = await world.open(user.url);
    await act(window, "red", "Logs").click();
    await window.page.waitForFunction(() => document.getElementById("logs-text").textContent.includes("\n"));
    await window.page.keyboard.press("Escape");
    await window.at("#logs").waitFor({ state: "hidden" });
  }],
];
