// What the page does: each promise is tried in the browser, shown on the page, and told to the driver.
import { Code, ConnectError } from "@connectrpc/connect";
import {
  AgentStateKind,
  createBoxesClient,
  createCoopClient,
  reasonOf,
  states,
  type AgentStateEvent,
  type CoopClient,
  type ListBoxesResponse,
  type RunCommandResponse,
  type StateEvent,
  type Terminal,
} from "coop-client";

/** Where the coops listen: one that wants a token, one that lets this page in – also over a line that can be cut –, one that does not,
 * and the daemon's port for all boxes. */
export interface Places {
  guarded: string;
  open: string;
  cuttable: string;
  closed: string;
  boxes: string;
  token: string;
}

declare global {
  interface Window {
    tell(line: string): Promise<void>;
    /** Cuts the line to the open coop; while it is down, nobody gets through. */
    cut(down: boolean): Promise<void>;
    /** Lets the line stand still: it is there, and nothing comes through. */
    hold(): Promise<void>;
    /** Cuts the line and leads it to another coop, whose numbers are higher. */
    mislead(): Promise<void>;
    run(places: Places): Promise<void>;
  }
}

/** The longest that one promise may take, in milliseconds. */
const WITHIN_MS = 15_000;

function holds(fact: boolean, shown: unknown): void {
  if (!fact) throw new Error(JSON.stringify(shown, (_, value) => (typeof value === "bigint" ? `${value}` : value)));
}

async function check(promise: string, keep: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const item = document.getElementById("promises")!.appendChild(document.createElement("li"));
  const aborter = new AbortController();
  const late = setTimeout(() => aborter.abort(new Error(`not within ${WITHIN_MS} ms`)), WITHIN_MS);
  try {
    await keep(aborter.signal);
    item.textContent = `✓ ${promise}`;
    await window.tell(`ok - ${promise}`);
  } catch (error) {
    item.textContent = `✗ ${promise}: ${error}`;
    await window.tell(`not ok - ${promise}\n#   ${error}`);
  } finally {
    clearTimeout(late);
    aborter.abort();
  }
}

/** Whether a call fails with this code. */
async function refused(call: Promise<unknown>, ...codes: Code[]): Promise<ConnectError> {
  const error = await call.then(() => undefined, ConnectError.from);
  if (error === undefined || !codes.includes(error.code)) throw new Error(`it was not refused: ${error}`);
  return error;
}

async function typesAndReadsTheEcho(coop: CoopClient, signal: AbortSignal): Promise<void> {
  const output = coop.streamOutput({}, { signal });
  const text = "echo browser-$((40+2))";
  const sent = await coop.sendInput({ text, enter: true }, { signal });
  holds(sent.bytesWritten === BigInt(text.length + 1), sent);
  const decoder = new TextDecoder();
  let seen = "";
  for await (const chunk of output) {
    seen += decoder.decode(chunk.data, { stream: true });
    if (seen.includes("browser-42")) return;
  }
  throw new Error(`the stream ended after ${seen}`);
}

async function readsTheScreen(coop: CoopClient, signal: AbortSignal): Promise<void> {
  const waited = await coop.wait({ regex: "^browser-42$", timeoutMs: 10_000 }, { signal });
  holds(waited.matched, waited);
  const screen = await coop.getScreen({}, { signal });
  document.getElementById("screen")!.textContent = screen.lines.join("\n").trimEnd();
  holds(screen.lines.includes("browser-42"), screen);
}

async function resizes(coop: CoopClient, signal: AbortSignal): Promise<void> {
  const screens = coop.streamScreen({}, { signal });
  const size = await coop.resize({ cols: 100, rows: 30 }, { signal });
  holds(size.cols === 100 && size.rows === 30, size);
  for await (const screen of screens) {
    if (screen.cols === 100 && screen.lines.length === 30) return;
  }
  throw new Error("the stream ended");
}

async function opensATerminal(coop: CoopClient, signal: AbortSignal): Promise<void> {
  const opened: Terminal = await coop.openTerminal({ command: ["cat"] }, { signal });
  const { terminals } = await coop.listTerminals({}, { signal });
  holds(terminals.some(({ id, command }) => id === opened.id && command.join() === "cat"), terminals);
  await coop.closeTerminal({ id: opened.id }, { signal });
}

