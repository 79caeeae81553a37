//! The project's own model service on loopback: it does what a script says, in the API that an agent speaks, and keeps all it got.
//!
//! ```text
//! Script ──> Model (server) ──> Dialect: words and tools become bytes of one API
//!               └── every request becomes a Request, which a test can hold against what it sent
//! ```
//!
//! A dialect is pure: it says what a request wants, what is in it, and which bytes a message is. Ports, gates and the order
//! of turns are the server's.

mod dialect;
mod gate;
mod generate;
mod messages;
mod request;
mod responses;
mod script;
mod server;
mod turn;
mod wire;

pub use dialect::Dialect;
pub use gate::Gate;
pub use generate::Generate;
pub use messages::Messages;
pub use request::{Kind, ToolResult};
pub use responses::Responses;
pub use script::Script;
pub use server::Model;
pub use turn::Question;
