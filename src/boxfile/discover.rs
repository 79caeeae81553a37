//! Which coop.toml a directory belongs to.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The name of the file in a project.
pub const FILE_NAME: &str = "coop.toml";

const WRITABLE_BY_ALL: u32 = 0o002;

/// The nearest coop.toml from here upwards.
///
/// The search ends at the root of the repository (where .git is) and below the user's home: a file in the home
/// directory itself would make all of it a workspace. Outside of both only the directory itself counts. It never climbs
/// to where somebody else could have put a file, as anybody can in /tmp.
pub fn discover(start: &Path, home: &Path) -> Option<PathBuf> {
    let owner = start.metadata().ok()?.uid();
    let is_ours = |dir: &Path| dir == start || (dir != home && is_private(dir, owner));
    let climb: Vec<&Path> = start.ancestors().take_while(|dir| is_ours(dir)).collect();
    let last = match climb.iter().position(|dir| exists(&dir.join(".git"))) {
        Some(root) => root,
        None if start.starts_with(home) => climb.len() - 1,
        None => 0,
    };
    // A link into nowhere or a directory counts: it is nearer, and the reader says what is wrong with it.
    climb[..=last].iter().map(|dir| dir.join(FILE_NAME)).find(|file| exists(file))
}

/// Whether nobody but this user (and groups of theirs) can put something there.
fn is_private(dir: &Path, owner: u32) -> bool {
    dir.metadata().is_ok_and(|found| found.uid() == owner && found.mode() & WRITABLE_BY_ALL == 0)
}

fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
