// Calls to coop: relative to the page, with the token, and with errors that say what the server said.

import { current } from "./token.js";

/** The longest that a call is waited for, in milliseconds; longer than the longest timeout that the page asks for. */
const CALL_MS_MAX = 30_000;

/** How long a message or an answer may wait for its witness, in milliseconds. */
export const WITNESS_MS = 15_000;

export class Failure extends Error {
  /** `lost`: no word of coop's own came back, so that nobody knows whether the call got there. */
  constructor(code, message, status, lost = false) {
    super(message);
    this.code = code;
    this.status = status;
    this.lost = lost;
  }
}

/** An address beside the page, wherever a proxy has put it. */
export const address = (path) => new URL(path, new URL(".", document.baseURI)).href;

/** What every call says about itself. */
function headers(body) {
  const all = { accept: "application/json" };
  if (current()) all.authorization = `Bearer ${current()}`;
  if (body !== undefined) all["content-type"] = "application/json";
  return all;
}

/** `base` is where the API lies, seen from the page; `msMax` the longest that its answer is waited for. */
export async function call(method, path, body, { base = "", msMax = CALL_MS_MAX } = {}) {
  let answer;
  try {
    answer = await fetch(address(`${base}api/v1/${path}`), {
      method,
      headers: headers(body),
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: "no-store",
      signal: AbortSignal.timeout(msMax),
    });
  } catch (error) {
    throw new Failure("UNREACHABLE", `coop cannot be reached: ${error.message}`, 0, true);
  }
  const value = await read(answer);
  if (answer.ok && value !== null) return value;
  throw failure(answer, value);
}

async function read(answer) {
  try {
    return await answer.json();
  } catch {
    // A proxy's own page, for example; the status says enough.
    return null;
  }
}

/** What a refusal says. */
function failure(answer, value) {
  const error = value?.error;
  // An answer that broke off, or a proxy that speaks for a server which it lost.
  const lost = !error && (answer.ok || answer.status >= 500);
  return new Failure(error?.code ?? "INTERNAL", error?.message ?? `${answer.status} ${answer.statusText}`, answer.status, lost);
}

/** A stream of messages, each given to `told` as it comes; ends with the stream, throws when it breaks or tells an error. */
export async function follow(path, told, { method = "GET", body, base = "", signal } = {}) {
  let answer;
  try {
    answer = await fetch(address(`${base}api/v1/${path}`), { method, headers: headers(body), body: body && JSON.stringify(body), cache: "no-store", signal });
  } catch (error) {
    throw new Failure("UNREACHABLE", `coop cannot be reached: ${error.message}`, 0);
  }
  if (!answer.ok) throw failure(answer, await read(answer));
  let rest = "";
  for await (const text of chunks(answer)) {
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    for (const line of lines.filter(Boolean)) {
      const message = JSON.parse(line);
      if (message.error?.code) throw new Failure(message.error.code, message.error.message, 0);
      told(message);
    }
  }
}

/** Text as it arrives. Written out, because not every browser can iterate over a body. */
async function* chunks(answer) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } catch (error) {
    throw new Failure("UNREACHABLE", `coop cannot be reached: ${error.message}`, 0);
  } finally {
    reader.releaseLock();
  }
}

export const get = (path, options) => call("GET", path, undefined, options);
export const post = (path, body = {}, options = {}) => call("POST", path, body, options);
