//! What in a `.git` git does more with than read data: it runs it, or is led elsewhere by it.

use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::libc;

use super::paths::clean;

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

/// The settings of a repository are much shorter.
const CONFIG_BYTES_MAX: u64 = 256 * 1024;

/// What leads git into a directory that it visits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entrance {
    None,
    /// The file that says where the repository is, or the live files of one that is there itself.
    Files(Vec<PathBuf>),
    /// A link, which nothing can be mounted over.
    Link(PathBuf),
}

/// What leads git into this directory.
pub fn entrance(checkout: &Path) -> Entrance {
    let git = checkout.join(".git");
    match git.symlink_metadata() {
        Ok(found) if found.is_symlink() => Entrance::Link(git),
        Ok(found) if found.is_dir() => Entrance::Files(live_paths(&git)),
        Ok(_) => Entrance::Files(vec![git]),
        Err(_) => Entrance::None,
    }
}

/// Where the submodules of a repository are checked out in the project, as their own settings say.
pub fn checkouts(git: &Path, project: &Path) -> Vec<PathBuf> {
    let mut modules = Vec::new();
    find_modules(&git.join(MODULES), DEPTH_MAX, &mut modules);
    let all = modules.iter().filter_map(|module| clean(&module.join(worktree(&module.join("config"))?)));
    all.filter(|path| path.starts_with(project) && path != project).collect()
}

/// `core.worktree` of a repository, as git itself writes it.
fn worktree(config: &Path) -> Option<String> {
    // A FIFO under that name must not hold us.
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = std::fs::OpenOptions::new().read(true).custom_flags(flags).open(config).ok()?;
    let mut text = String::new();
    file.take(CONFIG_BYTES_MAX).read_to_string(&mut text).ok()?;
    let mut is_core = false;
    text.lines().map(str::trim).find_map(|line| {
        if line.starts_with('[') {
            is_core = line.to_ascii_lowercase().starts_with("[core]");
            return None;
        }
        let (name, value) = line.split_once('=')?;
        (is_core && name.trim().eq_ignore_ascii_case("worktree")).then(|| value.trim().trim_matches('"').to_owned())
    })
}

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
