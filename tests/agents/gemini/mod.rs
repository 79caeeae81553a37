//! Gemini CLI: how it is started here, and what coop promises about it, one file for each kind of promise.

mod harness;
mod house;
mod options;

use crate::session;
pub use crate::session::{SMALL, WIDE};
pub use options::GeminiCli;

pub type Gemini = session::Session<GeminiCli>;
pub type House = session::House<GeminiCli>;
pub type Options = session::Options<GeminiCli>;
