//! The one door to files that an agent names: its log, its status, what these point to.
//!
//! An agent in a box writes those files, and the paths in its hooks, as it likes. Read from outside, a link or a path to
//! somewhere else would show it files that its box keeps from it. So a session with a box opens what lies beneath the
//! box's own directories, by the kernel's own rules, and nothing else.
//!
//! Most of these have the same path inside and outside. What is mounted over one of them (a persisted directory, a
//! volume) lies elsewhere on the machine, where it is looked for.

use std::ffi::OsString;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use nix::libc;

use super::random;

/// A process serves one session, and a session has one box or none.
static FENCE: OnceLock<Fence> = OnceLock::new();

/// What a box sees at a path, and where that lies on the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    pub inside: PathBuf,
    pub outside: PathBuf,
}

impl Shown {
    /// The same inside and outside.
    pub fn same(path: PathBuf) -> Self {
        Self { inside: path.clone(), outside: path }
    }
}

/// What can be opened.
#[derive(Debug)]
struct Fence {
    /// Only what lies beneath these, in the order in which they are mounted: a later one lies over an earlier one.
    directories: Vec<Shown>,
    /// And nothing of these: the box does not see them either.
    hidden: Vec<PathBuf>,
}

/// The directory on the machine that a path of a box lies beneath, and the rest of the path. Directories are in the order
/// in which they are mounted.
pub fn beneath<'a>(directories: &'a [Shown], path: &'a Path) -> Option<(&'a Path, &'a Path)> {
    let rest = |shown: &'a Shown| Some((shown.outside.as_path(), path.strip_prefix(&shown.inside).ok()?));
    directories.iter().rev().find_map(rest)
}

impl Fence {
    fn new(directories: Vec<Shown>, hidden: &[PathBuf]) -> Self {
        let fence = Self { directories, hidden: Vec::new() };
        let hidden: Vec<PathBuf> = hidden.iter().map(|path| fence.outside(path)).collect();
        Self { hidden: with_what_they_lead_to(&hidden), ..fence }
    }

    fn beneath<'a>(&'a self, path: &'a Path) -> Option<(&'a Path, &'a Path)> {
        beneath(&self.directories, path)
    }

    fn outside(&self, path: &Path) -> PathBuf {
        match self.beneath(path) {
            Some((directory, rest)) if rest.as_os_str().is_empty() => directory.to_owned(),
            Some((directory, rest)) => directory.join(rest),
            None => path.to_owned(),
        }
    }
}

/// From now on only what lies beneath these directories can be opened, and nothing that is hidden. Can be said once.
pub fn put_up(directories: Vec<Shown>, hidden: &[PathBuf]) {
    // A second fence would be one that somebody moved.
    let _ = FENCE.set(Fence::new(directories, hidden));
}

/// Where on the machine a path lies that an agent names. What it is may only be told, and is not to be believed; to
/// read it, [`open`] it.
pub fn outside(path: &Path) -> PathBuf {
    FENCE.get().map_or_else(|| path.to_owned(), |fence| fence.outside(path))
}

/// What is at a path that an agent names.
pub fn metadata(path: &Path) -> io::Result<Metadata> {
    outside(path).metadata()
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

/// Puts a file of coop's own where the agent looks for it, whole or not at all. In a box it lands beneath the box's own
/// directories, through no link, whatever runs inside meanwhile.
pub fn place(path: &Path, contents: &[u8]) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let mut new = name.to_owned();
    new.push(format!(".{}", random::hex::<8>()?));
    match FENCE.get() {
        Some(fence) => place_beneath(fence, path, &new, contents),
        None => place_as(path, new, contents),
    }
}

/// Among files that are the user's own. Links are theirs too.
fn place_as(path: &Path, new: OsString, contents: &[u8]) -> io::Result<()> {
    path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    let new = path.with_file_name(new);
    let written = OpenOptions::new().write(true).create_new(true).open(&new).and_then(|mut file| {
        file.write_all(contents)?;
        std::fs::rename(&new, path)
    });
    if written.is_err() {
        let _ = std::fs::remove_file(&new);
    }
    written
}

#[cfg(target_os = "linux")]
fn place_beneath(fence: &Fence, path: &Path, new: &std::ffi::OsStr, contents: &[u8]) -> io::Result<()> {
    use crate::beneath;

    /// As files of the agent's own are.
    const MODE: rustix::fs::Mode = rustix::fs::Mode::from_raw_mode(0o644);

    let (directory, rest) = fence.beneath(path).ok_or_else(|| strange(path))?;
    let (Some(parent), Some(name)) = (rest.parent(), rest.file_name()) else { return Err(strange(path)) };
    beneath::put(&beneath::directory(directory, parent)?, name, new, MODE, contents)
}

#[cfg(not(target_os = "linux"))]
fn place_beneath(_: &Fence, path: &Path, _: &std::ffi::OsStr, _: &[u8]) -> io::Result<()> {
    // There are no boxes here.
    Err(strange(path))
}

/// Reads a small text file.
pub fn read_to_string(path: &Path) -> io::Result<String> {
    io::read_to_string(open(path)?)
}

