// The agent's states as a stream that survives a broken connection.
import { Code, ConnectError } from "@connectrpc/connect";
import type { CoopClient } from "./client.js";
import { reasonOf } from "./errors.js";
import { AgentStateKind, type AgentStateEvent, type PromptContext } from "./gen/coop/v1/agent_pb.js";
import { isSame, meet, type Met } from "./met.js";

/** What an agent does, in a word. */
export type State = Lowercase<Exclude<keyof typeof AgentStateKind, "UNSPECIFIED">>;

/** A change of the agent's state, or its current state (`previous` equals `state`). */
export interface StateEvent {
  state: State;
  previous: State;
  seq: bigint;
  /** The dialog that is shown. */
  prompt?: PromptContext;
  /** How often the connection was made anew since the stream began. */
  reconnects: number;
  /** Events before this one are missing: coop does not hold them any more, or another coop runs at the address now. */
  lost: boolean;
  /** Everything else that the contract tells: exit, error, last words, gap. */
  event: AgentStateEvent;
}

export interface StatesOptions {
  /** Begins with the events after this sequence number instead of the current state. */
  afterSeq?: bigint;
  /** Ends the stream, which then throws the signal's reason. */
  signal?: AbortSignal;
  /** Ends it when coop was not reached for so long, in milliseconds; two minutes when absent. */
  giveUpAfterMs?: number;
  /** How often it is felt for whether coop is still there while nothing happens, in milliseconds; ten seconds when absent. */
  pulseEveryMs?: number;
  /** Told when the connection broke, and what will be waited before the next attempt, in milliseconds. */
  onBreak?: (error: ConnectError, waitMs: number) => void;
}

const BACKOFF_MS_MIN = 100;
const BACKOFF_MS_MAX = 5_000;
const GIVE_UP_AFTER_MS = 120_000;
const PULSE_EVERY_MS = 10_000;

/** How long an answer may take that coop gives at once. */
const ANSWER_WITHIN_MS = 10_000;

/** What gRPC says when the connection failed, and not the request. */
const BREAKS: Code[] = [
  Code.Unknown,
  Code.Unavailable,
  Code.Internal,
  Code.Aborted,
  Code.DataLoss,
  Code.Canceled,
  Code.DeadlineExceeded,
];

/** The word for a state: "idle", "working", "prompt", … */
export function stateWord(kind: AgentStateKind): State {
  return (AgentStateKind[kind] ?? "UNKNOWN").toLowerCase() as State;
}

/**
 * Streams the agent's states, the current one first. A broken connection is made anew and the stream goes on where it was,
 * without loss or doubles; where history is gone, the next event says so (`lost`).
 */
export async function* states(coop: CoopClient, options: StatesOptions = {}): AsyncGenerator<StateEvent, never> {
  const { signal, onBreak, giveUpAfterMs = GIVE_UP_AFTER_MS, pulseEveryMs = PULSE_EVERY_MS } = options;
  let { afterSeq } = options;
  let reconnects = 0;
  let lost = false;
  let backoff = BACKOFF_MS_MIN;
  let heard = Date.now();
  let met: Met | undefined;
  for (;;) {
    // One for each connection, so that leaving the loop closes it.
    const connection = new AbortController();
    const forward = () => connection.abort(signal?.reason);
    signal?.throwIfAborted();
    signal?.addEventListener("abort", forward);
    let reached = false;
    let behind: bigint | undefined;
    // A network that stands still says nothing: what coop itself says of the state must have come, at the latest by the next time.
    const feel = async () => {
      const since = await stateSince(coop, connection, pulseEveryMs);
      if (since === undefined || since <= (afterSeq ?? 0n)) behind = undefined;
      else if (behind === since) connection.abort();
      else behind = since;
    };
    const pulse = setInterval(feel, pulseEveryMs);
    let error: ConnectError;
    try {
      const now = await meet(coop, { signal: connection.signal, timeoutMs: ANSWER_WITHIN_MS });
      // The events of another coop are no continuation, whatever their numbers are.
      if (met && !isSame(met, now)) [afterSeq, lost] = [undefined, true];
      [met, reached] = [now, true];
      for await (const event of coop.streamState({ afterSeq }, { signal: connection.signal })) {
        [backoff, afterSeq] = [BACKOFF_MS_MIN, event.seq];
        yield told(event, reconnects, lost);
        lost = false;
      }
      error = new ConnectError("the stream has ended", Code.Unavailable);
    } catch (thrown) {
      error = ConnectError.from(thrown);
    } finally {
      signal?.removeEventListener("abort", forward);
      clearInterval(pulse);
      connection.abort();
    }
    signal?.throwIfAborted();
    // It was good until it broke, however quiet it was.
    if (reached) heard = Date.now();
    const reason = reasonOf(error);
    if (reason === "BAD_REQUEST" && afterSeq !== undefined) {
      // The number is ahead of this session: another coop runs here now.
      [afterSeq, lost] = [undefined, true];
    } else if ((reason !== undefined && reason !== "NOT_READY") || !BREAKS.includes(error.code)) {
      throw error;
    } else if (Date.now() - heard + backoff > giveUpAfterMs) {
      throw new ConnectError(`given up: ${error.rawMessage}`, Code.Unavailable, undefined, undefined, error);
    }
    onBreak?.(error, backoff);
    // A little more or less, so that many pages do not come at once.
    await pause(backoff * (0.75 + Math.random() / 2), signal);
    backoff = Math.min(2 * backoff, BACKOFF_MS_MAX);
    reconnects += 1;
  }
}

/** The number of the event with which the present state began. Closes a connection on which nobody answers any more. */
async function stateSince(coop: CoopClient, connection: AbortController, timeoutMs: number): Promise<bigint | undefined> {
  try {
    return (await coop.getAgentState({}, { signal: connection.signal, timeoutMs })).sinceSeq;
  } catch (thrown) {
    if (BREAKS.includes(ConnectError.from(thrown).code)) connection.abort();
    return undefined;
  }
}

function told(event: AgentStateEvent, reconnects: number, lost: boolean): StateEvent {
  return {
    state: stateWord(event.next),
    previous: stateWord(event.prev),
    seq: event.seq,
    prompt: event.prompt,
    reconnects,
    lost: lost || event.gap !== undefined,
    event,
  };
}

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", end);
      resolve();
    }, ms);
    signal?.addEventListener("abort", end, { once: true });
  });
}
