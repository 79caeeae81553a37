// Which coop it is that answers: another one may have taken its place, whose events and receipts have the same numbers. Pure.

/** How far two looks at the same coop may differ in when it began, in milliseconds: uptimes are whole seconds, and answers take time. */
const SAME_WITHIN_MS = 3_000;

/** A coop by its status: when its child was started and how often again, and when it began itself. */
export const meet = (status, now) => ({ started: status.started_at_ms, restarts: status.restarts, began: now - 1000 * status.uptime_secs });

/** Whether it is the same coop that was asked again. */
export function isSame(before, later) {
  if (later.restarts === before.restarts) return later.started === before.started;
  return later.restarts > before.restarts && Math.abs(later.began - before.began) <= SAME_WITHIN_MS;
}
