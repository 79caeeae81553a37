// The calls of a session, over gRPC-Web.
import { createClient, type Client, type Interceptor } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-web";
import { Coop } from "./gen/coop/v1/coop_pb.js";

/** Every call of the contract, on one session. */
export type CoopClient = Client<typeof Coop>;

/**
 * Connects to the coop at `http://HOST:PORT`, or at the path under which a reverse proxy serves it. The page's origin must be
 * coop's own, or be named with `--allow-origin`. The token goes into a header, never into the address.
 */
export function createCoopClient(baseUrl: string, token?: string): CoopClient {
  const authorize: Interceptor = (next) => (request) => {
    if (token !== undefined) request.header.set("authorization", `Bearer ${token}`);
    return next(request);
  };
  return createClient(Coop, createGrpcWebTransport({ baseUrl, interceptors: [authorize] }));
}
