//! What the specification puts into the root.

use std::{io, os::fd::OwnedFd, path::Path};

use rustix::{
    fs::{AtFlags, CWD, FileType, StatVfsMountFlags, StatxAttributes, StatxFlags, fstat, fstatvfs, statx},
    mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_string, fsmount, fsopen},
};

use super::{
    super::{error::Step, spec::Mount, wire::Failure},
    failure::At,
    overlay,
    stash::Stash,
    tree::{Tree, attach, copy, restrict, straight},
};

/// A detached file system in memory.
pub(super) fn tmpfs(mode: u32, bytes_max: Option<u64>) -> io::Result<OwnedFd> {
    let context = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&context, "mode", format!("{mode:o}"))?;
    if let Some(bytes) = bytes_max {
        // To the kernel 0 is no limit; one page is as near to nothing as it gets.
        fsconfig_set_string(&context, "size", bytes.max(1).to_string())?;
    }
    fsconfig_create(&context)?;
    let plain = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    Ok(fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, plain)?)
}

/// Puts one thing into the tree. What comes back is a warning.
pub(super) fn put(tree: &Tree, stash: &Stash, mount: &Mount) -> Result<Option<String>, Failure> {
    let to = mount.to();
    match mount {
        Mount::Bind { from, read_only, optional, .. } => bind(tree, from, to, *read_only, *optional)?,
        Mount::Straight { from, read_only, .. } => {
            let source = copy(straight(from, Step::Mount)?, Path::new(""))
                .at(Step::Mount, || format!("cannot bind {}", from.display()))?;
            show(tree, &source, from, to, *read_only)?;
        }
        Mount::Tmpfs { mode, bytes_max, .. } => {
            let made =
                tmpfs(*mode, *bytes_max).at(Step::Mount, || format!("cannot make a tmpfs for {}", to.display()))?;
            put_directory(tree, &made, to)?;
        }
        Mount::Overlay { lower, upper, work, .. } => {
            put_directory(tree, &overlay::make(lower, upper, work, Step::Mount)?, to)?;
        }
        Mount::File { content, read_only, .. } => {
            let mode = if *read_only { 0o444 } else { 0o644 };
            let made = stash
                .file(content.as_bytes(), mode)
                .and_then(|file| restrict(&file, *read_only, false).map(|()| file))
                .at(Step::Mount, || format!("cannot make the file {}", to.display()))?;
            over(tree, &made, to, Kind::File)?;
        }
        Mount::Hide { .. } => match tree.open(to) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            place => place
                .and_then(|_| pin_parents(tree, to))
                .and_then(|()| stash.cover(&tree.open(to)?))
                .at(Step::Mount, || format!("cannot hide {}", to.display()))?,
        },
        Mount::Protect { may_come, .. } => {
            return protect(tree, to).map(|warning| warning.filter(|_| !may_come));
        }
    }
    Ok(None)
}

/// Makes what is at this place of the box read-only, by mounting it over itself.
fn protect(tree: &Tree, to: &Path) -> Result<Option<String>, Failure> {
    let place = match tree.open(to) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Some(format!(
                "{} is not there, and can be made inside: only then is it protected",
                to.display()
            )));
        }
        place => place.at(Step::Mount, || format!("cannot protect {}", to.display()))?,
    };
    let own = || -> io::Result<()> {
        pin_parents(tree, to)?;
        let place = tree.open(to)?;
        let itself = copy(&place, Path::new(""))?;
        restrict(&itself, true, false)?;
        attach(&itself, &place)
    };
    drop(place);
    own().at(Step::Mount, || format!("cannot protect {}", to.display()))?;
    Ok(None)
}

/// Makes mounts of the writable directories above a place, because a mount can not be renamed. Otherwise `.git` with its
/// protected `hooks` could be moved aside, and another put there; and what is hidden would be found at its new place by
/// the next start.
fn pin_parents(tree: &Tree, to: &Path) -> io::Result<()> {
    let mut above: Vec<&Path> = to.ancestors().skip(1).filter(|path| *path != Path::new("/")).collect();
    above.reverse();
    for path in above {
        let place = tree.open(path)?;
        let is_mount = statx(&place, "", AtFlags::EMPTY_PATH, StatxFlags::empty())?;
        let is_mount = is_mount.stx_attributes.contains(StatxAttributes::MOUNT_ROOT);
        if !is_mount && !fstatvfs(&place)?.f_flag.contains(StatVfsMountFlags::RDONLY) {
            attach(&copy(&place, Path::new(""))?, &place)?;
        }
    }
    Ok(())
}

/// Shows a part of the machine.
pub(super) fn bind(tree: &Tree, from: &Path, to: &Path, read_only: bool, optional: bool) -> Result<(), Failure> {
    let source = match copy(CWD, from) {
        Err(error) if optional && error.kind() == io::ErrorKind::NotFound => return Ok(()),
        source => source.at(Step::Mount, || format!("cannot bind {}", from.display()))?,
    };
    show(tree, &source, from, to, read_only)
}

fn show(tree: &Tree, source: &OwnedFd, from: &Path, to: &Path, read_only: bool) -> Result<(), Failure> {
    let kind = kind(source).at(Step::Mount, || format!("cannot look at {}", from.display()))?;
    restrict(source, read_only, kind == Kind::Device)
        .at(Step::Mount, || format!("cannot restrict the mount of {}", from.display()))?;
    over(tree, source, to, kind)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Directory,
    File,
    Device,
}

fn kind(of: &OwnedFd) -> io::Result<Kind> {
    Ok(match FileType::from_raw_mode(fstat(of)?.st_mode) {
        FileType::Directory => Kind::Directory,
        FileType::CharacterDevice | FileType::BlockDevice => Kind::Device,
        _ => Kind::File,
    })
}

pub(super) fn is_directory(place: &OwnedFd) -> io::Result<bool> {
    Ok(kind(place)? == Kind::Directory)
}

/// Puts a mount of a directory at its place.
pub(super) fn put_directory(tree: &Tree, mount: &OwnedFd, to: &Path) -> Result<(), Failure> {
    over(tree, mount, to, Kind::Directory)
}

/// Puts a mount at its place, which is made if it is missing and must be of the same kind if it is not.
fn over(tree: &Tree, mount: &OwnedFd, to: &Path, kind: Kind) -> Result<(), Failure> {
    let place = if kind == Kind::Directory { tree.directory(to) } else { tree.file(to) };
    let place = match place {
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            let detail = format!("cannot mount a directory at {}, where a file is in the way", to.display());
            return Err(Failure { step: Step::Mount, detail, errno: None });
        }
        place => place.at(Step::Mount, || format!("cannot make a place for {}", to.display()))?,
    };
    let directory = is_directory(&place).at(Step::Mount, || format!("cannot look at {}", to.display()))?;
    if directory && kind != Kind::Directory {
        let detail = format!("cannot mount a file at {}, which is a directory", to.display());
        return Err(Failure { step: Step::Mount, detail, errno: None });
    }
    attach(mount, &place).at(Step::Mount, || format!("cannot mount at {}", to.display()))
}
