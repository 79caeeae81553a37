//! Thin faces of coop.v1: one application, served on every listener alike.
//!
//! ```text
//! listen ─> connections ─> guard (host, origin, token) ─┬─ gRPC, gRPC-Web, reflection, health
//!                                                       ├─ gateway (generated HTTP/JSON routes)
//!                                                       ├─ websocket (/ws, /api/v1/attach)
//!                                                       ├─ page (/api, /openapi.json)
//!                                                       └─ web (/, /web/…)
//! ```
//! The daemon's application (`daemon_app`) is the same for coop.v1.Boxes, and passes on what is meant for a box (`proxy`).
//! `inside` is the same for those in a box, who may do little of it. `outward` lets callers from a port in and passes them on to the daemon's socket.

mod app;
mod body;
mod connections;
mod daemon_app;
mod error;
mod gateway;
mod guard;
mod health;
mod inside;
mod listen;
mod marks;
mod outward;
mod page;
mod params;
mod proxy;
mod streams;
mod web;
mod websocket;

pub use app::{App, application, health_application};
pub use connections::{Connections, serve};
pub use daemon_app::daemon_application;
pub use guard::Policy;
pub use health::follow_life;
pub use inside::inside_application;
pub use listen::{BindError, Listener, bind_tcp, bind_unix, bind_unix_over, url_of};
pub use outward::{Daemon, outward_application};
