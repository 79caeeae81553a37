//! Claude Code, as measured with version 2.1.197.

mod arguments;
pub mod hooks;
pub mod setup;
pub mod version;
