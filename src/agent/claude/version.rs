//! Which Claude Code this was measured with, and how another one is told.

use std::path::Path;

use crate::agent::version::{Release, Version};

pub const RELEASE: Release =
    Release { measured: Version(2, 1, 197), package: "@anthropic-ai/claude-code", of_place: of_native, says: "" };

/// The native installer keeps each version in a file of that name: `~/.local/share/claude/versions/2.1.197`.
fn of_native(program: &Path) -> Option<Version> {
    let in_versions = program.parent()?.file_name()? == "versions";
    program.file_name()?.to_str()?.parse().ok().filter(|_| in_versions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_native_program_tells_by_its_name() {
        let of = |path: &str| of_native(Path::new(path));
        assert_eq!(of("/home/dev/.local/share/claude/versions/2.1.197"), Some(Version(2, 1, 197)));
        assert_eq!(of("/opt/claude/2.1.197"), None, "a number in another place may mean anything");
    }
}
