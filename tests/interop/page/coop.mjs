// Coops for the page to look at: a shell, and an agent that the test plays through its hooks.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

/** The longest that a start, an end or a call is waited for, in milliseconds. */
export const WITHIN_MS = 20_000;

const PROMPT = "ready>";

/** For programs that draw once: they must keep the size that they draw for. */
export const SIZED = ["--cols", "100", "--rows", "50", "--attach-size", "fixed"];

/** Plays Claude Code with a box, dialogs and hooks of its own; see there. */
const PLAYED = fileURLToPath(new URL("agent", import.meta.url));

export class Coop {
  static async start(bin, flags, program, token) {
    return Coop.launch(bin, await mkdtemp(join(tmpdir(), "coop-page-")), [...flags, "--", ...program], token);
  }

  /** One that serves a tmux session, which ends with it; `end` ends it before. */
  static async borrowed(bin) {
    const home = await mkdtemp(join(tmpdir(), "coop-page-"));
    const socket = join(home, "tmux.sock");
    const tmux = (...words) => once(spawn("tmux", ["-S", socket, "-f", "/dev/null", ...words], { stdio: "ignore" }), "exit");
    await tmux("new-session", "-d", "-s", "main", "echo shown; exec cat");
    const coop = await Coop.launch(bin, home, ["--attach", "tmux:main", "--tmux-socket", socket]);
    return Object.assign(coop, { end: () => tmux("kill-server") });
  }

  static async launch(bin, home, words, token) {
    const env = { ...process.env, HOME: home, XDG_RUNTIME_DIR: home, CLAUDE_CONFIG_DIR: undefined, XDG_STATE_HOME: undefined };
    const child = spawn(bin, ["--port", "0", ...words], { stdio: ["ignore", "pipe", "ignore"], env });
    const coop = new Coop();
    const [line] = await once(createInterface(child.stdout), "line", { signal: AbortSignal.timeout(WITHIN_MS) });
    return Object.assign(coop, { bin, home, child, token, url: JSON.parse(line).url });
  }

  /** A bash that has printed its prompt. */
  static async shell(bin, flags = [], token = undefined) {
    const coop = await Coop.start(bin, ["--env", `PS1=${PROMPT} `, ...flags], ["bash", "--norc"], token);
    await coop.shows(PROMPT);
    return coop;
  }

  /** A program in Claude Code's place that shows what it reads. */
  static async agent(bin, flags = []) {
    const coop = await Coop.start(bin, ["--agent", "claude", ...flags], ["bash", "--norc", "-c", "stty -echo -icanon -icrnl; echo ready; cat -v; exit"]);
    await coop.shows("ready");
    const { pid } = await coop.call("GET", "status");
    const told = (await readFile(`/proc/${pid}/environ`, "utf8")).split("\0").filter((one) => one.startsWith("COOP"));
    coop.told = Object.fromEntries(told.map((one) => [one.slice(0, one.indexOf("=")), one.slice(one.indexOf("=") + 1)]));
    return coop;
  }

  /** An agent that does by itself what `played` says: see clients/testdata/agent. */
  static played(bin, flags, ...played) {
    return Coop.start(bin, ["--agent", "claude", "--groom", "manual", ...SIZED, ...flags], ["bash", PLAYED, bin, ...played]);
  }

  /** The address that `coop open` gives a browser. */
  async opened(token) {
    const file = join(this.home, "opened");
    const browser = join(this.home, "browser");
    await writeFile(browser, `#!/bin/sh\nprintf '%s' "$1" > '${file}'\n`, { mode: 0o755 });
    const env = { ...process.env, BROWSER: browser, COOP_AUTH_TOKEN: token };
    const child = spawn(this.bin, ["open", "--url", this.url], { env, stdio: ["ignore", "pipe", "inherit"] });
    const [said] = await Promise.all([text(child.stdout), once(child, "exit")]);
    if (said !== `${this.url}/\n`) throw new Error(`coop open says ${said}`);
    return readFile(file, "utf8");
  }

  async call(method, path, body) {
    const headers = this.token ? { authorization: `Bearer ${this.token}` } : {};
    const answer = await fetch(`${this.url}/api/v1/${path}`, {
      method, headers, body: body && JSON.stringify(body), signal: AbortSignal.timeout(WITHIN_MS),
    });
    return answer.json();
  }

  async wait(what) {
    const met = await this.call("POST", "wait", { ...what, timeout_ms: WITHIN_MS - 1000 });
    if (!met.matched) throw new Error(`${JSON.stringify(what)} never came true; the screen:\n${await this.screen()}`);
  }

  shows(words) {
    return this.wait({ text: words });
  }

  async screen() {
    return (await this.call("GET", "screen")).lines.join("\n").trimEnd();
  }

  /** Runs a hook as the agent would; gives what it tells the agent, once it ends. */
  hook(event, payload) {
    const child = spawn(this.bin, ["hook", event], { env: { ...process.env, ...this.told }, stdio: ["pipe", "pipe", "inherit"] });
    child.stdin.end(JSON.stringify(payload));
    return text(child.stdout).then((said) => (said.trim() ? JSON.parse(said) : null));
  }

  async stop() {
    await this.end?.();
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const gone = once(this.child, "exit", { signal: AbortSignal.timeout(WITHIN_MS) });
      this.child.kill("SIGTERM");
      await gone.catch(() => this.child.kill("SIGKILL"));
    }
    await rm(this.home, { recursive: true, force: true });
  }
}
