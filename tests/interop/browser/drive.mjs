// Serves the page, starts the coops and the browser, and prints what the page tells: `drive.mjs COOP CHROMIUM PICTURE`.
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { connect, createServer as createProxy } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
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
    if (!name) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": type }).end(await readFile(join("site", name)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

/** A line to a coop that can be cut; while it is down, nobody gets through. */
async function startLine(url) {
  const open = new Set();
  let isDown = false;
  const server = createProxy((caller) => {
    const called = connect(new URL(url).port, "127.0.0.1");
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
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${server.address().port}`, cut, close: () => (cut(true), server.close()) };
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

async function startCoop(...flags) {
  const child = spawn(coop, ["--port", "0", ...flags, "--", "bash", "--norc"], { stdio: ["ignore", "pipe", "ignore"] });
  const [line] = await once(createInterface(child.stdout), "line", { signal: AbortSignal.timeout(WITHIN_MS) });
  return { child, url: JSON.parse(line).url };
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
let broken = 0;
let line;
try {
  const guarded = await startCoop("--auth-token", TOKEN, "--allow-origin", origin);
  started.push(guarded.child);
  const open = await startCoop("--allow-origin", origin);
  started.push(open.child);
  const closed = await startCoop();
  started.push(closed.child);
  const readme = await startCoop("--auth-token", README_TOKEN, "--allow-origin", origin);
  started.push(readme.child);
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
    await page.goto(origin, { timeout: WITHIN_MS });
    await page.evaluate((places) => window.run(places), { guarded: guarded.url, open: open.url, cuttable: line.url, closed: closed.url, token: TOKEN });
    const untouched = await (await fetch(`${closed.url}/api/v1/status`)).json();
    if (untouched.bytes_written !== 0) broken += 1;
    console.log(`${untouched.bytes_written === 0 ? "ok" : "not ok"} - a page of another origin types nothing, not even blindly`);
    await page.screenshot({ path: picture, fullPage: true });
    if (!(await runReadme(browser, origin, readme))) broken += 1;
  } finally {
    await browser.close();
  }
} catch (error) {
  broken += 1;
  console.log(`not ok - a page in Chromium can be tried\n#   ${error.message.replaceAll("\n", "\n#   ")}`);
} finally {
  for (const child of started) await end(child);
  line?.close();
  server.closeAllConnections();
  server.close();
  await rm(profile, { recursive: true, force: true });
}
process.exitCode = broken ? 1 : 0;
