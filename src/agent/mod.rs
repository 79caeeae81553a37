//! What the program inside is doing: sources see, the referee judges, drivers answer.
//!
//! ```text
//! sources (hooks, status, log, stream, screen) ──> evidence ──> referee (pure) ──> the session's state
//! nudge, respond ──> steps with conditions ──> the session's input
//! ```
//! One folder per agent, with the same file names: `claude`.

pub mod claude;
mod evidence;
pub mod gates;
pub mod hook;
pub mod hook_call;
pub mod hook_pipe;
mod hook_script;
pub mod hook_socket;
mod hook_wire;
pub mod random;
pub mod run_dir;
mod shell;

pub use evidence::{Claim, EpochMs, Evidence, Source};
