//! Claude Code: how it is started here, and what coop promises about it, one file for each kind of promise.

mod degraded;
mod doctor;
mod errors;
mod gates;
mod harness;
mod house;
mod noise;
mod nudges;
mod options;
mod plans;
mod prompts;
mod questions;
mod quotes;
mod record;
mod refusals;
mod resume;
mod rounds;
mod scenes;
mod session;
mod setup;
mod transcripts;
mod transitions;

pub use house::House;
pub use options::{Credential, Options};
pub use session::Claude;

/// The size that most people's screens have room for, and the smallest that dialogs are read at.
pub const WIDE: (u16, u16) = (200, 50);
pub const SMALL: (u16, u16) = (80, 24);
