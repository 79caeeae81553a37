//! Layers that are never written, under one that takes the changes.

use std::{
    io,
    os::fd::{AsRawFd, OwnedFd},
    path::{Path, PathBuf},
};

use rustix::{
    mount::{
        FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_flag, fsconfig_set_string, fsmount,
        fsopen,
    },
    process::chdir,
};

use super::{
    super::{error::Step, wire::Failure},
    failure::At,
    tree::straight,
};

/// A detached overlay, topmost layer first.
pub(super) fn make(lower: &[PathBuf], upper: &Path, work: &Path, step: Step) -> Result<OwnedFd, Failure> {
    let lower: Vec<OwnedFd> = lower.iter().map(|path| straight(path, step)).collect::<Result<_, _>>()?;
    let (upper_fd, work_fd) = (straight(upper, step)?, straight(work, step)?);
    mount(&lower, &upper_fd, &work_fd).at(step, || {
        format!(
            "cannot layer {} over {} directories (the file system of the upper one must support overlays)",
            upper.display(),
            lower.len()
        )
    })
}

/// Layers are named by descriptor, and that from the directory of descriptors: names of any length and with any
/// character in them, no second look-up, and room for some eighty in the 255 bytes that the kernel takes.
fn mount(lower: &[OwnedFd], upper: &OwnedFd, work: &OwnedFd) -> io::Result<OwnedFd> {
    chdir("/proc/self/fd")?;
    let mounted = named(lower, upper, work);
    chdir("/")?;
    mounted
}

fn named(lower: &[OwnedFd], upper: &OwnedFd, work: &OwnedFd) -> io::Result<OwnedFd> {
    let name = |fd: &OwnedFd| fd.as_raw_fd().to_string();
    let lower: Vec<String> = lower.iter().map(name).collect();
    let context = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&context, "lowerdir", lower.join(":"))?;
    fsconfig_set_string(&context, "upperdir", name(upper))?;
    fsconfig_set_string(&context, "workdir", name(work))?;
    // Its marks are ordinary attributes, since privileged ones can not be set from a user namespace.
    fsconfig_set_flag(&context, "userxattr")?;
    fsconfig_create(&context)?;
    let plain = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    Ok(fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, plain)?)
}
