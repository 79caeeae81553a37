// The page that coop serves, in a real Chromium: `drive.mjs COOP CHROMIUM [word…]`, all promises when no word is given.
import { chromium } from "playwright-core";
import { Coop, WITHIN_MS } from "./coop.mjs";
import { dialogs } from "./dialogs.mjs";
import { network } from "./network.mjs";
import { terminal } from "./terminal.mjs";
import { token } from "./token.mjs";
import { transcripts } from "./transcripts.mjs";
import { launch, Window } from "./window.mjs";

const [bin, executablePath, ...words] = process.argv.slice(2);
/** The longest that one promise may take, in milliseconds. */
const PROMISE_MS = 3 * WITHIN_MS;

const browser = await launch(chromium, executablePath);
let broken = 0;
try {
  for (const [promise, keep] of [...terminal, ...token, ...dialogs, ...transcripts, ...network]) {
    if (words.length && !words.some((word) => promise.includes(word))) continue;
    await check(promise, keep);
  }
} finally {
  await browser.close();
}
process.exitCode = broken ? 1 : 0;

/** Keeps one promise with coops and windows of its own, which are gone afterwards. */
async function check(promise, keep) {
  const opened = [];
  const world = {
    bin,
    shell: async (...rest) => track(await Coop.shell(bin, ...rest)),
    agent: async (...rest) => track(await Coop.agent(bin, ...rest)),
    open: async (url, options) => track(await Window.open(browser, url, options)),
    track,
  };
  function track(one) {
    opened.push(one);
    return one;
  }
  let late;
  const limit = new Promise((_, reject) => (late = setTimeout(() => reject(new Error(`not within ${PROMISE_MS} ms`)), PROMISE_MS)));
  try {
    await Promise.race([keep(world), limit]);
    for (const window of opened.filter((one) => one instanceof Window)) await window.close();
    console.log(`ok - ${promise}`);
  } catch (error) {
    broken += 1;
    const complaints = opened.flatMap((one) => one.complaints ?? []);
    console.log(`not ok - ${promise}\n#   ${[String(error.stack ?? error), ...complaints].join("\n").replaceAll("\n", "\n#   ")}`);
  } finally {
    clearTimeout(late);
    for (const one of opened.reverse()) await (one.stop?.() ?? one.close?.())?.catch?.(() => {});
  }
}
