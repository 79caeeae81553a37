//! Which Codex this was measured with, and how another one is told.

use crate::agent::version::{Release, Version};

pub const RELEASE: Release = Release {
    measured: Version(0, 166, 0),
    package: "@openai/codex",
    // Other installations say nothing by their place.
    of_place: |_| None,
    says: "codex-cli ",
};
