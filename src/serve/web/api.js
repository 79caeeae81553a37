// Calls to coop: relative to the page, with the token, and with errors that say what the server said.

import { current } from "./token.js";

/** The longest that a call is waited for, in milliseconds; longer than the longest timeout that the page asks for. */
const CALL_MS_MAX = 30_000;

/** How long a message or an answer may wait for its witness, in milliseconds. */
export const WITNESS_MS = 15_000;

export class Failure extends Error {
  constructor(code, message, status) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

/** An address beside the page, wherever a proxy has put it. */
export const address = (path) => new URL(path, new URL(".", document.baseURI)).href;

export async function call(method, path, body) {
  const headers = { accept: "application/json" };
  if (current()) headers.authorization = `Bearer ${current()}`;
  if (body !== undefined) headers["content-type"] = "application/json";
  let answer;
  try {
    answer = await fetch(address(`api/v1/${path}`), {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: "no-store",
      signal: AbortSignal.timeout(CALL_MS_MAX),
    });
  } catch (error) {
    throw new Failure("UNREACHABLE", `coop cannot be reached: ${error.message}`, 0);
  }
  const text = await answer.text();
  let value = null;
  try {
    value = JSON.parse(text);
  } catch {
    // A proxy's own page, for example; the status says enough.
  }
  if (answer.ok && value !== null) return value;
  const error = value?.error;
  throw new Failure(error?.code ?? "INTERNAL", error?.message ?? `${answer.status} ${answer.statusText}`, answer.status);
}

export const get = (path) => call("GET", path);
export const post = (path, body = {}) => call("POST", path, body);
