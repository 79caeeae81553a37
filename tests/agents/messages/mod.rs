//! The project's own model service on loopback: it speaks Anthropic's Messages API, does what a script says, and keeps all it got.
//!
//! ```text
//! Script ──> Model (server) ──> reply: SSE, JSON or an error
//!               └── every request becomes a Request, which a test can hold against what it sent
//! ```

mod gate;
mod reply;
mod request;
mod script;
mod server;

pub use gate::Gate;
pub use request::Kind;
pub use script::{Question, Script};
pub use server::Model;
