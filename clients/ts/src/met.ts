// Which coop it is that answers: another one may have taken its place.
import type { CallOptions } from "@connectrpc/connect";
import type { CoopClient } from "./client.js";

/** A coop as it was when it was asked. */
export interface Met {
  /** When its child was started, and how often that was again. */
  startedAtMs: bigint;
  restarts: number;
  /** When it began itself, on our clock, in milliseconds. */
  began: number;
}

/** How far two looks at the same coop may differ in when it began, in milliseconds: uptimes are whole seconds, and answers take time. */
const SAME_WITHIN_MS = 3_000;

export async function meet(coop: CoopClient, options: CallOptions): Promise<Met> {
  const { startedAtMs, restarts, uptimeSecs } = await coop.getStatus({}, options);
  return { startedAtMs, restarts, began: Date.now() - 1000 * Number(uptimeSecs) };
}

/** Whether it is the same coop that was asked again. */
export function isSame(before: Met, later: Met): boolean {
  if (later.restarts === before.restarts) return later.startedAtMs === before.startedAtMs;
  return later.restarts > before.restarts && Math.abs(later.began - before.began) <= SAME_WITHIN_MS;
}
