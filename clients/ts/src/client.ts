// The calls of a session, and those of the daemon for all boxes, over gRPC-Web.
import { createClient, type Client, type Interceptor, type Transport } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-web";
import { Boxes } from "./gen/coop/v1/boxes_pb.js";
import { Coop } from "./gen/coop/v1/coop_pb.js";

/** Every call of the contract, on one session. */
export type CoopClient = Client<typeof Coop>;

/** Every call of the contract about boxes. */
export type BoxesClient = Client<typeof Boxes>;

/**
 * Connects to the coop at `http://HOST:PORT`, or at the path under which a reverse proxy serves it. The page's origin must be
 * coop's own, or be named with `--allow-origin`. The token goes into a header, never into the address.
 */
export function createCoopClient(baseUrl: string, token?: string): CoopClient {
  return createClient(Coop, createTransport(baseUrl, token));
}

/**
 * Connects to the boxes that `coop serve` has at `http://HOST:PORT`, likewise. The session in one of them is a client of its own:
 * `createCoopClient("http://HOST:PORT/box/NAME", token)`.
 */
export function createBoxesClient(baseUrl: string, token?: string): BoxesClient {
  return createClient(Boxes, createTransport(baseUrl, token));
}

function createTransport(baseUrl: string, token?: string): Transport {
  const authorize: Interceptor = (next) => (request) => {
    if (token !== undefined) request.header.set("authorization", `Bearer ${token}`);
    return next(request);
  };
  return createGrpcWebTransport({ baseUrl, interceptors: [authorize] });
}
