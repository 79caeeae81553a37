// What can be done with a box: stop, restart, remove, and a shell inside.

import { address, call, post } from "../api.js";
import { ask } from "../ask.js";

/** Stopping waits for an agent to save its conversation, starting for an image: in milliseconds. */
const SLOW_MS_MAX = 600_000;

const path = (name) => `boxes/${encodeURIComponent(name)}`;

export const stop = (name) => post(`${path(name)}/stop`, {}, { msMax: SLOW_MS_MAX });

export const restart = (name) => post(`${path(name)}/restart`, {}, { msMax: SLOW_MS_MAX });

/** Asks before something that runs is ended. */
export async function stopAsked(name) {
  const yes = await ask({ title: `Stop ${name}?`, text: "Everything inside is ended. Its files stay, and it can be started again.", yes: "Stop it" });
  return yes && stop(name);
}

export async function restartAsked(name, runs) {
  const question = { title: `Restart ${name}?`, text: "What runs inside is ended first. Whatever it has not saved is lost.", yes: "Restart" };
  return (!runs || (await ask(question))) && restart(name);
}

/** What it holds and nobody has applied is named by the server, which refuses; then somebody says it twice. */
export async function remove(name, runs) {
  const text = `Its files are removed, and cannot be brought back${runs ? "; what runs inside is ended" : ""}. The project stays as it is.`;
  if (!(await ask({ title: `Remove ${name}?`, text, yes: "Remove it" }))) return false;
  if (runs) await stop(name);
  try {
    return await call("DELETE", path(name), undefined, { msMax: SLOW_MS_MAX });
  } catch (error) {
    if (error.status !== 409) throw error;
    if (!(await ask({ title: `Remove ${name} all the same?`, text: error.message, yes: "Remove it all the same" }))) return false;
    return call("DELETE", `${path(name)}?force=true`, undefined, { msMax: SLOW_MS_MAX });
  }
}

/** A shell beside the agent, on a terminal of its own. */
export async function shell(name) {
  const base = `box/${encodeURIComponent(name)}/`;
  const { id } = await post("terminals", {}, { base });
  location.assign(address(`${base}?terminal=${encodeURIComponent(id)}`));
}
