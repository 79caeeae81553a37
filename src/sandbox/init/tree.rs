//! The new root while it is built. What is in it may come from strangers: no path leads out of it.

use std::{
    ffi::OsString,
    io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::ffi::OsStringExt,
    },
    path::{Component, Path, PathBuf},
};

use rustix::{
    fs::{CWD, Mode, OFlags, ResolveFlags, mkdirat, openat, openat2, readlinkat, symlinkat},
    mount::{MountAttrFlags, MoveMountFlags, OpenTreeFlags, move_mount, open_tree},
};

use super::{
    super::{error::Step, raw, wire::Failure},
    failure::At,
};
use crate::beneath::settled;

/// Links one after the other that are followed to a file that is not there. Images have one, as for `resolv.conf`.
const LINKS_MAX: u32 = 8;

/// A mount that becomes `/`.
pub(super) struct Tree(OwnedFd);

impl Tree {
    /// Puts a mount over our present root. That hides nothing: paths still begin below it, until we pivot.
    pub(super) fn attached(mount: OwnedFd) -> Result<Self, Failure> {
        attach_at_root(&mount).at(Step::Root, || "cannot put up the new root".into())?;
        Ok(Self(mount))
    }

    pub(super) fn fd(&self) -> &OwnedFd {
        &self.0
    }

    /// What is at this path of the box. Links are followed as they will be inside, magic ones not at all.
    pub(super) fn open(&self, path: &Path) -> io::Result<OwnedFd> {
        self.open_with(path, OFlags::empty())
    }

    fn open_with(&self, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        let inside = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
        let flags = OFlags::PATH | OFlags::CLOEXEC | flags;
        Ok(settled(|| openat2(&self.0, path, flags, Mode::empty(), inside))?)
    }

    /// A directory of the box, made if it is not there.
    pub(super) fn directory(&self, path: &Path) -> io::Result<OwnedFd> {
        match self.open_with(path, OFlags::DIRECTORY) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => return other,
        }
        let mut done = PathBuf::from("/");
        for part in path.components() {
            let Component::Normal(name) = part else { continue };
            let parent = self.open_with(&done, OFlags::DIRECTORY)?;
            match mkdirat(&parent, name, Mode::from_raw_mode(0o755)) {
                // A link that leads nowhere is found out by the next step.
                Ok(()) | Err(rustix::io::Errno::EXIST) => done.push(name),
                Err(error) => return Err(error.into()),
            }
        }
        self.open_with(path, OFlags::DIRECTORY)
    }

    /// A file of the box, made if it is not there.
    pub(super) fn file(&self, path: &Path) -> io::Result<OwnedFd> {
        self.file_behind(path, LINKS_MAX)
    }

    fn file_behind(&self, path: &Path, links_max: u32) -> io::Result<OwnedFd> {
        match self.open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => return other,
        }
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let directory = self.directory(parent)?;
        let fresh = OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::WRONLY | OFlags::CLOEXEC;
        match openat(&directory, name, fresh, Mode::from_raw_mode(0o644)) {
            Ok(_) => self.open(path),
            // A link that leads to nothing: programs inside will follow it, and so do we.
            Err(rustix::io::Errno::EXIST) if links_max > 0 => {
                let target = readlinkat(&directory, name, Vec::new())?.into_bytes();
                self.file_behind(&normal(&parent.join(OsString::from_vec(target))), links_max - 1)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// A link of the box; one that is there already stays.
    pub(super) fn link(&self, to: &Path, at: &Path) -> io::Result<()> {
        let (Some(parent), Some(name)) = (at.parent(), at.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        match symlinkat(to, self.directory(parent)?, name) {
            Err(rustix::io::Errno::EXIST) => Ok(()),
            other => Ok(other?),
        }
    }

    /// Makes the root itself read-only, once all places to mount on are there.
    pub(super) fn close(&self) -> Result<(), Failure> {
        raw::restrict_tree(self.0.as_fd(), MountAttrFlags::MOUNT_ATTR_RDONLY, false)
            .at(Step::Root, || "cannot make the root read-only".into())
    }
}

/// What is at this path of the machine, reached without following a link: whoever could write on the way could have put
/// one there that leads anywhere.
pub(super) fn straight(path: &Path, step: Step) -> Result<OwnedFd, Failure> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let opened = settled(|| openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS));
    if opened.as_ref().is_err_and(|error| *error == rustix::io::Errno::LOOP) {
        let detail = format!("{} has a link in it, which is not followed from a box", path.display());
        return Err(Failure { step, detail, errno: None });
    }
    opened.at(step, || format!("cannot open {}", path.display()))
}

/// A path of the box without `..`, which does not lead above its root.
fn normal(path: &Path) -> PathBuf {
    let mut whole = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::Normal(name) => whole.push(name),
            Component::ParentDir => drop(whole.pop()),
            _ => {}
        }
    }
    whole
}

/// Puts a detached mount on a place.
pub(super) fn attach(mount: &OwnedFd, at: &OwnedFd) -> io::Result<()> {
    let both = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    Ok(move_mount(mount, "", at, "", both)?)
}

/// Puts a detached mount over the present root.
pub(super) fn attach_at_root(mount: &OwnedFd) -> io::Result<()> {
    Ok(move_mount(mount, "", CWD, "/", MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?)
}

/// A copy of what is mounted at a path and below, detached.
pub(super) fn copy(from: impl AsFd, path: &Path) -> io::Result<OwnedFd> {
    let whole = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
    let empty = if path.as_os_str().is_empty() { OpenTreeFlags::AT_EMPTY_PATH } else { OpenTreeFlags::empty() };
    Ok(open_tree(from, path, whole | empty)?)
}

/// Neither set-uid programs nor devices, nor changes if it is read-only: for the whole tree of mounts.
pub(super) fn restrict(mount: &OwnedFd, read_only: bool, devices: bool) -> io::Result<()> {
    let mut add = MountAttrFlags::MOUNT_ATTR_NOSUID;
    if read_only {
        add |= MountAttrFlags::MOUNT_ATTR_RDONLY;
    }
    if !devices {
        add |= MountAttrFlags::MOUNT_ATTR_NODEV;
    }
    raw::restrict_tree(mount.as_fd(), add, true)
}
