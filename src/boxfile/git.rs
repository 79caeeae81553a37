//! What in a `.git` git does more with than read data: it runs it, or is led elsewhere by it.

use std::path::{Path, PathBuf};

/// By name, in the directory of a repository and of each of its submodules. What else is there, agents write to commit;
/// when changes are reviewed, [`crate::review`] goes by the same.
pub const GIT_LIVE: [&str; 5] = ["hooks", "config", "config.worktree", "commondir", "worktrees"];

/// What every repository has or may be given without a change of its meaning; protected even if it comes later.
const ALWAYS: [&str; 2] = ["hooks", "config"];

/// Where repositories of submodules are, under names that may have several steps.
const MODULES: &str = "modules";

/// No project has so many; without a bound a stranger's could hold us.
const MODULES_MAX: usize = 64;
const DEPTH_MAX: usize = 6;

/// The live files of the repository in this directory, and of its submodules.
pub fn live_paths(git: &Path) -> Vec<PathBuf> {
    let mut repositories = vec![git.to_owned()];
    find_modules(&git.join(MODULES), DEPTH_MAX, &mut repositories);
    let of_each = |repository: &PathBuf| GIT_LIVE.map(|name| (name, repository.join(name)));
    let all = repositories.iter().flat_map(of_each);
    all.filter(|(name, path)| ALWAYS.contains(name) || path.symlink_metadata().is_ok()).map(|(_, path)| path).collect()
}

fn find_modules(dir: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    let directories = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    for path in directories.take(MODULES_MAX).map(|entry| entry.path()) {
        if depth == 0 || found.len() > MODULES_MAX {
            return;
        }
        let is_repository = path.join("HEAD").symlink_metadata().is_ok();
        let inner = if is_repository { path.join(MODULES) } else { path.clone() };
        if is_repository {
            found.push(path);
        }
        find_modules(&inner, depth - 1, found);
    }
}
