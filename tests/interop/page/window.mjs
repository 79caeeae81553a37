// A window of a real Chromium with the page in it. Whatever the browser complains about is a broken promise.
import { WITHIN_MS } from "./coop.mjs";

// A root in a container has no sandbox of its own; the rest keeps Chromium from calling home.
const CHROMIUM_ARGS = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync";

/** Said of a connection that was being opened when its window was closed or went elsewhere. */
const LEFT = /WebSocket is closed before the connection is established/;

export const DESK = { width: 1280, height: 800 };
export const PHONE = { width: 390, height: 780 };

export async function launch(chromium, executablePath) {
  return chromium.launch({ executablePath, headless: true, timeout: WITHIN_MS, args: CHROMIUM_ARGS.split(" ") });
}

export class Window {
  complaints = [];
  expected = [];

  /** A browser of its own: nothing kept, nothing shared. */
  static async open(browser, url, options = {}) {
    const context = await browser.newContext({ viewport: DESK, colorScheme: "dark", reducedMotion: "reduce", ...options });
    context.setDefaultTimeout(WITHIN_MS);
    const window = new Window();
    window.context = context;
    window.page = await context.newPage();
    window.page.on("console", (message) => ["error", "warning"].includes(message.type()) && window.complaints.push(message.text()));
    window.page.on("pageerror", (error) => window.complaints.push(String(error)));
    await window.page.addInitScript(() => {
      addEventListener("securitypolicyviolation", (event) => console.error(`CSP: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
    });
    await window.page.goto(url);
    return window;
  }

  /** What these connections lose, or calls that must fail, is said in the console too. */
  expect(...patterns) {
    this.expected.push(...patterns);
  }

  at(selector) {
    return this.page.locator(selector);
  }

  /** Waits until the page is connected. */
  async connected() {
    await this.page.waitForFunction(() => document.querySelector(".xterm-rows")?.textContent.trim() && document.getElementById("banner").hidden);
  }

  /** Waits until the state in the header is this. */
  async says(state) {
    await this.page.waitForFunction((word) => document.getElementById("state-word").textContent === word, state);
  }

  /** Waits until the terminal in the page shows this. */
  async shows(words) {
    await this.page.waitForFunction((text) => document.querySelector(".xterm-rows")?.textContent.replaceAll("\u00a0", " ").includes(text), words);
  }

  /** Types into the terminal, as a person would. */
  async types(text) {
    await this.at("#terminal").click();
    await this.page.keyboard.type(text);
  }

  async close() {
    await this.context.close();
    const unexpected = this.complaints.filter((line) => ![LEFT, ...this.expected].some((pattern) => pattern.test(line)));
    if (unexpected.length) throw new Error(`the browser complains:\n${unexpected.join("\n")}`);
  }
}
