//! Claude Code: how it is started here, and what coop promises about it, one file for each kind of promise.

mod boxed;
mod by_keys;
mod degraded;
mod errors;
mod gates;
mod harness;
mod house;
mod kept;
mod noise;
mod nudges;
mod options;
mod plans;
mod printed;
mod prompts;
mod questions;
mod quotes;
mod readme;
mod refusals;
mod resume;
mod rounds;
mod scenes;
mod setup;
mod transcripts;
mod transitions;

use crate::session;
pub use crate::session::{SMALL, WIDE};
pub use options::{ClaudeCode, Credential};

pub type Claude = session::Session<ClaudeCode>;
pub type House = session::House<ClaudeCode>;
pub type Options = session::Options<ClaudeCode>;