#[cfg(target_os = "linux")]
fn open_beneath(fence: &Fence, path: &Path) -> io::Result<File> {
    use std::os::fd::AsRawFd;

    use nix::fcntl::{OFlag, OpenHow, ResolveFlag, openat2};

    let (directory, rest) = fence.beneath(path).ok_or_else(|| strange(path))?;
    // A mount's own path may lead through what the box writes.
    let way = OpenHow::new()
        .flags(OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC)
        .resolve(ResolveFlag::RESOLVE_NO_SYMLINKS);
    let root = crate::beneath::settled(|| openat2(nix::fcntl::AT_FDCWD, directory, way))?;
    let how = OpenHow::new()
        .flags(OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC)
        .resolve(ResolveFlag::RESOLVE_BENEATH | ResolveFlag::RESOLVE_NO_MAGICLINKS);
    match crate::beneath::settled(|| openat2(&root, rest, how)) {
        Ok(file) => {
            // Links in the box may lead to it by any name; the kernel knows the one that it has.
            let real = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
            if fence.hidden.iter().any(|hidden| real.starts_with(hidden)) {
                return Err(strange(path));
            }
            Ok(file.into())
        }
        Err(nix::errno::Errno::EXDEV) => Err(strange(path)),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn open_beneath(_: &Fence, path: &Path) -> io::Result<File> {
    // There are no boxes here.
    Err(strange(path))
}

fn strange(path: &Path) -> io::Error {
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
        let fence = Fence::new(vec![Shown::same(home.clone())], &[]);
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
        let fence = Fence::new(vec![Shown::same(project.clone())], &hidden);
        for bad in [".env", "a.jsonl", "keys/id", "b/id", "other.env", "real.env"] {
            let error = open_beneath(&fence, &project.join(bad)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{bad}");
        }
        open_beneath(&fence, &project.join("log")).unwrap();
    }

    #[test]
    fn a_file_for_the_agent_is_never_written_through_a_link_of_its_box() {
        let scratch = Scratch::fresh();
        let (home, keys) = (scratch.path("home"), scratch.path("keys"));
        fs::create_dir_all(home.join("extensions/coop")).unwrap();
        fs::create_dir(&keys).unwrap();
        let secret = scratch.file("keys/authorized_keys", "hush");
        let fence = Fence::new(vec![Shown::same(home.clone())], &[]);
        let put = |name: &str, new: &str| place_beneath(&fence, &home.join(name), new.as_ref(), b"ours");
        symlink(&secret, home.join("extensions/coop/a.json")).unwrap();
        put("extensions/coop/a.json", "a.json.1").unwrap();
        assert_eq!(fs::read_to_string(home.join("extensions/coop/a.json")).unwrap(), "ours");
        symlink(&secret, home.join("extensions/coop/a.json.2")).unwrap();
        put("extensions/coop/a.json", "a.json.2").unwrap_err();
        symlink(&keys, home.join("extensions/hooks")).unwrap();
        put("extensions/hooks/authorized_keys", "a.json.3").unwrap_err();
        put("../keys/authorized_keys", "a.json.4").unwrap_err();
        put("new/deep/b.json", "b.json.5").unwrap();
        assert_eq!(fs::read_to_string(home.join("new/deep/b.json")).unwrap(), "ours");
        assert_eq!(fs::read_to_string(&secret).unwrap(), "hush");
        assert_eq!(fs::read_dir(&keys).unwrap().count(), 1);
    }

    #[test]
    fn what_is_mounted_over_a_directory_of_the_box_is_read_where_it_lies_on_the_machine() {
        let scratch = Scratch::fresh();
        let (home, persist, volume) = (scratch.path("home"), scratch.path("persist/.claude"), scratch.path("cache"));
        for dir in [&home.join(".claude/projects"), &persist, &volume] {
            fs::create_dir_all(dir).unwrap();
        }
        for (path, text) in [
            (home.join(".claude/status"), "covered"),
            (persist.join("status"), "seen"),
            (volume.join("log"), "{}"),
            (volume.join("key"), "hush"),
        ] {
            fs::write(path, text).unwrap();
        }
        let shown = |inside: &str, outside: &Path| Shown { inside: home.join(inside), outside: outside.to_owned() };
        let directories =
            vec![Shown::same(home.clone()), shown(".claude", &persist), shown(".claude/projects", &volume)];
        let fence = Fence::new(directories, &[home.join(".claude/projects/key")]);
        let read = |name: &str| open_beneath(&fence, &home.join(name)).and_then(io::read_to_string);
        assert_eq!(read(".claude/status").unwrap(), "seen");
        assert_eq!(read(".claude/projects/log").unwrap(), "{}");
        assert_eq!(read(".claude/projects/key").unwrap_err().kind(), io::ErrorKind::PermissionDenied, "it is hidden");
        assert_eq!(fence.outside(&home.join(".claude/projects")), volume);
        assert_eq!(fence.outside(&home.join(".bashrc")), home.join(".bashrc"));
        symlink(&home, scratch.path("persist/link")).unwrap();
        let turned = Fence::new(vec![shown(".x", &scratch.path("persist/link"))], &[]);
        open_beneath(&turned, &home.join(".x/.claude/status")).unwrap_err();
    }
}
