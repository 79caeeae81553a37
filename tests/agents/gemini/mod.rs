//! Gemini CLI: how it is started here, and what coop promises about it, one file for each kind of promise.
//!
//! It takes seconds to start, so that one session keeps several promises where they do not disturb each other.

mod boxed;
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
mod refusals;
mod resume;
mod rounds;
mod scenes;
mod setup;
mod transcripts;
mod transitions;

use crate::session;
pub use crate::session::{SMALL, WIDE};
pub use options::GeminiCli;

pub type Gemini = session::Session<GeminiCli>;
pub type House = session::House<GeminiCli>;
pub type Options = session::Options<GeminiCli>;