/** What a browser cannot do: say more than one thing in a call. */
async function runsACommand(coop: CoopClient, signal: AbortSignal): Promise<RunCommandResponse[]> {
  async function* said() {
    yield { event: { case: "start" as const, value: { command: ["true"] } } };
  }
  const heard: RunCommandResponse[] = [];
  for await (const response of coop.runCommand(said(), { signal })) heard.push(response);
  return heard;
}

/** The daemon's calls, and those of the session in a box, which is not there. */
async function asksForBoxes(url: string, token: string, signal: AbortSignal): Promise<void> {
  const daemon = createBoxesClient(url, token);
  const all: ListBoxesResponse = await daemon.listBoxes({}, { signal });
  holds(all.boxes.length === 0, all);
  for await (const event of daemon.watchBoxes({}, { signal })) {
    holds(event.allTold, event);
    break;
  }
  for (const call of [daemon.getBox({ name: "none" }, { signal }), createCoopClient(`${url}/box/none`, token).getStatus({}, { signal })]) {
    holds(reasonOf(await refused(call, Code.NotFound)) === "NOT_FOUND", url);
  }
  await refused(createBoxesClient(url).listBoxes({}, { signal }), Code.Unauthenticated);
}

async function streamsStateUntilExit(coop: CoopClient, signal: AbortSignal): Promise<void> {
  let first: AgentStateEvent | undefined;
  for await (const event of coop.streamState({}, { signal })) {
    if (first === undefined) {
      first = event;
      holds(event.prev === event.next, event);
      await coop.sendInput({ text: "exit 9", enter: true }, { signal });
    }
    if (event.next === AgentStateKind.EXITED) {
      holds(event.exit?.code === 9, event);
      return;
    }
  }
  throw new Error("the stream ended");
}

/** States over a line that is cut while the child exits and is started again, beside those over one that is not. */
async function goesOn(open: string, cuttable: string, signal: AbortSignal): Promise<void> {
  const coop = createCoopClient(open);
  const isBack = ({ state, previous }: StateEvent) => state === "unknown" && previous !== "unknown";
  const seen: StateEvent[] = [];
  for await (const event of states(createCoopClient(cuttable), { signal })) {
    seen.push(event);
    if (seen.length === 1) {
      await window.cut(true);
      await coop.sendInput({ text: "exit 5", enter: true }, { signal });
      await coop.wait({ exited: true }, { signal });
      await coop.restart({}, { signal });
      await window.cut(false);
    }
    if (isBack(event)) break;
  }
  const whole = [seen[0]!.seq];
  for await (const event of states(coop, { afterSeq: seen[0]!.seq, signal })) {
    whole.push(event.seq);
    if (isBack(event)) break;
  }
  holds(seen.map(({ seq }) => seq).join() === whole.join(), [seen, whole]);
  holds(seen.some(({ state }) => state === "exited") && seen.every(({ lost }) => !lost), seen);
  holds(seen.at(-1)!.reconnects > 0, seen);
}

/** A network that stands still, for as long as nobody makes the connection anew. */
async function noticesSilence(open: string, cuttable: string, signal: AbortSignal): Promise<void> {
  const coop = createCoopClient(open);
  let count = 0;
  for await (const event of states(createCoopClient(cuttable), { signal, pulseEveryMs: 500 })) {
    if (event.state === "exited") {
      holds(event.reconnects > 0 && !event.lost, event);
      await coop.restart({}, { signal });
      return;
    }
    if ((count += 1) === 1) {
      await window.hold();
      await coop.sendInput({ text: "exit 6", enter: true }, { signal });
    }
  }
}

/** Another coop that is further on is not taken for the same. */
async function noticesAnother(cuttable: string, signal: AbortSignal): Promise<void> {
  let count = 0;
  for await (const event of states(createCoopClient(cuttable), { signal })) {
    if ((count += 1) === 2) return holds(event.lost, event);
    await window.mislead();
  }
}

/** How a stream of states ends, which it does by an error. */
async function ends(coop: CoopClient, options: { signal: AbortSignal; giveUpAfterMs?: number }): Promise<unknown> {
  try {
    for await (const _ of states(coop, options));
  } catch (error) {
    return error;
  }
}

async function webSocket(url: string, signal: AbortSignal): Promise<void> {
  const socket = new WebSocket(url.replace("http://", "ws://"));
  const first = await new Promise<MessageEvent>((resolve, reject) => {
    socket.onmessage = resolve;
    socket.onerror = () => reject(new Error("the WebSocket was refused"));
    signal.addEventListener("abort", () => reject(signal.reason));
  }).finally(() => socket.close());
  holds(JSON.parse(first.data).event === "transition", first.data);
}

