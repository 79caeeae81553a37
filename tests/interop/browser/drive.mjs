// Serves the page, starts the coops and the browser, and prints what the page tells: `drive.mjs COOP CHROMIUM PICTURE`.
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const [coop, executablePath, picture] = process.argv.slice(2);
const TOKEN = "interop-secret";
/** The longest that a start or an end is waited for, in milliseconds. */
const WITHIN_MS = 30_000;

const FILES = { "/": ["index.html", "text/html"], "/page.js": ["page.js", "text/javascript"] };

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
try {
  const guarded = await startCoop("--auth-token", TOKEN, "--allow-origin", origin);
  started.push(guarded.child);
  const open = await startCoop("--allow-origin", origin);
  started.push(open.child);
  const closed = await startCoop();
  started.push(closed.child);
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
    await page.goto(origin, { timeout: WITHIN_MS });
    await page.evaluate((places) => window.run(places), { guarded: guarded.url, open: open.url, closed: closed.url, token: TOKEN });
    const untouched = await (await fetch(`${closed.url}/api/v1/status`)).json();
    if (untouched.bytes_written !== 0) broken += 1;
    console.log(`${untouched.bytes_written === 0 ? "ok" : "not ok"} - a page of another origin types nothing, not even blindly`);
    await page.screenshot({ path: picture, fullPage: true });
  } finally {
    await browser.close();
  }
} catch (error) {
  broken += 1;
  console.log(`not ok - a page in Chromium can be tried\n#   ${error.message.replaceAll("\n", "\n#   ")}`);
} finally {
  for (const child of started) await end(child);
  server.closeAllConnections();
  server.close();
  await rm(profile, { recursive: true, force: true });
}
process.exitCode = broken ? 1 : 0;
