// Dialogs: what is clicked is answered, that very dialog or none, and nothing that an agent says is markup.
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { SIZED } from "./coop.mjs";
import { receipt } from "./messages.mjs";

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
    await window.at("#card .options button:not(:disabled)").first().waitFor();
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

  ["own words go instead of what was chosen, which is there again when they are taken back", async (world) => {
    const coop = await world.agent();
    const window = await world.open(coop.url);
    await window.connected();
    const asked = [question("Which features?", ["Auth", "Search", "Export"], true), question("Which database?", ["PostgreSQL", "SQLite"], false), question("Which language?", ["Rust", "Go"], false)];
    const told = asks(coop, window, "AskUserQuestion", { questions: asked });
    await window.says("prompt: question");
    const field = (name) => window.at("#card").getByRole("group", { name });
    const instead = (name) => field(name).getByText("Your words go instead of the options.");
    const dimmed = (name) => field(name).locator(".choice").first().evaluate((one) => Number(getComputedStyle(one).opacity) < 1);
    const words = (name) => field(name).getByRole("textbox");
    await field("Which features?").getByLabel("Auth").check();
    await words("Which features?").fill("all of them");
    await instead("Which features?").waitFor();
    assert.ok(await dimmed("Which features?"));
    assert.ok(await field("Which features?").getByLabel("Auth").isChecked(), "what was chosen stays");
    await field("Which features?").getByLabel("Export").check();
    assert.equal(await words("Which features?").inputValue(), "all of them", "what was said stays");
    await words("Which features?").fill("");
    await instead("Which features?").waitFor({ state: "hidden" });
    assert.ok(!(await dimmed("Which features?")));
    await words("Which database?").fill("none");
    await field("Which database?").getByLabel("SQLite").check();
    await field("Which language?").getByLabel("Go").check();
    await words("Which language?").fill("Zig");
    await window.at("#card").getByRole("button", { name: "Answer" }).click();
    const { decision } = (await told).hookSpecificOutput;
    assert.deepEqual(decision.updatedInput.answers, { "Which features?": "Auth, Export", "Which database?": "none", "Which language?": "Zig" });
  }],

  ["what a permission is about is shown whole; what is cut says so, and what the agent draws is open", async (world) => {
    const coop = await world.agent();
    const window = await world.open(coop.url);
    await window.told((message) => message.prompt ? { ...message, prompt: { ...message.prompt, screen_lines: ["as it is drawn"] } } : message);
    await window.connected();
    // Longer than what is shown everywhere, and then longer than what is kept.
    const whole = `echo ${"long ".repeat(400)}end`;
    const first = asks(coop, window, "Bash", { command: whole });
    const asked = window.at("#card .asked");
    await asked.waitFor();
    assert.equal(await asked.textContent(), whole);
    assert.ok(!(await window.at("#card").getByText("as it is drawn").isVisible()));
    await window.at("#card").getByRole("button", { name: "Yes" }).first().click();
    await first;
    const second = asks(coop, window, "Bash", { command: `echo ${"longer ".repeat(4000)}end` });
    await window.at("#card").getByText("Cut – see what the agent draws.").waitFor();
    await window.at("#card").getByText("as it is drawn").waitFor();
    await window.at("#card").getByRole("button", { name: "Yes" }).first().click();
    await second;
  }],

  ["who answers by keys goes on in the message box", async (world) => {
    const coop = await world.agent();
    const window = await world.open(coop.url);
    await window.connected();
    const focused = () => window.page.evaluate(() => document.activeElement.id);
    for (const keys of [["Enter"], ["Tab", "Tab", "n", "o", "Enter"]]) {
      const told = asks(coop, window, "Bash", { command: `ls ${keys.length}` });
      await window.at("#card .options button:not(:disabled)").first().waitFor();
      await window.page.keyboard.press("Alt+Shift+A");
      for (const key of keys) await window.page.keyboard.press(key);
      await told;
      await window.at("#message").waitFor();
      assert.equal(await focused(), "message");
    }
    // An answer that failed leaves whoever gave it where they were.
    const told = asks(coop, window, "Bash", { command: "ls again" });
    window.expect(/ERR_FAILED/);
    await window.page.route("**/agent/respond", (route) => route.abort());
    await window.at("#card .options button:not(:disabled)").first().waitFor();
    await window.page.keyboard.press("Alt+Shift+A");
    await window.page.keyboard.press("Enter");
    await receipt(window).getByText("it may have arrived").waitFor();
    await window.page.waitForFunction(() => document.activeElement.textContent === "Yes");
    await window.page.unroute("**/agent/respond");
    await window.page.keyboard.press("Enter");
    assert.deepEqual(await told, allow);
  }],

  ["the receipt of a no says that it was one", async (world) => {
    const coop = await world.played([], "asks");
    const window = await world.open(coop.url);
    await window.says("idle");
    const colour = () => receipt(window).locator(".outcome").evaluate((one) => getComputedStyle(one).color);
    const answers = async (label) => {
      await coop.call("POST", "agent/nudge", { message: "please" });
      await window.at("#card .options").getByRole("button", { name: label, exact: true }).click();
      await window.says("idle");
    };
    await answers("Yes");
    await receipt(window).getByText("accepted · seen by").waitFor();
    const good = await colour();
    await answers("No");
    await receipt(window).getByText("refused · seen by").waitFor();
    assert.notEqual(await colour(), good);
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

  ["a click that was meant for one dialog does not answer the next, which was just drawn in its place", async (world) => {
    const coop = await world.agent();
    const window = await world.open(coop.url);
    await window.connected();
    const first = asks(coop, window, "Bash", { command: "ls first" });
    await window.at("#card .options button:not(:disabled)").first().waitFor();
    // As a finger does that was on its way: at the moment in which the other one is there.
    await window.page.evaluate(() => {
      const card = document.getElementById("card");
      new MutationObserver(() => card.textContent.includes("ls second") && card.querySelector(".options button").click()).observe(card, { childList: true });
    });
    await coop.call("POST", "agent/respond", { accept: true });
    assert.deepEqual(await first, allow);
    const second = asks(coop, window, "Bash", { command: "ls second" });
    await window.at("#card").getByText("ls second").waitFor();
    await window.at("#card .words input").fill("not this one");
    await window.at("#card").getByRole("button", { name: "Refuse" }).click();
    assert.equal((await second).hookSpecificOutput.decision.behavior, "deny");
    assert.equal(await window.at("#receipts li").count(), 1, "and nothing else was sent");
  }],

  ["a plan is shown as it is, and a no tells the agent what to change", async (world) => {
    const coop = await world.agent();
    const window = await world.open(coop.url);
    await window.connected();
    const plan = "# The plan\n\n1. Write <b>tests</b>\n2. Make them pass";
    const told = asks(coop, window, "ExitPlanMode", { plan });
    await window.says("prompt: plan");
    await window.at("#card").getByRole("heading", { name: "Plan" }).waitFor();
    assert.equal(await window.at("#card .plan").textContent(), plan);
    assert.equal((await window.at("#card").textContent()).split("The plan").length, 2, "once");
    assert.ok(!(await window.at("#card").textContent()).includes("ExitPlanMode"));
    await window.at("#card .words input").fill("first the second");
    await window.at("#card").getByRole("button", { name: "Refuse" }).click();
    const { decision } = (await told).hookSpecificOutput;
    assert.equal(decision.behavior, "deny");
    assert.match(decision.message, /first the second/);
    const again = asks(coop, window, "ExitPlanMode", { plan });
    await window.at("#card").getByRole("button", { name: "Yes" }).first().click();
    assert.equal((await again).hookSpecificOutput.decision.behavior, "allow");
  }],

  ["a dialog of the agent's start is answered by its own options", async (world) => {
    const coop = await world.played([], "key");
    const window = await world.open(coop.url);
    await window.says("prompt: setup");
    await window.at("#card").getByRole("heading", { name: "Setup api key" }).waitFor();
    assert.deepEqual(await window.at("#card .options button").allTextContents(), ["1Yes", "2No (recommended)"]);
    assert.equal(await window.at("#card input").count(), 0, "it takes no words");
    await window.at("#card").getByRole("button", { name: "No (recommended)" }).click();
    await receipt(window).getByText("accepted").waitFor();
    await coop.shows("Without the key");
    await window.says("idle");
  }],

  ["a login leads to its page, and says where its code belongs", async (world) => {
    const coop = await world.played([], "login");
    const window = await world.open(coop.url);
    await window.says("prompt: setup");
    const link = window.at("#card").getByRole("link", { name: "claude.example" });
    assert.equal(await link.getAttribute("href"), "https://claude.example/oauth/authorize?code=true&state=abc");
    assert.equal(await link.getAttribute("rel"), "noopener noreferrer");
    assert.equal(await window.at("#card").locator("button, input").count(), 0, "there is nothing that it would take");
    await window.at("#card").getByText("It is answered in the terminal.").waitFor();
    await window.types("the-code\n");
    await coop.shows("Logged in with the-code");
    await window.says("idle");
  }],

  ["a dialog that wants a key takes it in words, and nobody reads it afterwards", async (world) => {
    const shown = fileURLToPath(new URL("logs/codex-key.txt", import.meta.url));
    const coop = await world.start([...SIZED, "--agent", "codex"], ["bash", "-c", `stty raw -echo; sed 's/$/\\r/' '${shown}'; exec cat >/dev/null`]);
    const window = await world.open(coop.url);
    await window.says("prompt: setup");
    const given = [];
    await window.page.route("**/agent/respond", (route) => {
      given.push(route.request().postDataJSON());
      return route.fulfill({ json: { delivered: true, receipt: null } });
    });
    await window.at("#card").getByLabel("The key").fill("sk-secret");
    await window.at("#card").getByRole("button", { name: "Send" }).click();
    await receipt(window).getByText("delivered").waitFor();
    assert.equal(given[0].text, "sk-secret");
    assert.ok(!(await window.at("#receipts").textContent()).includes("secret"));
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
    await window.at("#why").getByText("It works. Its hooks say so: UserPromptSubmit.").waitFor();
    // The latest word of each source first.
    const rules = () => window.at("#why > .evidence .source").allTextContents();
    assert.equal((await rules()).filter((rule) => rule.startsWith("hooks:")).length, 1);
    await coop.hook("Stop", {});
    await window.says("idle");
    await window.at("#why .decisive").getByText("hooks: Stop").waitFor();
    assert.equal((await rules()).filter((rule) => rule.startsWith("hooks:")).length, 1);
    await window.at("#why").getByText("Earlier").click();
    await window.at("#why details").getByText("hooks: UserPromptSubmit").waitFor();
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
