// Serves the page, starts the coops and the browser, and prints what the page tells: `drive.mjs COOP CHROMIUM PICTURE`.
import { execFile, spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { connect, createServer as createProxy } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { chromium } from "playwright-core";

const [coop, executablePath, picture] = process.argv.slice(2);
const TOKEN = "interop-secret";
/** The longest that a start or an end is waited for, in milliseconds. */
const WITHIN_MS = 30_000;

const FILES = {
  "/": ["index.html", "text/html"],
  "/page.js": ["page.js", "text/javascript"],
  "/readme": ["readme.html", "text/html"],
  "/readme1.js": ["readme1.js", "text/javascript"],
};

/** What the README of clients/ts calls its coop's address, and the token it shows. */
const README_URL = "http://127.0.0.1:8080";
const README_TOKEN = "page-secret";

async function servePage() {
  const server = createServer(async (request, response) => {
    const [name, type] = FILES[request.url] ?? [];
    // Also where it could not be built: what was started must still be ended.
    const text = name && (await readFile(join("site", name)).catch(() => undefined));
    if (!text) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": type }).end(text);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

/** A line to a coop that can be cut; while it is down, nobody gets through. */
async function startLine(url) {
  const open = new Set();
  let isDown = false;
  let target = url;
  const server = createProxy((caller) => {
    const called = connect(new URL(target).port, "127.0.0.1");
    for (const [one, other] of [[caller, called], [called, caller]]) {
      open.add(one);
      one.on("error", () => {}).on("close", () => {
        open.delete(one);
        other.destroy();
      });
    }
    if (isDown) caller.destroy();
    else caller.pipe(called).pipe(caller);
  });
  const cut = (down) => {
    isDown = down;
    for (const one of open) one.destroy();
  };
  // Nothing is read any more, and nothing closed; who comes anew gets through.
  const hold = () => {
    for (const one of open) one.unpipe().pause();
  };
  const mislead = (other) => {
    target = other;
    cut(false);
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${server.address().port}`, cut, hold, mislead, close: () => (cut(true), server.close()) };
}

/** Runs the first program of the README as written, and compares what it prints; only its port leads elsewhere. */
async function runReadme(browser, origin, coop) {
  const page = await browser.newPage();
  const expected = await readFile("readme.txt", "utf8");
  const printed = [];
  const wanted = expected.trimEnd().split("\n").length;
  const ended = new Promise((resolve) => {
    setTimeout(resolve, WITHIN_MS);
    page.on("pageerror", (error) => resolve(printed.push(String(error))));
    page.on("console", (message) => printed.push(message.text()) >= wanted && resolve());
  });
  await page.route(`${README_URL}/**`, (route) => route.continue({ url: route.request().url().replace(README_URL, coop.url) }));
  await page.goto(`${origin}/readme`, { timeout: WITHIN_MS });
  await ended;
  const holds = `${printed.join("\n")}\n` === expected;
  console.log(`${holds ? "ok" : "not ok"} - the first program of the README of clients/ts prints what it says`);
  if (!holds) console.log(`it printed\n${printed.join("\n")}`.replaceAll(/^/gm, "#   "));
  return holds;
}

/** Runs the second one, for an agent that asks, on a page of coop's own origin; somebody says yes. */
async function runAgentReadme(browser, { url }) {
  const page = await browser.newPage();
  const printed = [];
  const body = "<!doctype html><meta charset=utf-8><script type=module src=/readme2.js></script>";
  await page.route(`${url}/readme2`, (route) => route.fulfill({ contentType: "text/html", body }));
  await page.route(`${url}/readme2.js`, async (route) => route.fulfill({ contentType: "text/javascript", body: await readFile("site/readme2.js", "utf8") }));
  const ended = new Promise((resolve) => {
    setTimeout(resolve, WITHIN_MS);
    page.on("pageerror", (error) => resolve(printed.push(String(error))));
    page.on("dialog", (dialog) => dialog.accept().then(() => printed.push(dialog.message())));
    page.on("console", (message) => printed.push(message.text()) && message.text() === "idle" && resolve());
  });
  await page.goto(`${url}/readme2`, { timeout: WITHIN_MS });
  await ended;
  const { lines } = await (await fetch(`${url}/api/v1/screen`)).json();
  const holds = printed[0] === "delivered" && printed.includes("prompt") && printed.at(-1) === "idle" && lines.join("\n").includes("allowed");
  console.log(`${holds ? "ok" : "not ok"} - the second program of the README of clients/ts gives its message and answers what is asked`);
  if (!holds) console.log(`it printed\n${printed.join("\n")}\non\n${lines.join("\n")}`.replaceAll(/^/gm, "#   "));
  return holds;
}

async function startCoop(...flags) {
  return start(flags, ["bash", "--norc"]);
}

/** An agent, played by a script, that asks before it does what it is told. */
async function startAgent() {
  const agent = await start(["--agent", "claude", "--groom", "manual", "--cols", "100", "--rows", "30"], ["bash", "agent", coop, "asks"]);
  await fetch(`${agent.url}/api/v1/wait`, { method: "POST", body: JSON.stringify({ states: ["idle"], timeout_ms: WITHIN_MS }) });
  return agent;
}

async function start(flags, program) {
  const child = spawn(coop, ["--port", "0", ...flags, "--", ...program], { stdio: ["ignore", "pipe", "ignore"] });
  const [line] = await once(createInterface(child.stdout), "line", { signal: AbortSignal.timeout(WITHIN_MS) });
  return { child, url: JSON.parse(line).url };
}

/** The daemon of a user who has no boxes, and its port for pages. */
async function startBoxes(home, origin) {
  await mkdir(join(home, "run"), { mode: 0o700 });
  const env = { ...process.env, HOME: home, COOP_HOME: join(home, "coop"), XDG_RUNTIME_DIR: join(home, "run") };
  const flags = ["serve", "--port", "0", "--auth-token", TOKEN, "--allow-origin", origin];
  const child = spawn(coop, flags, { env, stdio: ["ignore", "pipe", "ignore"] });
  const [line] = await once(createInterface(child.stdout), "line", { signal: AbortSignal.timeout(WITHIN_MS) });
  // The daemon would stay for a while.
  const stopDaemon = () => promisify(execFile)(coop, ["daemon", "stop"], { env, timeout: WITHIN_MS }).catch(() => {});
  return { child, url: JSON.parse(line).url, stopDaemon };
}

async function end(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit", { signal: AbortSignal.timeout(WITHIN_MS) });
  child.kill("SIGTERM");
  await gone.catch(() => child.kill("SIGKILL"));
}

const server = await servePage();
const origin = `http://127.0.0.1:${server.address().port}`;
const started = [];
const profile = await mkdtemp(join(tmpdir(), "coop-chromium-"));
const home = await mkdtemp(join(tmpdir(), "coop-home-"));
let broken = 0;
let line;
let boxes;
try {
  const guarded = await startCoop("--auth-token", TOKEN, "--allow-origin", origin);
  started.push(guarded.child);
  const open = await startCoop("--allow-origin", origin);
  started.push(open.child);
  const closed = await startCoop();
  started.push(closed.child);
  const readme = await startCoop("--auth-token", README_TOKEN, "--allow-origin", origin);
  started.push(readme.child);
  const further = await startCoop("--allow-origin", origin);
  started.push(further.child);
  for (const cols of [90, 91, 92, 93, 94, 95, 96, 97, 98, 99]) {
    await fetch(`${further.url}/api/v1/resize`, { method: "POST", body: JSON.stringify({ cols, rows: 30 }) });
  }
  const played = await startAgent();
  started.push(played.child);
  boxes = await startBoxes(home, origin);
  started.push(boxes.child);
  line = await startLine(open.url);
  const browser = await chromium.launchPersistentContext(profile, {
    executablePath,
    headless: true,
    timeout: WITHIN_MS,
    // A root in a container has no sandbox of its own; the rest keeps Chromium from calling home.
    args: "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync".split(" "),
  });
  try {
    const page = await browser.newPage();
    await page.exposeFunction("tell", (line) => {
      if (line.startsWith("not ok")) broken += 1;
      console.log(line);
    });
    await page.exposeFunction("cut", (down) => line.cut(down));
    await page.exposeFunction("hold", () => line.hold());
    await page.exposeFunction("mislead", () => line.mislead(further.url));
    await page.goto(origin, { timeout: WITHIN_MS });
    const places = { guarded: guarded.url, open: open.url, cuttable: line.url, closed: closed.url, boxes: boxes.url, token: TOKEN };
    await page.evaluate((places) => window.run(places), places);
    const untouched = await (await fetch(`${closed.url}/api/v1/status`)).json();
    if (untouched.bytes_written !== 0) broken += 1;
    console.log(`${untouched.bytes_written === 0 ? "ok" : "not ok"} - a page of another origin types nothing, not even blindly`);
    await page.screenshot({ path: picture, fullPage: true });
    if (!(await runReadme(browser, origin, readme))) broken += 1;
    if (!(await runAgentReadme(browser, played))) broken += 1;
  } finally {
    await browser.close();
  }
} catch (error) {
  broken += 1;
  console.log(`not ok - a page in Chromium can be tried\n#   ${error.message.replaceAll("\n", "\n#   ")}`);
} finally {
  await boxes?.stopDaemon();
  for (const child of started) await end(child);
  line?.close();
  server.closeAllConnections();
  server.close();
  for (const directory of [profile, home]) await rm(directory, { recursive: true, force: true });
}
process.exitCode = broken ? 1 : 0;
