//! Thin faces of coop.v1: one application, served on every listener alike.
//!
//! ```text
//! listen ─> connections ─> guard (host, origin, token) ─┬─ gRPC, gRPC-Web, reflection, health
//!                                                       ├─ gateway (generated HTTP/JSON routes)
//!                                                       ├─ websocket (/ws, /api/v1/attach)
//!                                                       ├─ page (/api, /openapi.json)
//!                                                       └─ web (/, /web/…)
//! ```

mod app;
mod body;
mod connections;
mod error;
mod gateway;
mod guard;
mod health;
mod listen;
mod marks;
mod page;
mod params;
mod streams;
mod web;
mod websocket;

pub use app::{App, application, health_application};
pub use connections::{Connections, serve};
pub use guard::Policy;
pub use health::follow_life;
pub use listen::{BindError, Listener, bind_tcp, bind_unix};
