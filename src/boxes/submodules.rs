//! The submodules that git visits by itself when it looks at a project: what leads it into each stays as it is.

use std::collections::VecDeque;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

use nix::libc;

use crate::boxfile::{self, BoxPlan, Entrance, WorkspaceMode, entrance};
use crate::review;

/// No project has so many; without a bound a stranger's could hold us, and each takes mounts.
const SUBMODULES_MAX: usize = 64;

/// A `.git` file has one short line.
const POINTER_BYTES_MAX: u64 = 8 * 1024;

/// Protects the way into every submodule that an index of the project names, and that theirs name, where git is protected.
pub fn guard(plan: &mut BoxPlan) {
    let workspace = plan.workspace.path.clone();
    let git = workspace.join(".git");
    let is_guarded = plan.workspace.protect.iter().any(|path| path.starts_with(&git));
    if !is_guarded || plan.workspace.mode != WorkspaceMode::ReadWrite {
        return;
    }
    let (checkouts, all) = checkouts(&workspace);
    let way_out = "workspace.mode = \"overlay\" makes changes wait";
    if !all {
        plan.warnings.push(format!("only {SUBMODULES_MAX} of the submodules are protected: {way_out}"));
    }
    for checkout in checkouts {
        match entrance(&checkout) {
            Entrance::None => {}
            Entrance::Link(link) => {
                let link = boxfile::shown(&link.to_string_lossy());
                plan.warnings.push(format!("{link} is a link, which can be replaced from inside: {way_out}"));
            }
            Entrance::Files(paths) => {
                for path in paths {
                    if !plan.workspace.protect.contains(&path) {
                        plan.workspace.protect.push(path);
                    }
                }
            }
        }
    }
}

/// Where submodules are checked out, and whether these are all.
fn checkouts(workspace: &Path) -> (Vec<PathBuf>, bool) {
    let mut found: Vec<PathBuf> = Vec::new();
    let mut left = VecDeque::from([workspace.to_owned()]);
    while let Some(checkout) = left.pop_front() {
        let Some(git) = git_dir(&checkout) else { continue };
        let links = review::gitlinks(&git).into_iter().filter(|name| is_plain(name));
        for inner in links.map(|name| checkout.join(name)).filter(|inner| inner.join(".git").symlink_metadata().is_ok())
        {
            if found.len() == SUBMODULES_MAX {
                return (found, false);
            }
            if !found.contains(&inner) {
                found.push(inner.clone());
                left.push_back(inner);
            }
        }
    }
    (found, true)
}

/// The repository of a checkout: its `.git`, or the directory that this file names.
fn git_dir(checkout: &Path) -> Option<PathBuf> {
    let git = checkout.join(".git");
    if git.symlink_metadata().ok()?.is_dir() {
        return Some(git);
    }
    // A FIFO under that name must not hold us.
    let file =
        std::fs::OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(&git).ok()?;
    let mut text = String::new();
    file.take(POINTER_BYTES_MAX).read_to_string(&mut text).ok()?;
    Some(checkout.join(text.strip_prefix("gitdir:")?.trim()))
}

/// What an index names is below the project, also one that a stranger wrote.
fn is_plain(name: &Path) -> bool {
    name.components().all(|part| matches!(part, Component::Normal(_))) && name.components().next().is_some()
}
