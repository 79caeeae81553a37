//! Repositories in the workspace: what their `.git` becomes in a list, and what of it a box may hand over.
//!
//! Agents commit, and their commits belong to their work, so `.git` is applied with everything else. But nobody
//! reads it in a diff, and git runs programs that it finds there: hooks, and much of `config`. So only what git
//! takes for data is handed over; all else waits for `force`.

use std::{
    ffi::OsStr,
    fmt::{self, Display},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use super::{
    change::{Change, Kind},
    quote,
};

/// How many moved branches and tags a summary names.
const NAMED_REFS_MAX: usize = 8;

/// Directories of `.git` in which everything is data.
const DATA_DIRS: [&str; 4] = ["objects", "refs", "logs", "info"];
/// Files of `.git` that are data.
const DATA_FILES: [&str; 17] = [
    "HEAD",
    "ORIG_HEAD",
    "FETCH_HEAD",
    "MERGE_HEAD",
    "MERGE_MODE",
    "MERGE_MSG",
    "MERGE_RR",
    "SQUASH_MSG",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "AUTO_MERGE",
    "COMMIT_EDITMSG",
    "TAG_EDITMSG",
    "index",
    "packed-refs",
    "shallow",
    "description",
];

/// The changes inside one repository's `.git`, in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitSummary {
    /// The `.git` directory, relative to the workspace.
    pub path: PathBuf,
    pub added: usize,
    pub modified: usize,
    pub deleted: usize,
    /// Branches, tags and HEAD that are not where they were: `HEAD`, `refs/heads/main`.
    pub refs: Vec<String>,
    /// What is only applied with `force`, because git would run it or be led elsewhere by it.
    pub withheld: Vec<PathBuf>,
}

impl Display for GitSummary {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, added, modified, deleted, refs, withheld } = self;
        let name = quote::name("", path);
        write!(out, "{name}: {added} files added, {modified} modified, {deleted} deleted")?;
        if !refs.is_empty() {
            let named: Vec<_> = refs.iter().take(NAMED_REFS_MAX).map(|name| name.escape_debug().to_string()).collect();
            write!(out, "; moved: {}", named.join(", "))?;
            if refs.len() > NAMED_REFS_MAX {
                write!(out, " and {} more", refs.len() - NAMED_REFS_MAX)?;
            }
        }
        if !withheld.is_empty() {
            write!(out, "; applied only with --force: {} (hooks, config and the like)", withheld.len())?;
        }
        Ok(())
    }
}

/// Takes the changes inside `.git` directories out of a list and sums them up.
pub(super) fn sum_up(list: &mut Vec<Change>) -> Vec<GitSummary> {
    let mut summaries: Vec<GitSummary> = Vec::new();
    list.retain(|change| {
        let Some((repository, rest)) = split(&change.path) else { return true };
        // A `.git` that is a file or link is one change and shows where it leads.
        if rest.as_os_str().is_empty() && !change.is_dir() {
            return true;
        }
        let nth = summaries.iter().position(|summary| summary.path == repository).unwrap_or_else(|| {
            let path = repository.to_owned();
            let (refs, withheld) = (Vec::new(), Vec::new());
            summaries.push(GitSummary { path, added: 0, modified: 0, deleted: 0, refs, withheld });
            summaries.len() - 1
        });
        let summary = &mut summaries[nth];
        if !change.is_dir() {
            match change.kind {
                Kind::Added => summary.added += 1,
                Kind::Deleted => summary.deleted += 1,
                Kind::Modified | Kind::TypeChanged | Kind::ModeChanged => summary.modified += 1,
            }
            if rest.starts_with("refs") || rest == Path::new("HEAD") || rest == Path::new("packed-refs") {
                summary.refs.push(rest.to_string_lossy().into_owned());
            }
        }
        if is_live(change) {
            summary.withheld.push(change.path.clone());
        }
        false
    });
    summaries
}

/// Whether git would do more with this entry than read data from it.
pub(super) fn is_live(change: &Change) -> bool {
    let mut rest = change.path.as_path();
    // A repository can be inside the `.git` of another.
    while let Some((_, after)) = split(rest) {
        if !is_data(after, change) {
            return true;
        }
        rest = after;
    }
    false
}

