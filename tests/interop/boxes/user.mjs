// A user with a home and a daemon of their own, and `coop serve` before it; all of it is gone afterwards.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { WITHIN_MS } from "../page/coop.mjs";

const run = promisify(execFile);

/** The program that plays Claude Code, and where a box has coop. */
const AGENT = join(dirname(fileURLToPath(import.meta.url)), "agent");
const COOP_INSIDE = "/run/coop/coop";

export class User {
  static async serving(bin, flags) {
    const user = new User();
    user.bin = bin;
    user.dir = await mkdtemp(join(tmpdir(), "coop-boxes-"));
    await mkdir(join(user.dir, "run"), { mode: 0o700 });
    user.env = { ...process.env, HOME: user.dir, COOP_HOME: join(user.dir, "home"), XDG_RUNTIME_DIR: join(user.dir, "run"), CLAUDE_CONFIG_DIR: undefined };
    user.token = flags[flags.indexOf("--auth-token") + 1];
    if (!flags.includes("--auth-token")) user.token = undefined;
    user.served = spawn(bin, ["serve", "--port", "0", ...flags], { env: user.env, stdio: ["ignore", "pipe", "inherit"] });
    const [line] = await once(createInterface(user.served.stdout), "line", { signal: AbortSignal.timeout(WITHIN_MS) });
    user.url = JSON.parse(line).url;
    return user;
  }

  /** A verb of coop, as this user says it. */
  async coop(...words) {
    return (await run(this.bin, words, { env: this.env, timeout: WITHIN_MS })).stdout;
  }

  /** A directory for a box to work in. */
  async project(name, files = {}) {
    const project = join(this.dir, name);
    await mkdir(project, { recursive: true });
    for (const [path, text] of Object.entries(files)) await writeFile(join(project, path), text);
    return project;
  }

  /** A box with a bash that has printed its prompt. */
  async shell(name, ...flags) {
    const project = await this.project(name);
    await this.coop("up", project, "--name", name, "-d", "--network", "none", "--env", "PS1=ready> ", ...flags, "--", "bash", "--norc");
    await this.wait(name, { text: "ready>" });
    return project;
  }

  /** A box with a program in Claude Code's place, which draws for this size; a message with `permission` in it makes it ask. */
  async agent(name, source = {}) {
    const directory = await this.project(name);
    await copyFile(AGENT, join(directory, "agent"));
    const command = ["bash", join(directory, "agent"), COOP_INSIDE];
    await this.call("POST", "api/v1/boxes", { source: { directory, name, agent: "claude", command, network: "none", cols: 100, rows: 30, ...source } });
    await this.wait(name, { states: ["idle"] });
    return directory;
  }

  async call(method, path, body) {
    const headers = this.token ? { authorization: `Bearer ${this.token}` } : {};
    const answer = await fetch(`${this.url}/${path}`, { method, headers, body: body && JSON.stringify(body), signal: AbortSignal.timeout(WITHIN_MS) });
    const said = await answer.json();
    if (!answer.ok) throw new Error(`${method} ${path}: ${JSON.stringify(said)}`);
    return said;
  }

  /** Something that the session of a box is asked. */
  inside(name, method, path, body) {
    return this.call(method, `box/${name}/api/v1/${path}`, body);
  }

  async wait(name, what) {
    const met = await this.inside(name, "POST", "wait", { ...what, timeout_ms: WITHIN_MS - 1000 });
    if (met.matched) return;
    const { lines } = await this.inside(name, "GET", "screen");
    throw new Error(`${JSON.stringify(what)} never came true in ${name}; the screen:\n${lines.join("\n").trimEnd()}`);
  }

  types(name, text) {
    return this.inside(name, "POST", "input", { text, enter: true });
  }

  /** Makes the agent of a box ask for a permission. */
  async asks(name) {
    await this.inside(name, "POST", "agent/nudge", { message: "needs a permission" });
    await this.wait(name, { states: ["prompt"] });
  }

  read(...path) {
    return readFile(join(this.dir, ...path), "utf8");
  }

  async stop() {
    const { boxes } = await this.call("GET", "api/v1/boxes").catch(() => ({ boxes: [] }));
    for (const { name } of boxes) await this.coop("rm", name, "--force").catch(() => {});
    await this.coop("daemon", "stop").catch(() => {});
    if (this.served.exitCode === null) {
      const gone = once(this.served, "exit", { signal: AbortSignal.timeout(WITHIN_MS) });
      this.served.kill("SIGTERM");
      await gone.catch(() => this.served.kill("SIGKILL"));
    }
    await rm(this.dir, { recursive: true, force: true });
  }
}
