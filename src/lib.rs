//! coop runs a terminal program on a pseudo-terminal and serves it truthfully.
//!
//! Data flows downward; a module may use those above it, never those below:
//!
//! ```text
//! child      a process on a pseudo-terminal: spawn, read and write halves, signals, every way out
//! borrowed   the same for a terminal that somebody else started: a pane of tmux, a window of GNU screen
//! terminal   bytes become a picture; pure
//! session    the one owner of both; commands in, events out
//! agent      what the program inside is doing: evidence, referee, one folder per agent
//! api        coop.v1 without a transport: what each call does, who may make it, one error table
//! serve      thin faces: gRPC, gRPC-Web, HTTP/JSON, WebSocket, on TCP and Unix sockets
//! ```
//! `config` is what the operator chose, `client` and `cli` stand outside and speak coop.v1 like anybody else.
//! `proto` and `json` are the contract as generated code.

pub mod agent;
pub mod api;
pub mod borrowed;
pub mod child;
pub mod cli;
pub mod client;
pub mod config;
pub mod json;
pub mod log;
pub mod proto;
pub mod serve;
pub mod session;
pub mod terminal;
