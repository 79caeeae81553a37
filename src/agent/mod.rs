//! What the program inside is doing: sources see, the referee judges, drivers answer.
//!
//! ```text
//! sources (hooks, status, log, stream, screen) ──> evidence ──> referee (pure) ──> the session's state
//! nudge, respond ──> steps with conditions ──> the session's input
//! ```
//! One folder per agent, with the same file names: `claude`.

mod asks;
mod catchup;
mod claims;
pub mod claude;
mod evidence;
pub mod menu;
pub mod rows;
pub mod rules;
mod shades;
mod sight;

pub use evidence::{Claim, EpochMs, Evidence, Source};
pub use sight::{Field, Sight};
