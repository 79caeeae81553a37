//! Codex CLI: how it is started here, and what coop promises about it, one file for each kind of promise.

mod harness;
mod house;
mod options;

use crate::session;
pub use crate::session::{SMALL, WIDE};
pub use options::CodexCli;

pub type Codex = session::Session<CodexCli>;
pub type House = session::House<CodexCli>;
pub type Options = session::Options<CodexCli>;
