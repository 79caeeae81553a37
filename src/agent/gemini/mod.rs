//! Gemini CLI.

pub mod screen;
