//! `/proc`, `/dev` and the places that every program may write.

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
    path::Path,
};

use rustix::{
    fs::{CWD, Mode, OFlags, mkdirat, openat, symlinkat},
    mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_string, fsmount, fsopen},
};

use super::{
    super::{error::Step, raw, wire::Failure},
    failure::At,
    host::outside_root,
    mounts::tmpfs,
    stash::Stash,
    tree::{Tree, attach, copy, restrict},
};

/// Devices without a state that could be harmed. `tty` is each process's own terminal.
const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom", "tty"];
const LINKS: &[(&str, &str)] = &[
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
];
/// Room for sockets and the numbers of processes.
const RUN_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Room for the names of devices.
const DEV_BYTES_MAX: u64 = 256 * 1024;

/// What root could change of the machine through `/proc`, since these files ask for a user and not for a capability.
const PROC_WRITABLE_BY_ROOT: &[&str] = &["/proc/sys", "/proc/irq", "/proc/bus", "/proc/fs"];
/// What root could read of the kernel's and of other people's there, or do to the machine.
const PROC_HIDDEN_FROM_ROOT: &[&str] = &[
    "/proc/acpi",
    "/proc/kcore",
    "/proc/keys",
    "/proc/kmsg",
    "/proc/kpagecgroup",
    "/proc/kpagecount",
    "/proc/kpageflags",
    "/proc/latency_stats",
    "/proc/mtrr",
    "/proc/scsi",
    "/proc/sysrq-trigger",
    "/proc/timer_list",
    "/proc/vmallocinfo",
];

/// The box's own `/proc`, in which there are its own processes only.
pub(super) fn proc(tree: &Tree, stash: &Stash, nested: bool) -> Result<Option<String>, Failure> {
    let place = tree.directory(Path::new("/proc")).at(Step::Proc, || "cannot make /proc".into())?;
    let mount = file_system("proc", &[]).at(Step::Proc, || "cannot mount /proc".into())?;
    attach(&mount, &place).at(Step::Proc, || "cannot mount /proc".into())?;
    if !outside_root() {
        return Ok(None);
    }
    guard_from_root(tree, stash)?;
    Ok(nested.then(|| "sandboxes inside can not mount /proc, because coop runs as root".into()))
}

fn guard_from_root(tree: &Tree, stash: &Stash) -> Result<(), Failure> {
    let each = |path: &str, guard: &dyn Fn(&OwnedFd) -> io::Result<()>| match tree.open(Path::new(path)) {
        Ok(place) => guard(&place).at(Step::Proc, || format!("cannot cover {path}")),
        Err(_) => Ok(()),
    };
    for path in PROC_WRITABLE_BY_ROOT {
        each(path, &|place| {
            let itself = copy(place, Path::new(""))?;
            restrict(&itself, true, false)?;
            attach(&itself, place)
        })?;
    }
    for path in PROC_HIDDEN_FROM_ROOT {
        each(path, &|place| stash.cover(place))?;
    }
    Ok(())
}

/// A `/dev` with what programs need. Returns the directory of terminals: the box's own, so that numbers begin at 0
/// and nobody else's are seen. It is held open because what is in `/dev` of a box is the box's business.
pub(super) fn dev(tree: &Tree, memory_bytes: Option<u64>) -> Result<OwnedFd, Failure> {
    let place = tree.directory(Path::new("/dev")).at(Step::Devices, || "cannot make /dev".into())?;
    let dev = tmpfs(0o755, Some(DEV_BYTES_MAX)).at(Step::Devices, || "cannot mount /dev".into())?;
    attach(&dev, &place).at(Step::Devices, || "cannot mount /dev".into())?;
    for name in DEVICES {
        device(&dev, name).at(Step::Devices, || format!("cannot bind /dev/{name}"))?;
    }
    for (name, target) in LINKS {
        symlinkat(*target, &dev, *name).at(Step::Devices, || format!("cannot make the link /dev/{name}"))?;
    }
    let shm = tmpfs(0o1777, memory_bytes).at(Step::Devices, || "cannot mount /dev/shm".into())?;
    directory_in(&dev, "shm").and_then(|at| attach(&shm, &at)).at(Step::Devices, || "cannot mount /dev/shm".into())?;
    let options = [("ptmxmode", "0666"), ("mode", "0620")];
    let terminals = file_system("devpts", &options).at(Step::Devices, || "cannot mount /dev/pts".into())?;
    directory_in(&dev, "pts")
        .and_then(|at| attach(&terminals, &at))
        .at(Step::Devices, || "cannot mount /dev/pts".into())?;
    raw::restrict_tree(dev.as_fd(), MountAttrFlags::MOUNT_ATTR_RDONLY | MountAttrFlags::MOUNT_ATTR_NOEXEC, false)
        .at(Step::Devices, || "cannot make /dev read-only".into())?;
    Ok(terminals)
}

/// `/tmp` and `/run`, empty and in memory: of which they take no more than the box may have, where that is said, and
/// otherwise what the kernel lets each have, half of the machine's.
pub(super) fn scratch(tree: &Tree, memory_bytes: Option<u64>) -> Result<(), Failure> {
    for (path, mode, bytes_max) in [("/tmp", 0o1777, memory_bytes), ("/run", 0o755, Some(RUN_BYTES_MAX))] {
        let put = || -> io::Result<()> { attach(&tmpfs(mode, bytes_max)?, &tree.directory(Path::new(path))?) };
        put().at(Step::Root, || format!("cannot mount {path}"))?;
    }
    Ok(())
}

fn device(dev: &OwnedFd, name: &str) -> io::Result<()> {
    let fresh = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
    openat(dev, name, fresh, Mode::from_raw_mode(0o666))?;
    let place = openat(dev, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    let source = copy(CWD, &Path::new("/dev").join(name))?;
    restrict(&source, false, true)?;
    attach(&source, &place)
}

fn directory_in(parent: &OwnedFd, name: &str) -> io::Result<OwnedFd> {
    mkdirat(parent, name, Mode::from_raw_mode(0o755))?;
    let open = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(parent, name, open, Mode::empty())?)
}

fn file_system(kind: &str, options: &[(&str, &str)]) -> io::Result<OwnedFd> {
    let context = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (name, value) in options {
        fsconfig_set_string(&context, *name, *value)?;
    }
    fsconfig_create(&context)?;
    let plain = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    Ok(fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, plain)?)
}
