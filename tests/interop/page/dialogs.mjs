// Dialogs and messages: what is clicked is answered, what is not taken says why, and nothing that an agent says is markup.
import assert from "node:assert/strict";

const allow = { hookSpecificOutput: { hookEventName: "PermissionRequest", decision: { behavior: "allow" } } };
const question = (text, options, multiSelect) => ({ question: text, header: "Choice", multiSelect, options: options.map((label) => ({ label, description: `about ${label}` })) });

/** The agent asks for a tool; gives what its hook will be told. */
async function asks(coop, window, tool, input) {
  const told = coop.hook("PermissionRequest", { tool_name: tool, tool_input: input });
  await window.at("#card").waitFor();
  return told.then(async (answer) => {
    await coop.hook("PostToolUse", { tool_name: tool, tool_input: input });
    return answer;
  });
}

const receipt = (window) => window.at("#receipts li").first();

export const dialogs = [
  ["a permission is answered by a click, and its receipt is shown", async (world) => {
    const coop = await world.agent();
    const window = await world.open(coop.url);
    await window.connected();
    const told = asks(coop, window, "Bash", { command: "make test", description: "Run the tests" });
    await window.says("prompt: permission");
    await window.at("#card").getByText("make test").waitFor();
    await window.at("#card").getByRole("button", { name: "Yes" }).first().click();
    assert.deepEqual(await told, allow);
    await receipt(window).getByText("accepted · seen by").waitFor();
    await window.at("#card").waitFor({ state: "hidden" });
    assert.equal((await coop.call("GET", "status")).bytes_written, 0, "no key was pressed");
  }],

  ["a refusal carries the words that were typed, by keys alone", async (world) => {
    const coop = await world.agent();
    const window = await world.open(coop.url);
    await window.connected();
    const told = asks(coop, window, "Bash", { command: "rm -r ." });
    await window.says("prompt: permission");
    await window.page.keyboard.press("Alt+Shift+A");
    await window.page.keyboard.press("2");
    assert.equal(await window.page.evaluate(() => document.activeElement.textContent), "No", "a digit only goes there");
    await window.page.keyboard.press("Tab");
    await window.page.keyboard.type("use the test directory\n");
    const { decision } = (await told).hookSpecificOutput;
    assert.equal(decision.behavior, "deny");
    assert.match(decision.message, /use the test directory/);
  }],

  ["questions take one choice, several, and own words", async (world) => {
    const coop = await world.agent();
    const window = await world.open(coop.url);
    await window.connected();
    const asked = [question("Which database?", ["PostgreSQL", "SQLite"], false), question("Which features?", ["Auth", "Search", "Export"], true), question("Which language?", ["Rust", "Go"], false)];
    const told = asks(coop, window, "AskUserQuestion", { questions: asked });
    await window.says("prompt: question");
    const field = (name) => window.at("#card").getByRole("group", { name });
    await field("Which database?").getByLabel("SQLite").check();
    await field("Which features?").getByLabel("Auth").check();
    await window.at("#card").getByRole("button", { name: "Answer" }).click();
    await window.at("#card").getByText("Question 3 has no answer yet.").waitFor();
    await field("Which features?").getByLabel("Export").check();
    await field("Which language?").getByRole("textbox").fill("Zig, really");
    await window.at("#card").getByRole("button", { name: "Answer" }).click();
    const { decision } = (await told).hookSpecificOutput;
    assert.deepEqual(decision.updatedInput.answers, { "Which database?": "SQLite", "Which features?": "Auth, Export", "Which language?": "Zig, really" });
  }],

  ["an answer that came too late says so and answers nothing else", async (world) => {
    const coop = await world.agent();
    const [one, other] = [await world.open(coop.url), await world.open(coop.url)];
    await one.connected();
    await other.connected();
    const first = asks(coop, one, "Bash", { command: "ls first" });
    await other.says("prompt: permission");
    let second;
    // While the other window's answer is on its way, the first dialog is answered and the next one comes.
    await other.page.route("**/agent/respond", async (route) => {
      await one.at("#card").getByRole("button", { name: "Yes" }).first().click();
      assert.deepEqual(await first, allow);
      second = asks(coop, one, "Bash", { command: "ls second" });
      await one.at("#card").getByText("ls second").waitFor();
      await route.continue();
    });
    other.expect(/409 \(Conflict\)/);
    await other.at("#card").getByRole("button", { name: "No" }).first().click();
    await receipt(other).getByText("STATE_CHANGED").waitFor();
    await one.at("#card").getByRole("button", { name: "Yes" }).first().click();
    assert.deepEqual(await second, allow, "the second dialog was left for its own answer");
  }],

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

  ["an answer of which nobody knows whether it arrived is told as that, and can be given again", async (world) => {
    const coop = await world.agent();
    const window = await world.open(coop.url);
    await window.connected();
    const told = asks(coop, window, "Bash", { command: "ls" });
    window.expect(/ERR_FAILED/);
    await window.page.route("**/agent/respond", (route) => route.abort());
    const yes = window.at("#card").getByRole("button", { name: "Yes" }).first();
    await yes.click();
    await receipt(window).getByText("no answer came: it may have arrived").waitFor();
    assert.equal(await receipt(window).getAttribute("data-phase"), "unconfirmed");
    await window.page.unroute("**/agent/respond");
    await yes.click();
    assert.deepEqual(await told, allow);
  }],

  ["a viewer sees the dialog and cannot answer it", async (world) => {
    const coop = await world.agent();
    const window = await world.open(`${coop.url}/?view`);
    await window.connected();
    asks(coop, window, "Bash", { command: "ls" }).catch(() => {});
    await window.at("#card").getByText("Read only").waitFor();
    assert.ok(await window.at("#card").getByRole("button", { name: "Yes" }).first().isDisabled());
    assert.ok(!(await window.at("#composer").isVisible()));
  }],

  ["why shows the evidence that decided", async (world) => {
    const coop = await world.agent();
    const window = await world.open(coop.url);
    await window.connected();
    await coop.hook("UserPromptSubmit", { prompt: "x" });
    await window.at("#why .decisive").getByText("UserPromptSubmit").waitFor();
    await window.at("#why .decisive").getByText("decides").waitFor();
  }],

  ["what an agent says is text, whatever it says", async (world) => {
    const coop = await world.agent(["--label", "<img src=x onerror=alert(1)>=1"]);
    const window = await world.open(coop.url);
    await window.connected();
    const hostile = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`;
    window.page.on("dialog", (dialog) => window.complaints.push(dialog.message()));
    const told = asks(coop, window, "AskUserQuestion", { questions: [question(`${hostile}?`, [hostile, "javascript:alert(1)"], false)] });
    await window.at("#card").getByText("onerror").first().waitFor();
    await coop.call("POST", "input", { text: `\u001b]0;${hostile}\u0007` });
    await window.at("#card").getByLabel("javascript:alert(1)").check();
    await window.at("#card").getByRole("button", { name: "Answer" }).click();
    await told;
    await coop.hook("UserPromptSubmit", { prompt: hostile });
    await window.says("working");
    await window.page.keyboard.press("Alt+Shift+S");
    await window.at("#session").getByText("onerror").first().waitFor();
    assert.equal(await window.page.evaluate(() => document.querySelectorAll("main img, main script, header img, a[href^='javascript:']").length), 0);
    assert.notEqual(await window.page.title(), "owned");
  }],
];
