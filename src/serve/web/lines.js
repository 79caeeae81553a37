// A line of an agent's session log, read for people: who said what. Pure, so that it can be tried on recorded logs.

const TEXT_LENGTH_MAX = 4000;

/** Gives `[{who, text, kind}]`: what one line says, nothing for lines that are the log's own. */
export function read(line) {
  let entry;
  try {
    entry = JSON.parse(line);
  } catch {
    return [];
  }
  if (entry === null || typeof entry !== "object" || entry.isMeta) return [];
  const message = entry.message ?? entry.payload ?? entry;
  const role = message.role ?? (["user", "assistant", "gemini"].includes(entry.type) ? entry.type : null);
  if (message.type === "function_call" || message.type === "custom_tool_call") return [tool(message.name, message.arguments ?? message.input)];
  if (message.type === "function_call_output" || message.type === "custom_tool_call_output") return [result(message.output)];
  if (!["user", "assistant", "gemini", "model"].includes(role)) return [];
  const who = role === "user" ? "user" : "agent";
  const calls = (message.toolCalls ?? []).map((one) => tool(one.displayName ?? one.name, one.args));
  return [...parts(message.content ?? message.parts, who), ...calls];
}

function parts(content, who) {
  if (typeof content === "string") return text(content, who);
  if (!Array.isArray(content)) return [];
  return content.flatMap((part) => {
    if (part?.type === "tool_use") return [tool(part.name, part.input)];
    if (part?.type === "tool_result") return [result(part.content)];
    return typeof part?.text === "string" ? text(part.text, who) : [];
  });
}

/** All lines in order. An agent may write what it says twice, first alone and then with the tools that it calls. */
export function readAll(lines) {
  const entries = lines.flatMap(read);
  const repeats = (entry, before) => entry.kind === "text" && before?.kind === "text" && before.who === entry.who && before.text === entry.text;
  return entries.filter((entry, index) => !repeats(entry, entries[index - 1]));
}

/** What agents put around their own commands and surroundings is not what somebody said. */
function text(words, who) {
  const own = /^\s*<(command-name|local-command|bash-|system-reminder|session_context|environment_context|user_instructions|permissions)/.test(words);
  return own || !words.trim() ? [] : [{ who, kind: "text", text: bounded(words) }];
}

const tool = (name, input) => ({ who: "agent", kind: "tool", name: bounded(String(name ?? "tool")), text: bounded(flat(input)) });

const result = (content) => ({ who: "tool", kind: "result", text: bounded(flat(Array.isArray(content) ? content.map((part) => part?.text ?? "").join("\n") : content)) });

function flat(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value.startsWith("{") ? flat(parsed(value)) : value;
  return String(value.command ?? value.cmd ?? (value.text !== undefined ? value.text : JSON.stringify(value)));
}

/** Some log their tools' input as JSON text; what is none stays as it is. */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return { text };
  }
}

const bounded = (words) => (words.length > TEXT_LENGTH_MAX ? `${words.slice(0, TEXT_LENGTH_MAX)}…` : words);
