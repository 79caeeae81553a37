//! The network of a box that is `filtered`: an allow-list, the proxy that enforces it, and ports that are published.
//!
//! ```text
//!        inside the box, which has a loopback and nothing else      │  outside: the box's sidecar
//!                                                                   │
//!  program ── HTTP_PROXY (env.rs) ──▶ 127.0.0.1:3128 ═══ listener ══╪══▶ proxy.rs ── http.rs, socks.rs
//!                                                                   │        │ may it?   policy.rs, allow.rs
//!                                                                   │        │ dial      dial.rs ──▶ the world
//!                                                                   │        └ or refuse denial.rs ──▶ events
//!  server on 127.0.0.1:3000 ◀═══════════ dial ══════════════════════╪═══ publish.rs ◀── 127.0.0.1:8080
//! ```
//! The listener was made inside the box and handed out, so that there is no way out but through it, whether or not a
//! program knows of proxies.
//!
//! What the list means:
//! - It goes by the name that a program **asks for**. What is said inside a tunnel afterwards, a TLS server name or a
//!   `Host` header, is not looked at: a server that serves several names serves all of them to who may reach one.
//! - A name is no way to the machine itself or to its neighbours. What it resolves to is checked too, and the address
//!   that was checked is the one that is dialled. All that is not public – private, loopback, link-local, metadata
//!   services, the machine's own addresses – needs an entry that names the address: `10.0.0.0/8` for everybody who asks
//!   by address or by a listed name, `git.corp@10.0.0.0/8` for this name only. A wide block like `0.0.0.0/0` is the
//!   world, and names none of them.
//! - `host.coop` is the machine's own 127.0.0.1. It is never looked up, and needs an entry with a port.

mod address;
mod allow;
mod answer;
mod cidr;
mod denial;
mod dial;
mod env;
mod fields;
mod host;
mod http;
mod outside;
mod policy;
mod proxy;
mod publish;
mod rule;
mod socks;
mod tunnel;

pub use address::Kind;
pub use allow::{AllowList, RULES_MAX};
pub use denial::Denial;
pub use env::variables;
pub use host::{BadHost, HOST_COOP, Host};
pub use policy::{Policy, Why};
pub use proxy::{PROXY_PORT, serve};
pub use publish::{BindError, PublishRule, Published, serve_published};
pub use rule::BadRule;

#[cfg(test)]
mod tests;
