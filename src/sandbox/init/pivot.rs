//! Leaves the machine's file system for the box's.

use std::os::fd::OwnedFd;

use rustix::{
    fs::{CWD, Mode, OFlags, openat},
    io::Errno,
    mount::{UnmountFlags, unmount},
    process::{chdir, fchdir, pivot_root},
};

use super::{
    super::{error::Step, wire::Failure},
    failure::At,
    tree::Tree,
};

/// The old root, what we put over it, and the refusal; with room for what a machine may have put there itself.
const OLD_MOUNTS_MAX: u32 = 16;

/// Makes the tree our root and lets go of all else.
pub(super) fn into(tree: Tree) -> Result<(), Failure> {
    exchange(&tree).at(Step::Root, || "cannot change to the new root".into())
}

fn exchange(tree: &Tree) -> rustix::io::Result<()> {
    let old: OwnedFd = openat(CWD, "/", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    fchdir(tree.fd())?;
    // The old root ends up on top of the new one, where it needs no directory, and is taken off again.
    pivot_root(".", ".")?;
    fchdir(&old)?;
    // What lies over the old root comes off first. It is off itself when the kernel finds nothing mounted any more.
    for _ in 0..OLD_MOUNTS_MAX {
        match unmount(".", UnmountFlags::DETACH) {
            Err(Errno::INVAL) => return chdir("/"),
            other => other?,
        }
    }
    Err(Errno::BUSY)
}
