//! Removes directories with all that is in them, also where the directories forbid it, and measures them.

use std::ffi::{CStr, CString, OsStr};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

use nix::NixPath;
use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, openat, renameat};
use nix::sys::stat::{FchmodatFlags, Mode, SFlag, fchmodat, fstat, fstatat};
use nix::unistd::{UnlinkatFlags, unlinkat};

use super::others;

/// How many directories are open at once. A tree may be far deeper, since whoever is in a box can make it so; what
/// lies deeper is moved up before it is removed.
const DEPTH_MAX: usize = 64;

/// What a directory must allow so that it can be emptied.
const FULL: u32 = 0o700;

/// Removes a path with all below it, whoever of a box's users made it. Nothing there is fine.
pub fn remove(path: &Path) -> io::Result<()> {
    match remove_own(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            others::remove(path).map_err(|why| io::Error::new(error.kind(), format!("{error}: {why}")))
        }
        done => done,
    }
}

/// Removes a path with all below it, as far as its owner may.
pub(super) fn remove_own(path: &Path) -> io::Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "this is not to be removed"));
    };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    match nix::fcntl::open(parent, flags, Mode::empty()) {
        Err(Errno::ENOENT) => Ok(()),
        Err(errno) => Err(errno.into()),
        Ok(parent) => Ok(remove_at(&parent, name)?),
    }
}

/// Removes what has this name in a directory, following no link.
pub(super) fn remove_at(parent: &OwnedFd, name: &OsStr) -> nix::Result<()> {
    let name = name.with_nix_path(CStr::to_owned)?;
    if remove_simple(parent.as_fd(), &name)? {
        return Ok(());
    }
    let top = open_for_removal(parent.as_fd(), &name)?;
    let mut moved = 0;
    empty(top.as_fd(), top.as_fd(), 0, &mut moved)?;
    // What was too deep is now right below the top, and may again be too deep.
    let mut before = 0;
    while moved > before {
        before = moved;
        empty(top.as_fd(), top.as_fd(), 0, &mut moved)?;
    }
    drop(top);
    unlinkat(parent, name.as_c_str(), UnlinkatFlags::RemoveDir)
}

/// True when it is gone; false when it is a directory with something in it.
fn remove_simple(parent: BorrowedFd<'_>, name: &CStr) -> nix::Result<bool> {
    match unlinkat(parent, name, UnlinkatFlags::NoRemoveDir) {
        Ok(()) | Err(Errno::ENOENT) => return Ok(true),
        Err(Errno::EISDIR | Errno::EPERM) => {}
        Err(errno) => return Err(errno),
    }
    match unlinkat(parent, name, UnlinkatFlags::RemoveDir) {
        Ok(()) | Err(Errno::ENOENT) => Ok(true),
        Err(Errno::ENOTEMPTY | Errno::EEXIST) => Ok(false),
        // No directory, so the first call's refusal was meant.
        Err(Errno::ENOTDIR) => Err(Errno::EPERM),
        Err(errno) => Err(errno),
    }
}

fn empty(top: BorrowedFd<'_>, directory: BorrowedFd<'_>, depth: usize, moved: &mut u64) -> nix::Result<()> {
    for name in names_in(directory)? {
        if remove_simple(directory, &name)? {
            continue;
        }
        let child = open_for_removal(directory, &name)?;
        if depth < DEPTH_MAX {
            empty(top, child.as_fd(), depth + 1, moved)?;
            // Its last directories may have been moved to the top, but it is empty itself.
            unlinkat(directory, name.as_c_str(), UnlinkatFlags::RemoveDir)?;
        } else {
            move_up(top, directory, &name, moved)?;
        }
    }
    Ok(())
}

/// Moves a directory to the top under a name that nothing has there.
fn move_up(top: BorrowedFd<'_>, directory: BorrowedFd<'_>, name: &CStr, moved: &mut u64) -> nix::Result<()> {
    loop {
        *moved += 1;
        let fresh = CString::new(format!(".coop-removing-{moved}")).map_err(|_| Errno::EINVAL)?;
        match fstatat(top, fresh.as_c_str(), AtFlags::AT_SYMLINK_NOFOLLOW) {
            Err(Errno::ENOENT) => return renameat(directory, name, top, fresh.as_c_str()),
            Ok(_) => {}
            Err(errno) => return Err(errno),
        }
    }
}

