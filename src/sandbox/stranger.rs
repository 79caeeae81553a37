//! The machine's configuration as a stranger sees it: everything in it belongs to somebody else.
//!
//! Root's boxes have root's user, to whom the machine's files belong, and could read what is closed to all others. So they
//! are shown the configuration, and `/opt`, by a mount in which no file has an owner or a group that a box has. The kernel itself then
//! lets them read what everybody may read, of files too that are made or replaced while a box lives.
//!
//! The owners come from a namespace of users that maps none of them. The helper has nothing left to do once PID 1 is
//! there, and is the one process of ours that may enter such a namespace: that is its last act. The mount is made by the
//! starter, who still has the machine's root. Where the kernel or a file system can not do it, PID 1 gets none.

use std::{
    fs::{self, File},
    io,
    os::fd::{AsFd, OwnedFd},
};

use nix::{
    sched::{CloneFlags, unshare},
    unistd::Uid,
};
use rustix::{
    fs::CWD,
    mount::{MountAttrFlags, OpenTreeFlags, open_tree},
};

use super::{
    raw,
    spec::{Root, Spec},
};

/// Where the machine is configured.
pub(super) const CONFIGURATION: &str = "/etc";

/// Where programs lie that came from elsewhere, with configuration and keys of their own.
pub(super) const ADDED: &str = "/opt";

/// A user and a group that no file has; a namespace must map one. The two numbers above it are known as "nobody" and as
/// "unchanged".
const OF_NO_FILE: u32 = u32::MAX - 2;

/// Whether a box could read more than it should.
pub(super) fn needed(spec: &Spec) -> bool {
    Uid::effective().is_root() && matches!(spec.root, Root::Host)
}

/// Enters a namespace in which no file has an owner. For a process with one thread, without a way back.
pub(super) fn become_one() -> io::Result<OwnedFd> {
    unshare(CloneFlags::CLONE_NEWUSER)?;
    let only = format!("{OF_NO_FILE} 0 1\n");
    fs::write("/proc/self/uid_map", &only)?;
    // The kernel's condition for mapping a group from inside.
    fs::write("/proc/self/setgroups", "deny\n")?;
    fs::write("/proc/self/gid_map", &only)?;
    Ok(File::open("/proc/self/ns/user")?.into())
}

/// Each directory that can be had with these owners, read-only and detached.
pub(super) fn shown(owners: &OwnedFd) -> Vec<(&'static str, OwnedFd)> {
    [CONFIGURATION, ADDED].into_iter().filter_map(|path| Some((path, disowned(path, owners).ok()?))).collect()
}

fn disowned(path: &str, owners: &OwnedFd) -> io::Result<OwnedFd> {
    let whole = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
    let mount = open_tree(CWD, path, whole)?;
    let plain =
        MountAttrFlags::MOUNT_ATTR_RDONLY | MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    raw::disown_tree(mount.as_fd(), plain, owners.as_fd())?;
    Ok(mount)
}
