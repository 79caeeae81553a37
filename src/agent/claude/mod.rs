//! Claude Code, as measured with version 2.1.197.

pub mod arguments;
pub mod hear;
pub mod hooks;
pub mod log;
mod message;
pub mod nudge;
pub mod paths;
pub mod press;
pub mod relaunch;
mod resets;
pub mod respond;
pub mod resume;
pub mod screen;
pub mod setup;
pub mod status;
pub mod stream;
pub mod trouble;
pub mod version;
