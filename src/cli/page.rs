//! What `coop --help` teaches.

pub const ABOUT: &str = "Runs a terminal program and serves it over gRPC, HTTP/JSON and WebSocket";

pub const LONG_ABOUT: &str = "\
coop runs a terminal program, such as a shell or an AI coding agent, on a pseudo-terminal and serves it over gRPC, \
HTTP/JSON and WebSocket. Others read its screen and output, type into it and wait for things to happen, from any \
language or with curl.";

pub const USAGE: &str = "coop [OPTIONS] -- COMMAND [ARGS…]\n       coop --attach tmux:NAME|screen:NAME [OPTIONS]\n       coop VERB [OPTIONS]";

pub const AFTER_HELP: &str = "`coop --help` has all options and examples; `coop VERB --help` explains a verb.";

pub const EXAMPLES: &str = "\
Examples:
  Serve a shell on a port, and read its screen with curl:
    coop --port 8080 -- bash
    curl localhost:8080/api/v1/screen/text

  The same on a private socket, and type into it from another terminal:
    coop -- bash
    coop input --enter 'make test'

  Use it from another terminal; Ctrl-] detaches:
    coop attach

  Wait until something is shown, or give up after a minute with exit code 124:
    coop wait --text 'tests passed' --timeout 60 && coop screen --lines 5

  Serve to the network, behind a token:
    openssl rand -hex 32 > token && chmod 600 token
    coop --host 0.0.0.0 --port 8080 --auth-token-file token -- bash
    curl -H \"Authorization: Bearer $(cat token)\" http://HOST:8080/api/v1/status

  Run an agent where it may work, end with it, and keep its state in view:
    coop --cwd ~/project --label task=42 --exit-with-child -- claude
    coop state --watch

  Serve what already runs in tmux, and leave it running:
    coop --port 8080 --attach tmux:work
    coop --attach tmux:work:1.0 --tmux-socket /tmp/tmux-1000/other

Verbs find the session by --url or --socket, then by COOP_URL or COOP_SOCKET, then take the only one that runs.

When it starts, coop prints the URL it listens on: open it in a browser to watch, answer and type. The whole API is \
described there, at /api and /openapi.json, and gRPC reflection is on: grpcurl -plaintext HOST:PORT list

Exit codes: 0 done, 1 failed, 2 wrong usage, 124 waited in vain. With --exit-with-child: the program's own code, or \
128 and the number of the signal that ended it.";
