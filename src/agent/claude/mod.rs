//! Claude Code, as measured with version 2.1.197.

pub mod screen;
