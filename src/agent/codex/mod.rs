//! What differs in Codex CLI.
#![allow(dead_code, reason = "nobody drives Codex yet")]

pub mod screen;
