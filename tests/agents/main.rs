//! What coop promises about real agents: the CLI from npm, the real coop, and a model of our own on loopback.
//!
//! `tests/agents/run` installs what is needed and runs this; see README.md beside it.

mod claude;
mod codex;
mod doctor;
mod gemini;
mod model;
mod promises;
mod session;
#[path = "../it/support/mod.rs"]
#[allow(dead_code, unused_imports, reason = "shared with tests/it, which uses all of it")]
mod support;
#[path = "../terminals/tmux.rs"]
#[allow(dead_code, reason = "shared with tests/terminals, which uses all of it")]
mod tmux;
mod web_page;

use std::time::Duration;

/// How long anything may take before a test fails; an agent on a busy machine takes a tenth of it.
pub const LIMIT: Duration = Duration::from_secs(60);

/// How long a nudge or an answer may wait for its witness, so that a busy machine does not decide; below the limit of a call.
pub const WITNESS_MS: u32 = 18_000;
