//! Claude Code, as measured with version 2.1.197.

pub mod argv;
pub mod log;
mod message;
pub mod paths;
mod resets;
pub mod resume;
pub mod status;
pub mod stream;
pub mod trouble;
