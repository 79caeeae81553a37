// A desk and a phone before a real agent: `real.mjs URL MESSAGE PICTURES`. The desk sends the message, the phone answers
// the permission, both see the end; three pictures are taken. `tests/agents/web_page.rs` checks what came of it.
import assert from "node:assert/strict";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { launch, PHONE, Window } from "./window.mjs";

const [url, message, pictures] = process.argv.slice(2);

/** Letters of the pictures are drawn for a dense screen on the phone, and plainly on the desk, to keep them small. */
const DESK = { viewport: { width: 1280, height: 760 } };
const HAND = { viewport: PHONE, hasTouch: true, isMobile: true, deviceScaleFactor: 2 };

const browser = await launch(chromium, process.env.CHROMIUM || "/usr/bin/chromium");
try {
  const desk = await Window.open(browser, url, DESK);
  await desk.connected();
  await desk.says("idle");
  await desk.at("#message").fill(message);
  await desk.at("#send").click();
  await desk.at("#receipts li").first().getByText("accepted · seen by").waitFor();
  await desk.says("prompt: permission");
  await desk.at("#card").getByText("make test").first().waitFor();
  await desk.at("#card .options kbd").first().waitFor();
  await desk.at("#why .decisive").first().waitFor();
  await desk.shows("Do you want to proceed?");
  await take(desk, "web-dark.png");
  const size = await desk.at("#fit-toggle").getAttribute("data-size");

  const phone = await Window.open(browser, `${url}/?view`, HAND);
  await phone.connected();
  await phone.at("#view-toggle").tap();
  // Who types on the phone has the terminal in the phone's size.
  await phone.page.waitForFunction(() => parseInt(document.getElementById("fit-toggle").dataset.size, 10) < 80);
  await phone.at("#card .options kbd").first().waitFor();
  await phone.shows("Do you want to proceed?");
  await take(phone, "web-phone.png");
  await phone.at("#card").getByRole("button", { name: "Yes" }).first().tap();
  await phone.at("#receipts li").first().getByText("accepted").waitFor();
  await phone.says("idle");
  await desk.says("idle");
  // The terminal is as wide as the window that was used last; when it goes, the desk has its own size again.
  await phone.close();
  await desk.page.waitForFunction((size) => document.getElementById("fit-toggle").dataset.size === size, size);

  await desk.page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  await desk.page.keyboard.press("Alt+Shift+L");
  await desk.at("#transcript").getByText("All three tests pass").first().waitFor();
  await desk.at("#terminal").click();
  await desk.page.waitForFunction(() => document.querySelector(".xterm-rows").textContent.includes("three"));
  await take(desk, "web-light.png");
  assert.equal(await desk.at("#card").isVisible(), false);
  await desk.close();
} finally {
  await browser.close();
}

/** When the drawing has come to rest. */
async function take(window, name) {
  await window.page.evaluate(() => new Promise((rest) => requestIdleCallback(rest, { timeout: 2000 })));
  await window.page.screenshot({ path: join(pictures, name) });
}
