// A reverse proxy as others put before coop: a path of its own, WebSockets passed on, and a network that can stand still or break.
import { once } from "node:events";
import { createServer, request } from "node:http";

export class Proxy {
  #server = createServer((ask, answer) => this.#pass(ask, answer));
  #sockets = new Set();
  #answers = new Set();
  #waiting = [];
  #paused = false;
  #refusing = false;
  #opened = [];
  #flood = null;

  constructor(target, prefix) {
    this.target = new URL(target);
    this.prefix = prefix;
    this.#server.on("connection", (socket) => this.#keep(socket));
    this.#server.on("upgrade", (ask, socket) => this.#upgrade(ask, socket));
  }

  async start() {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    this.origin = `http://127.0.0.1:${this.#server.address().port}`;
    this.url = `${this.origin}${this.prefix}`;
    return this;
  }

  /** Nothing moves any more, and nobody is told. */
  pause() {
    this.#paused = true;
    for (const one of [...this.#sockets, ...this.#answers]) one.pause();
  }

  resume() {
    this.#paused = false;
    for (const one of [...this.#sockets, ...this.#answers]) one.resume();
    for (const pass of this.#waiting.splice(0)) pass();
  }

  /** Breaks every connection and takes none, until `mend`. */
  cut() {
    this.#refusing = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  mend() {
    this.#refusing = false;
  }

  /** The next WebSocket at this path brings so many bytes of output before everything else, as fast as the network can. */
  flood(path, bytes) {
    this.#flood = { path, bytes };
  }

  /** How many WebSockets were opened at this path. */
  opened(path) {
    return this.#opened.filter((one) => one.endsWith(path)).length;
  }

  close() {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #keep(socket) {
    if (this.#refusing) return socket.destroy();
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    if (this.#paused) socket.pause();
  }

  /** As most proxies do it: the path is shortened and Host is the server's; Origin stays the browser's. */
  #ask(from) {
    const path = from.url.startsWith(this.prefix) ? `/${from.url.slice(this.prefix.length)}` : "/not-behind-this-proxy";
    return { host: this.target.hostname, port: this.target.port, method: from.method, path, headers: { ...from.headers, host: this.target.host } };
  }

  #pass(from, answer) {
    // Requests are read past the socket that is paused.
    if (this.#paused) return this.#waiting.push(() => this.#pass(from, answer));
    const to = request(this.#ask(from), (got) => {
      answer.writeHead(got.statusCode, got.headers);
      got.pipe(answer);
      this.#answers.add(got);
      got.on("close", () => this.#answers.delete(got));
    });
    to.on("error", () => answer.destroy());
    // Who leaves a stream wants no more of it.
    answer.on("close", () => to.destroy());
    from.pipe(to);
  }

  #upgrade(from, socket) {
    const to = request(this.#ask(from));
    to.on("upgrade", (got, server, head) => {
      this.#keep(server);
      const lines = got.rawHeaders.flatMap((name, i) => (i % 2 ? [] : [`${name}: ${got.rawHeaders[i + 1]}`]));
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join("\r\n")}\r\n\r\n`);
      socket.write(head);
      this.#opened.push(this.#ask(from).path);
      this.#pour(socket);
      server.pipe(socket).pipe(server);
      if (this.#paused) [socket, server].forEach((one) => one.pause());
      server.on("close", () => socket.destroy());
      socket.on("close", () => server.destroy());
    });
    to.on("response", (got) => {
      socket.write(`HTTP/1.1 ${got.statusCode} ${got.statusMessage}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
      socket.end();
    });
    to.on("error", () => socket.destroy());
    to.end();
  }

  /** Before the first frame of the server's: later it could be in the middle of one. */
  #pour(socket) {
    if (!this.#flood || !this.#opened.at(-1).endsWith(this.#flood.path)) return;
    socket.write(frames(this.#flood.bytes));
    this.#flood = null;
  }
}

/** Rows of text as WebSocket frames, about a megabyte each: binary, whole, unmasked. */
function frames(bytes) {
  const row = `${"x".repeat(98)}\r\n`;
  const text = Buffer.from(row.repeat(10_000));
  const head = Buffer.from([0x82, 127, 0, 0, 0, 0, 0, 0, 0, 0]);
  head.writeBigUInt64BE(BigInt(text.length), 2);
  return Buffer.concat(Array(Math.ceil(bytes / text.length)).fill([head, text]).flat());
}
