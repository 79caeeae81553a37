// Keeps promises one after the other, each in a world of its own, which is gone afterwards.
import { WITHIN_MS } from "./coop.mjs";
import { Window } from "./window.mjs";

/** The longest that one promise may take, in milliseconds. */
const PROMISE_MS = 3 * WITHIN_MS;

/** `promises`: [words, how]; those with one of `words` in them, or all. `furnish` gives what a world has beside windows. */
export async function keepAll(browser, promises, words, furnish) {
  let broken = 0;
  try {
    for (const [promise, keep] of promises) {
      if (words.length && !words.some((word) => promise.includes(word))) continue;
      if (!(await kept(browser, promise, keep, furnish))) broken += 1;
    }
  } finally {
    await browser.close();
  }
  process.exitCode = broken ? 1 : 0;
}

async function kept(browser, promise, keep, furnish) {
  const opened = [];
  const track = (one) => {
    opened.push(one);
    return one;
  };
  const open = async (url, options) => track(await Window.open(browser, url, options));
  let late;
  const limit = new Promise((_, reject) => (late = setTimeout(() => reject(new Error(`not within ${PROMISE_MS} ms`)), PROMISE_MS)));
  try {
    await Promise.race([keep({ ...furnish(track), open, track }), limit]);
    for (const window of opened.filter((one) => one instanceof Window)) await window.close();
    console.log(`ok - ${promise}`);
    return true;
  } catch (error) {
    const complaints = opened.flatMap((one) => one.complaints ?? []);
    console.log(`not ok - ${promise}\n#   ${[String(error.stack ?? error), ...complaints].join("\n").replaceAll("\n", "\n#   ")}`);
    return false;
  } finally {
    clearTimeout(late);
    for (const one of opened.reverse()) await (one.stop?.() ?? one.close?.())?.catch?.(() => {});
  }
}
