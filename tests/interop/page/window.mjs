// A window of a real Chromium with the page in it. Whatever the browser complains about is a broken promise.
import { WITHIN_MS } from "./coop.mjs";

// A root in a container has no sandbox of its own; the rest keeps Chromium from calling home.
const CHROMIUM_ARGS = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync";

/** Said of a connection that was being opened when its window was closed or went elsewhere. */
const LEFT = /WebSocket is closed before the connection is established/;

export const DESK = { width: 1280, height: 800 };
export const PHONE = { width: 390, height: 780 };

/** A browser in a hand. */
export const HAND = { viewport: PHONE, hasTouch: true, isMobile: true, deviceScaleFactor: 2 };

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

  /** Waits until the terminal in the page shows these rows and no others. */
  async rows(lines) {
    const wanted = lines.map((line) => line.trimEnd()).join("\n").trimEnd();
    await this.page.waitForFunction((text) => {
      const rows = [...document.querySelectorAll(".xterm-rows > div")].map((row) => row.textContent.replaceAll("\u00a0", " ").trimEnd());
      return rows.join("\n").trimEnd() === text;
    }, wanted);
  }

  /** Has the page told of states that are changed by `change`, from the next load on. */
  async told(change) {
    await this.page.routeWebSocket(/\/ws\?/, (page) => {
      const server = page.connectToServer();
      server.onMessage((text) => page.send(JSON.stringify(change(JSON.parse(text)))));
    });
    await this.page.reload();
  }

  /** Ends when the page has left the next WebSocket that it opens at this path. */
  async leaves(path) {
    const socket = await this.page.waitForEvent("websocket", (one) => new URL(one.url()).pathname.endsWith(path));
    await socket.waitForEvent("close");
  }

  /** Whether the terminal draws what it is given: xterm.js does so in timers without a delay. */
  async draws(on) {
    await this.page.evaluate((goes) => {
      window.later ??= window.setTimeout;
      window.held ??= [];
      window.setTimeout = goes ? window.later : (act, ms, ...rest) => (ms ? window.later(act, ms, ...rest) : window.held.push(act));
      if (goes) for (const act of window.held.splice(0)) window.later(act);
    }, on);
  }

  /** Whether somebody looks at the page, as the browser tells it. */
  async looked(on) {
    await this.page.evaluate((seen) => {
      Object.defineProperty(document, "hidden", { configurable: true, get: () => !seen });
      document.dispatchEvent(new Event("visibilitychange"));
    }, on);
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
