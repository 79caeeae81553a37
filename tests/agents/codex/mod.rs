//! Codex CLI: how it is started here, and what coop promises about it, one file for each kind of promise.

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
pub use options::CodexCli;

pub type Codex = session::Session<CodexCli>;
pub type House = session::House<CodexCli>;
pub type Options = session::Options<CodexCli>;

impl Codex {
    /// Turns on its mode for plans.
    pub async fn plans(&self) {
        // It forgets a mode that it is told at once.
        self.quiet().await;
        self.keys(&["shift-tab"]).await;
        self.shows("Plan mode").await;
    }
}
