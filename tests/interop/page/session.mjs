// The program's life in the page: its end, what follows from it, and its restarts.
import assert from "node:assert/strict";
import { HAND } from "./window.mjs";

export const session = [
  ["the end of a borrowed session is told as what it is, and nothing is offered that cannot be had", async (world) => {
    const coop = await world.borrowed();
    const window = await world.open(coop.url);
    await window.connected();
    await coop.end();
    await window.at("#ended").getByText("the tmux server has ended").waitFor();
    assert.ok(!(await window.at("#ended").textContent()).includes("could not be started"));
    assert.equal(await window.at("#ended").getByRole("button").count(), 0);
  }],

  ["a program that ends can be started again from the page", async (world) => {
    const coop = await world.shell();
    const window = await world.open(coop.url);
    await window.connected();
    await window.types("exit 7\n");
    await window.at("#ended").getByText("exited with code 7").waitFor();
    await window.at("#ended").getByRole("button", { name: "Start it again" }).click();
    await window.at("#ended").waitFor({ state: "hidden" });
    await window.shows("ready>");
    await window.types("echo alive-$((1))\n");
    await coop.shows("alive-1");
  }],

  ["a program that is started again by itself says when, and one that ended too often that it is not", async (world) => {
    const coop = await world.start(["--restart", "always"], ["sh", "-c", "exit 7"]);
    const window = await world.open(coop.url);
    // The first ends come too soon for anybody to read.
    await window.at("#ended").getByText("It is started again by itself at").waitFor();
    await window.at("#ended").getByRole("button", { name: "Start it now" }).waitFor();
    await window.at("#ended").getByText("is not started again by itself").waitFor();
    await window.at("#ended").getByRole("button", { name: "Start it again" }).waitFor();
    await window.page.keyboard.press("Alt+Shift+S");
    await window.at("#session").getByText("exited with code 7; parked").waitFor();
  }],

  ["a restart is asked about first, and a no changes nothing", async (world) => {
    const coop = await world.agent();
    const window = await world.open(coop.url);
    await window.connected();
    await coop.hook("SessionStart", { session_id: "the-conversation", source: "startup" });
    await window.says("idle");
    await window.page.keyboard.press("Alt+Shift+S");
    const asked = [];
    window.page.on("request", (request) => request.url().endsWith("/session/restart") && asked.push(request.postDataJSON()));
    const press = async (name, answer) => {
      await window.at("#session").getByRole("button", { name, exact: true }).click();
      await window.at("#confirm").getByText("Whatever it has not saved is lost.").waitFor();
      await window.at("#confirm").getByRole("button", { name: answer, exact: true }).click();
      await window.at("#confirm").waitFor({ state: "hidden" });
    };
    const line = () => window.at("#receipts li").first();
    await press("Restart…", "Cancel");
    await press("Restart and resume…", "Cancel");
    assert.equal(await window.at("#receipts li").count(), 0);
    assert.equal((await coop.call("GET", "status")).restarts, 0);
    await press("Restart and resume…", "Restart");
    await line().getByText("accepted · seen by process").waitFor();
    assert.match(await line().textContent(), /^restart and resume/);
    await press("Restart…", "Restart");
    await window.page.waitForFunction(() => document.querySelectorAll("#receipts li[data-phase=accepted]").length === 2);
    assert.deepEqual(asked, [{ resume: true }, { resume: false }]);
    assert.equal((await coop.call("GET", "status")).restarts, 2);
  }],

  ["a program without a driver runs, and what only agents have is not offered", async (world) => {
    const coop = await world.shell(["--label", "name=my-shell"]);
    const window = await world.open(coop.url);
    await window.connected();
    await window.says("running");
    assert.equal(await window.at("#badge").getAttribute("data-state"), "running");
    assert.match(await window.at("#title").textContent(), /^my-shell · bash · /);
    await window.at("#why").getByText("It runs.").waitFor();
    assert.ok(!(await window.at("#why").textContent()).includes("unknown"));
    assert.ok(!(await window.at("#tab-transcript").isVisible()));
    await window.types("exit\n");
    await window.says("exited");
  }],

  ["why an agent stands still is told once: its error, or what it waits for and until when", async (world) => {
    const coop = await world.agent();
    const windows = [await world.open(coop.url), await world.open(coop.url, HAND)];
    for (const window of windows) await window.connected();
    const fails = (error, words) => coop.hook("StopFailure", { error, last_assistant_message: words });
    await fails("authentication_failed", "Invalid API key · Fix external API key");
    for (const window of windows) {
      await window.says("error");
      await window.at("#trouble").getByText("Invalid API key").waitFor();
      assert.equal((await window.page.evaluate(() => document.body.innerText)).split("Invalid API key").length, 2, "once");
    }
    await fails("rate_limit", "You've hit your limit · resets 8:10pm (UTC)");
    for (const window of windows) {
      await window.says("parked");
      await window.at("#trouble").getByText(/^Parked: .*; it goes on at /).waitFor();
    }
    await coop.hook("UserPromptSubmit", { prompt: "x" });
    for (const window of windows) await window.at("#trouble").waitFor({ state: "hidden" });
  }],

  ["what nobody told is not among the facts: no dollars, no cost", async (world) => {
    const coop = await world.agent();
    const window = await world.open(coop.url);
    await window.connected();
    const usage = { request_count: 3, input_tokens: 10, output_tokens: 20, cache_read_tokens: 0, cache_write_tokens: 0, total_cost_usd: 0 };
    await window.page.route("**/session/usage", (route) => route.fulfill({ json: usage }));
    await window.page.keyboard.press("Alt+Shift+S");
    await window.at("#session").getByText("Requests").waitFor();
    assert.ok(!(await window.at("#session").textContent()).includes("Cost"));
    usage.total_cost_usd = 0.5;
    await coop.hook("UserPromptSubmit", { prompt: "x" });
    await window.at("#session").getByText("$0.5000").waitFor();
  }],
];
