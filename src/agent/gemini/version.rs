//! Which Gemini CLI this was measured with, and how another one is told.

use crate::agent::version::{Release, Version};

pub const RELEASE: Release =
    Release { measured: Version(0, 61, 0), package: "@google/gemini-cli", of_place: |_| None, says: "" };
