//! What the program inside is doing: sources see, the referee judges, drivers answer.
//!
//! ```text
//! sources (hooks, status, log, stream, screen) ──> evidence ──> referee (pure) ──> the session's state
//! nudge, respond ──> steps with conditions ──> the session's input
//! ```
//! One folder per agent, with the same file names: `claude`.

pub mod catchup;
pub mod claude;
mod evidence;
pub mod lines;
mod moment;
mod referee;
mod seen;
pub mod tail;
#[cfg(test)]
mod tests;
pub mod transcripts;
pub mod usage;

pub use evidence::{Claim, EpochMs, Evidence, Source};
pub use referee::{Ruling, Verdict, judge};
pub use seen::Seen;