fn is_data(rest: &Path, change: &Change) -> bool {
    // Git writes through links, so a link in `.git` could make it overwrite any file.
    let plain = change.new.as_ref().is_none_or(|new| new.is_file() || new.is_dir());
    let mut parts = rest.components();
    let Some(first) = parts.next() else {
        // `.git` itself: as a file it leads git to another place.
        return change.is_dir();
    };
    let first = first.as_os_str();
    let alone = parts.next().is_none();
    let is_sample = || first == "hooks" && rest.extension() == Some(OsStr::new("sample"));
    let in_data_dir = || DATA_DIRS.iter().any(|dir| first == *dir);
    let is_data_file = || alone && DATA_FILES.iter().any(|file| first == *file);
    plain && (change.is_dir() && alone || in_data_dir() || is_data_file() || is_sample())
}

/// In which order an entry is written: objects before what names them, so that a repository is whole at any time.
pub(super) fn rank(path: &Path) -> u8 {
    match split(path) {
        None => 0,
        Some((_, rest)) if rest.starts_with("objects") => 1,
        Some((_, rest)) if rest == Path::new("HEAD") => 4,
        Some((_, rest)) if rest.starts_with("refs") || rest == Path::new("packed-refs") => 3,
        Some(_) => 2,
    }
}

/// The path up to its first `.git`, and the rest.
fn split(path: &Path) -> Option<(&Path, &Path)> {
    let mut length = 0;
    for part in path.components() {
        let name = part.as_os_str().as_bytes();
        length += name.len();
        if name == b".git" {
            let bytes = path.as_os_str().as_bytes();
            let rest = bytes.get(length + 1..).unwrap_or_default();
            return Some((Path::new(OsStr::from_bytes(&bytes[..length])), Path::new(OsStr::from_bytes(rest))));
        }
        length += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::change::{Entry, EntryKind};
    use super::*;

    fn change(path: &str, kind: EntryKind) -> Change {
        let entry = Entry {
            kind,
            mode: 0o644,
            size: 1,
            modified: (0, 0),
            changed: (0, 0),
            inode: 1,
            owner: (0, 0),
            whiteout: false,
        };
        Change { path: path.into(), kind: Kind::Added, old: None, new: Some(entry) }
    }

    #[test]
    fn commits_are_data_and_what_git_runs_or_follows_is_not() {
        let live = |path: &str| is_live(&change(path, EntryKind::File));
        let data = [
            ".git/HEAD",
            ".git/index",
            ".git/packed-refs",
            ".git/refs/heads/config",
            ".git/refs/heads/hooks/x",
            ".git/objects/ab/cd",
            ".git/logs/HEAD",
            ".git/hooks/pre-commit.sample",
            "vendor/lib/.git/HEAD",
            "config",
            "hooks/pre-commit",
            ".gitignore",
            ".gitmodules",
        ];
        for path in data {
            assert!(!live(path), "{path}");
        }
        let runs = [
            ".git",
            ".git/config",
            ".git/config.worktree",
            ".git/hooks/pre-commit",
            ".git/commondir",
            ".git/modules/x/config",
            ".git/rebase-merge/git-rebase-todo",
            "vendor/lib/.git/hooks/post-checkout",
            ".git/objects/.git/config",
        ];
        for path in runs {
            assert!(live(path), "{path}");
        }
        for name in crate::boxfile::GIT_LIVE {
            assert!(live(&format!(".git/{name}")), "{name} is protected in a box, and must not come by another way");
        }
        assert!(is_live(&change(".git/index", EntryKind::Symlink)), "git would write through it");
        assert!(!is_live(&change(".git", EntryKind::Directory)));
    }

    #[test]
    fn all_of_a_repository_becomes_one_line() {
        let paths = [".git", ".git/HEAD", ".git/hooks/pre-push", ".git/objects/aa", ".git/refs/heads/main", "a"];
        let kind = |path: &str| if path == ".git" { EntryKind::Directory } else { EntryKind::File };
        let mut list: Vec<Change> = paths.iter().map(|path| change(path, kind(path))).collect();
        let summaries = sum_up(&mut list);
        assert_eq!(list.len(), 1);
        let line = summaries[0].to_string();
        assert_eq!(
            line,
            ".git: 4 files added, 0 modified, 0 deleted; moved: HEAD, refs/heads/main; applied only with \
             --force: 1 (hooks, config and the like)"
        );
    }
}
