// Messages: what is not taken says why and is not lost, and what is taken later says so then.
import assert from "node:assert/strict";

/** Ends what the played agent works on; see clients/testdata/agent. */
export const ENDS_LONG_WORK = "\u0007";

export const receipt = (window) => window.at("#receipts li").first();

/** Gives an agent long work, and by the page a message that waits for its end. */
export async function waits(coop, window, message) {
  await coop.call("POST", "agent/nudge", { message: "long work" });
  await window.says("working");
  // No witness comes before the end: who waits for one is told soon.
  await window.page.route("**/agent/nudge", (route) => route.continue({ postData: { ...route.request().postDataJSON(), timeout_ms: 1000 } }));
  await window.at("#queue").check();
  await window.at("#message").fill(message);
  await window.at("#send").click();
  await receipt(window).getByText("the agent has queued it").waitFor();
}

export const messages = [
  ["a message that a busy agent does not take says why and stays in the box", async (world) => {
    const coop = await world.agent();
    const window = await world.open(coop.url);
    await window.connected();
    await coop.hook("UserPromptSubmit", { prompt: "x" });
    await window.says("working");
    await window.page.keyboard.press("Alt+Shift+M");
    await window.page.keyboard.type("are you there?\n");
    await receipt(window).getByText("the agent is busy").waitFor();
    assert.equal(await window.at("#message").inputValue(), "are you there?");
    assert.equal((await coop.call("GET", "status")).bytes_written, 0);
    await coop.hook("Stop", {});
    await receipt(window).getByText("it is idle now, send it again").waitFor();
    assert.ok(!(await receipt(window).textContent()).includes("busy"));
  }],

  ["what is typed while a message is on its way stays, and what may have arrived is not sent again", async (world) => {
    const coop = await world.agent();
    const window = await world.open(coop.url);
    await window.connected();
    let answer;
    await window.page.route("**/agent/nudge", async (route) => {
      await window.page.keyboard.type("the next one");
      await answer(route);
    });
    await coop.hook("SessionStart", {});
    await window.says("idle");
    const send = async (how) => {
      answer = how;
      await window.at("#message").fill("");
      await window.page.keyboard.press("Alt+Shift+M");
      await window.page.keyboard.type("first\n");
      await window.at("#send:not([disabled])").waitFor();
      return window.at("#message").inputValue();
    };
    const not = (reason) => (route) => route.fulfill({ json: { delivered: false, reason, receipt: null, state: "idle" } });
    assert.equal(await send(not("unconfirmed")), "the next one");
    assert.equal(await send(not("agent_busy")), "first\nthe next one");
    // Nobody knows whether it got there: the network, an answer that breaks off, a proxy that lost its server.
    window.expect(/ERR_FAILED|502/);
    const lost = [(route) => route.abort(), (route) => route.fulfill({ body: `{"delivered":` }), (route) => route.fulfill({ status: 502, body: "<p>Bad gateway" })];
    for (const how of lost) {
      assert.equal(await send(how), "the next one");
      assert.equal(await receipt(window).getAttribute("data-phase"), "unconfirmed");
      await receipt(window).getByText("no answer came: it may have arrived").waitFor();
    }
    await receipt(window).getByRole("button", { name: "put it back" }).click();
    assert.equal(await window.at("#message").inputValue(), "first\nthe next one");
    // What coop itself refuses did not.
    window.expect(/409/);
    assert.equal(await send((route) => route.fulfill({ status: 409, json: { error: { code: "WRITER_BUSY", message: "another writes" } } })), "first\nthe next one");
    assert.equal(await receipt(window).getAttribute("data-phase"), "refused");
  }],

  ["a message that the agent keeps until it is done is told as that, and as taken when it is", async (world) => {
    const coop = await world.played([]);
    const window = await world.open(coop.url);
    await window.says("idle");
    assert.ok(!(await window.at("#queue-row").isVisible()), "there is nothing to wait for");
    await waits(coop, window, "and then this");
    assert.equal(await window.at("#message").inputValue(), "", "it is sent once");
    await coop.call("POST", "input", { text: ENDS_LONG_WORK });
    await receipt(window).getByText("accepted · seen by").waitFor();
    await coop.shows("You said: and then this");
  }],
];
