//! The one door to files that an agent names: its log, its status, what these point to.
//!
//! An agent in a box writes those files, and the paths in its hooks, as it likes. Read from outside, a link or a path to
//! somewhere else would show it files that its box keeps from it. So a session with a box opens what lies beneath the
//! box's own directories, by the kernel's own rules, and nothing else.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use nix::libc;

/// A process serves one session, and a session has one box or none.
static FENCE: OnceLock<Fence> = OnceLock::new();

/// What can be opened.
#[derive(Debug)]
struct Fence {
    /// Only what lies beneath these.
    directories: Vec<PathBuf>,
    /// And nothing of these: the box does not see them either.
    hidden: Vec<PathBuf>,
}

/// From now on only what lies beneath these directories can be opened, and nothing that is hidden. Can be said once.
pub fn put_up(directories: Vec<PathBuf>, hidden: &[PathBuf]) {
    // A second fence would be one that somebody moved.
    let _ = FENCE.set(Fence { directories, hidden: with_what_they_lead_to(hidden) });
}

/// What is hidden by the name of a link is what the link leads to.
fn with_what_they_lead_to(hidden: &[PathBuf]) -> Vec<PathBuf> {
    hidden.iter().cloned().chain(hidden.iter().filter_map(|path| path.canonicalize().ok())).collect()
}

/// Whether a box is fenced in.
pub fn is_up() -> bool {
    FENCE.get().is_some()
}

/// Opens a file for reading; never waits for somebody who would write to it.
pub fn open(path: &Path) -> io::Result<File> {
    match FENCE.get() {
        Some(fence) => open_beneath(fence, path),
        // Without O_NONBLOCK a FIFO under that name would hold the caller until somebody writes to it.
        None => OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path),
    }
}

/// Whether a file of coop's own may be written there: not through a link that a box has put in the way. Asked while
/// nothing runs in the box.
pub fn is_straight(path: &Path) -> bool {
    let Some(fence) = FENCE.get() else { return true };
    let Some(directory) = fence.directories.iter().find(|directory| path.starts_with(directory)) else { return false };
    let is_link = |path: &Path| path.symlink_metadata().is_ok_and(|found| found.is_symlink());
    !path.ancestors().take_while(|above| above != directory).any(is_link)
}

/// Reads a small text file.
pub fn read_to_string(path: &Path) -> io::Result<String> {
    io::read_to_string(open(path)?)
}

#[cfg(target_os = "linux")]
fn open_beneath(fence: &Fence, path: &Path) -> io::Result<File> {
    use std::os::fd::AsRawFd;

    use nix::fcntl::{OFlag, OpenHow, ResolveFlag, openat2};

    let (directory, rest) = fence
        .directories
        .iter()
        .find_map(|directory| path.strip_prefix(directory).ok().map(|rest| (directory, rest)))
        .ok_or_else(|| outside(path))?;
    let root = File::open(directory)?;
    let how = OpenHow::new()
        .flags(OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC)
        .resolve(ResolveFlag::RESOLVE_BENEATH | ResolveFlag::RESOLVE_NO_MAGICLINKS);
    match crate::beneath::settled(|| openat2(&root, rest, how)) {
        Ok(file) => {
            // Links in the box may lead to it by any name; the kernel knows the one that it has.
            let real = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
            if fence.hidden.iter().any(|hidden| real.starts_with(hidden)) {
                return Err(outside(path));
            }
            Ok(file.into())
        }
        Err(nix::errno::Errno::EXDEV) => Err(outside(path)),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn open_beneath(_: &Fence, path: &Path) -> io::Result<File> {
    // There are no boxes here.
    Err(outside(path))
}

fn outside(path: &Path) -> io::Error {
    let message = format!("{} is not in the box, and is not read for what is in it", path.display());
    io::Error::new(io::ErrorKind::PermissionDenied, message)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::config::Scratch;

    #[test]
    fn what_a_box_names_is_read_beneath_its_own_directories_only() {
        let scratch = Scratch::fresh();
        let (home, secret) = (scratch.path("home"), scratch.path("secret"));
        fs::create_dir_all(home.join("logs")).unwrap();
        fs::write(&secret, "hush").unwrap();
        fs::write(home.join("logs/a.jsonl"), "{}").unwrap();
        symlink("logs/a.jsonl", home.join("inside")).unwrap();
        symlink(&secret, home.join("absolute")).unwrap();
        symlink("../secret", home.join("relative")).unwrap();
        symlink("/proc/self/root", home.join("magic")).unwrap();
        let fence = Fence { directories: vec![home.clone()], hidden: Vec::new() };
        for fine in ["logs/a.jsonl", "inside"] {
            assert_eq!(io::read_to_string(open_beneath(&fence, &home.join(fine)).unwrap()).unwrap(), "{}");
        }
        let deep = format!("magic{}", secret.display());
        for bad in ["absolute", "relative", "../secret", deep.as_str()] {
            open_beneath(&fence, &home.join(bad)).unwrap_err();
        }
        assert_eq!(open_beneath(&fence, &secret).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        let missing = open_beneath(&fence, &home.join("none")).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound, "it may still come");
    }

    #[test]
    fn what_is_hidden_from_a_box_is_not_read_for_it_by_any_name() {
        let scratch = Scratch::fresh();
        let project = scratch.path("").canonicalize().unwrap();
        fs::create_dir(project.join("keys")).unwrap();
        for (name, text) in [(".env", "TOKEN=1"), ("real.env", "TOKEN=2"), ("keys/id", "key"), ("log", "{}")] {
            fs::write(project.join(name), text).unwrap();
        }
        symlink(".env", project.join("a.jsonl")).unwrap();
        symlink("keys", project.join("b")).unwrap();
        symlink("real.env", project.join("other.env")).unwrap();
        let hidden = [".env", "keys", "other.env"].map(|name| project.join(name));
        let fence = Fence { directories: vec![project.clone()], hidden: with_what_they_lead_to(&hidden) };
        for bad in [".env", "a.jsonl", "keys/id", "b/id", "other.env", "real.env"] {
            let error = open_beneath(&fence, &project.join(bad)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{bad}");
        }
        open_beneath(&fence, &project.join("log")).unwrap();
    }
}