/// Opens a directory, allowing ourselves to empty it first.
fn open_for_removal(parent: BorrowedFd<'_>, name: &CStr) -> nix::Result<OwnedFd> {
    let only = OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let allow = |fd: &OwnedFd| {
        // The path of a descriptor cannot come to mean something else, unlike a name.
        let path = format!("/proc/self/fd/{}", fd.as_raw_fd());
        fchmodat(parent, path.as_str(), Mode::from_bits_truncate(FULL), FchmodatFlags::FollowSymlink)
    };
    let handle = openat(parent, name, OFlag::O_PATH | only, Mode::empty())?;
    if fstat(&handle)?.st_mode & FULL != FULL {
        allow(&handle)?;
    }
    openat(parent, name, OFlag::O_RDONLY | only, Mode::empty())
}

/// All names at once, because a directory that changes while it is read may skip some.
pub(super) fn names_in(directory: BorrowedFd<'_>) -> nix::Result<Vec<CString>> {
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let mut names = Vec::new();
    for entry in &mut Dir::openat(directory, ".", flags, Mode::empty())?.iter() {
        let entry = entry?;
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            names.push(entry.file_name().to_owned());
        }
    }
    Ok(names)
}

/// The bytes that a path takes on the disk. What cannot be looked at counts as nothing.
pub fn size(path: &Path) -> u64 {
    let mut bytes = 0;
    let mut todo = vec![path.to_owned()];
    let mut seen = std::collections::HashSet::new();
    while let Some(path) = todo.pop() {
        use std::os::unix::fs::MetadataExt;
        let Ok(found) = path.symlink_metadata() else { continue };
        // Hard links share what they take.
        if found.nlink() > 1 && !found.is_dir() && !seen.insert((found.dev(), found.ino())) {
            continue;
        }
        bytes += found.blocks() * 512;
        if SFlag::from_bits_truncate(found.mode()) & SFlag::S_IFMT == SFlag::S_IFDIR {
            todo.extend(std::fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::super::scratch::Scratch;
    use super::*;

    #[test]
    fn directories_that_forbid_it_are_removed_too() {
        let scratch = Scratch::fresh();
        let tree = scratch.path("tree");
        fs::create_dir_all(tree.join("a/b/c")).unwrap();
        fs::write(tree.join("a/b/file"), "x").unwrap();
        for (path, mode) in [("a/b/c", 0), ("a/b", 0o500), ("a", 0o000)] {
            fs::set_permissions(tree.join(path), fs::Permissions::from_mode(mode)).unwrap();
        }
        remove(&tree).unwrap();
        assert!(!tree.exists());
        remove(&tree).unwrap();
    }

    #[test]
    fn what_links_point_to_stays() {
        let scratch = Scratch::fresh();
        let kept = scratch.file("kept", "x");
        fs::create_dir(scratch.path("dir")).unwrap();
        fs::create_dir(scratch.path("tree")).unwrap();
        symlink(&kept, scratch.path("tree/file")).unwrap();
        symlink(scratch.path("dir"), scratch.path("tree/dir")).unwrap();
        remove(&scratch.path("tree")).unwrap();
        assert!(kept.exists() && scratch.path("dir").exists());
    }

    #[test]
    fn a_tree_deeper_than_any_path_is_removed_with_few_open_files() {
        let scratch = Scratch::fresh();
        fs::create_dir(scratch.path("tree")).unwrap();
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY;
        let mut at = nix::fcntl::open(&scratch.path("tree"), flags, Mode::empty()).unwrap();
        for _ in 0..3000 {
            nix::sys::stat::mkdirat(&at, "deep", Mode::from_bits_truncate(0o700)).unwrap();
            at = openat(&at, "deep", flags, Mode::empty()).unwrap();
        }
        remove(&scratch.path("tree")).unwrap();
        assert!(!scratch.path("tree").exists());
    }

    #[test]
    fn hard_links_are_measured_once() {
        let scratch = Scratch::fresh();
        fs::create_dir(scratch.path("tree")).unwrap();
        fs::write(scratch.path("tree/a"), vec![1; 100_000]).unwrap();
        let one = size(&scratch.path("tree"));
        fs::hard_link(scratch.path("tree/a"), scratch.path("tree/b")).unwrap();
        assert!(one >= 100_000 && size(&scratch.path("tree")) == one);
    }
}