async function eventSource(url: string, signal: AbortSignal): Promise<void> {
  const source = new EventSource(url);
  const first = await new Promise<MessageEvent>((resolve, reject) => {
    source.onmessage = resolve;
    source.onerror = () => reject(new Error("the EventSource failed"));
    signal.addEventListener("abort", () => reject(signal.reason));
  }).finally(() => source.close());
  holds(first.lastEventId === String(JSON.parse(first.data).seq), first.data);
}

async function fetchesJson(url: string, signal: AbortSignal): Promise<void> {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ text: "", enter: true });
  const answer = await fetch(`${url}/api/v1/input`, { method: "POST", headers, body, signal });
  holds((await answer.json()).bytes_written === 1, answer.status);
}

window.run = async ({ guarded, open, cuttable, closed, boxes, token }) => {
  const coop = createCoopClient(guarded, token);
  await check("a page types and finds the echo in streamed output", (signal) => typesAndReadsTheEcho(coop, signal));
  await check("a page waits and reads the screen", (signal) => readsTheScreen(coop, signal));
  await check("a page resizes the terminal", (signal) => resizes(coop, signal));
  await check("a page opens a terminal beside the session's own, finds it and closes it", (signal) => opensATerminal(coop, signal));
  await check("a page is told that it cannot run a command, which is said in both directions", async (signal) => {
    holds(String(await runsACommand(coop, signal).catch(String)).includes("does not support streaming request bodies"), "it was run");
  });
  await check("a page asks the daemon for its boxes", (signal) => asksForBoxes(boxes, token, signal));
  await check("a page opens a WebSocket with its token", (signal) => webSocket(`${guarded}/ws?token=${token}&mode=state`, signal));
  await check("a page streams the state until the exit", (signal) => streamsStateUntilExit(coop, signal));
  await check("a page reads message and reason of a refused call", async (signal) => {
    const error = await refused(coop.sendInput({ text: "x" }, { signal }), Code.NotFound);
    holds(error.rawMessage.includes("exited"), error.rawMessage);
    holds(reasonOf(error) === "EXITED", error.details);
  });
  await check("a page without the token is refused", async (signal) => {
    await refused(createCoopClient(guarded).getScreen({}, { signal }), Code.Unauthenticated);
  });
  await check("a stream of states that is cut goes on without loss or doubles", (signal) => goesOn(open, cuttable, signal));
  await check("a stream of states notices a network that stands still", (signal) => noticesSilence(open, cuttable, signal));
  await check("a stream of states tells another coop from the same, however far it is", (signal) => noticesAnother(cuttable, signal));
  await check("a stream of states ends when it is told to, is refused, or nobody answers", async (signal) => {
    const aborter = new AbortController();
    const aborted = ends(createCoopClient(open), { signal: aborter.signal });
    aborter.abort(new Error("enough"));
    holds(String(await aborted) === "Error: enough", String(await aborted));
    holds(reasonOf(await ends(createCoopClient(guarded, "wrong"), { signal })) === "UNAUTHORIZED", "the wrong token");
    await window.cut(true);
    const givenUp = await ends(createCoopClient(cuttable), { signal, giveUpAfterMs: 1_000 });
    holds(ConnectError.from(givenUp).rawMessage.startsWith("given up"), String(givenUp));
  });
  await check("a page of an allowed origin posts JSON", (signal) => fetchesJson(open, signal));
  await check("a page of an allowed origin follows an EventSource", (signal) => eventSource(`${open}/api/v1/stream/state`, signal));
  await check("a page of another origin cannot call", async (signal) => {
    await refused(createCoopClient(closed).getScreen({}, { signal }), Code.Unknown, Code.Unavailable, Code.Internal);
  });
  await check("a page of another origin cannot open a WebSocket", async (signal) => {
    const opened = await webSocket(`${closed}/ws?mode=state`, signal).then(() => true, () => false);
    holds(!opened, "the WebSocket was opened");
  });
  // A browser sends these without asking, and hides the answer; the driver looks at what came of them.
  for (const path of ["/api/v1/input", "/api/v1/input/raw"]) {
    await fetch(closed + path, { method: "POST", mode: "no-cors", body: '{"text":"x"}' });
  }
};
