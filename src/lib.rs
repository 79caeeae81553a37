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
//! review     what a box did to its workspace: tell it, apply it, discard it
//! sandbox    a rootless Linux sandbox; egress: what it reaches; images: what it is made of; review: what it changed
//! boxfile    coop.toml; boxes: many sessions, each in a sandbox, and the daemon that keeps them
//! api        coop.v1 without a transport: what each call does, who may make it, one error table
//! serve      thin faces: gRPC, gRPC-Web, HTTP/JSON, WebSocket, on TCP and Unix sockets
//! ```
//! Many sessions, each in a box, are those processes many times over, with a daemon beside them:
//!
//! ```text
//! boxfile    coop.toml: what a box is to be
//! boxes      where boxes are kept, how they stand, their lives, the daemon
//! ```
//! `beneath` opens paths that stay inside a directory; `config` is what the operator chose, `client` and `cli` stand outside and speak coop.v1 like anybody else.
//! `proto` and `json` are the contract as generated code.

pub mod agent;
pub mod api;
#[cfg(target_os = "linux")]
mod beneath;
pub mod borrowed;
pub mod boxes;
pub mod boxfile;
pub mod child;
pub mod cli;
pub mod client;
pub mod config;
pub mod egress;
#[cfg(target_os = "linux")]
pub mod images;
pub mod json;
pub mod log;
pub mod proto;
#[cfg(target_os = "linux")]
pub mod review;
pub mod sandbox;
pub mod serve;
pub mod session;
pub mod terminal;
