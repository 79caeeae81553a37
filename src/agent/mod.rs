//! What the program inside is doing: sources see, the referee judges, drivers answer.
//!
//! ```text
//! sources (hooks, status, log, stream, screen) ──> evidence ──> referee (pure) ──> the session's state
//! nudge, respond ──> steps with conditions ──> the session's input
//! ```
//! One folder per agent, with the same file names: `claude`, `codex`, `gemini`; `unknown` is for all others.

mod answers;
mod asks;
mod block;
mod catchup;
mod claims;
mod claude;
mod codex;
mod complaints;
pub mod driver;
mod evidence;
mod explain;
mod facts;
pub mod fence;
mod files;
pub mod gates;
mod gemini;
mod handle;
mod heard;
pub mod hook;
pub mod hook_call;
pub mod hook_pipe;
mod hook_script;
pub mod hook_socket;
mod hook_wire;
mod input_box;
mod lines;
mod look;
mod menu;
mod mind;
mod moment;
mod nudge;
pub mod placing;
mod press;
pub mod random;
mod record;
mod referee;
mod refusal;
pub mod relaunch;
mod respond;
pub mod resume;
mod rows;
mod rules;
pub mod run_dir;
mod seen;
mod shades;
pub mod shell;
mod sight;
pub mod start;
mod steps;
mod tail;
mod talk;
#[cfg(test)]
mod tests;
mod transcripts;
mod typing;
mod unknown;
mod usage;
pub mod version;
mod view;
mod watch;
mod witness;
pub mod wrapped;

pub use evidence::{Claim, EpochMs, Evidence, Source};
pub use explain::{Explained, Shown};
pub use handle::{Agent, Gates, Lent, Setup, watch_agent};
pub use referee::{Ruling, Verdict, judge};
pub use rules::{Patterns, Rules, RulesError};
pub use seen::Seen;
pub use sight::{Field, Sight};
pub use talk::{AGENT_BUSY, Answer, Answered, Chosen, Failure, NO_INPUT_BOX, NO_PROMPT, Nudge, Nudged, WRITER_BUSY};
pub use transcripts::{Missing, Transcripts};
pub use unknown::watch_patterns;
