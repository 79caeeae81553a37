// Why a call was refused: the word of coop's error table, which travels as google.rpc.ErrorInfo.
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { ConnectError } from "@connectrpc/connect";

/** The codes of coop's error table. */
export type Reason =
  | "BAD_REQUEST"
  | "UNAUTHORIZED"
  | "FORBIDDEN"
  | "NO_DRIVER"
  | "METHOD_NOT_ALLOWED"
  | "NOT_FOUND"
  | "EXITED"
  | "WRITER_BUSY"
  | "AGENT_BUSY"
  | "NO_PROMPT"
  | "STATE_CHANGED"
  | "NOT_READY"
  | "BORROWED"
  | "TOO_LARGE"
  | "INTERNAL";

/** The code of coop's error table that a call failed with; undefined when it was not coop that refused. */
export function reasonOf(error: unknown): Reason | undefined {
  for (const detail of ConnectError.from(error).details) {
    if ("type" in detail && detail.type === "google.rpc.ErrorInfo") {
      const { reason, domain } = readErrorInfo(detail.value);
      if (domain === "coop") return reason as Reason;
    }
  }
  return undefined;
}

// google.rpc.ErrorInfo: reason is field 1, domain is field 2; the rest is not read.
function readErrorInfo(bytes: Uint8Array): { reason: string; domain: string } {
  const reader = new BinaryReader(bytes);
  const info = { reason: "", domain: "" };
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 1 && type === WireType.LengthDelimited) info.reason = reader.string();
    else if (field === 2 && type === WireType.LengthDelimited) info.domain = reader.string();
    else reader.skip(type, field);
  }
  return info;
}
