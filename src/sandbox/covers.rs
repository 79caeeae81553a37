//! What is mounted over files of the machine, and whether it is still there.
//!
//! A mount lies over one file, not over its name: the kernel takes it off when somebody outside puts another file in that
//! place, as git, editors and `sed -i` do when they save. There is no mount that survives this. So `warden.rs` looks
//! again whenever names change outside, and has covered again what lies bare (`init/again.rs`).

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{
        AtFlags, FsWord, Mode, OFlags, ResolveFlags, StatVfsMountFlags, Statx, StatxAttributes, StatxFlags, fstatfs,
        fstatvfs, openat2, statx,
    },
    io::Errno,
};
use serde::{Deserialize, Serialize};

use super::{
    init::SYSTEM,
    spec::{Mount, Root, Spec},
};
use crate::beneath::settled;

/// How a file system in memory is called by the kernel; nothing else is put over what is hidden.
const TMPFS: FsWord = 0x0102_1994;

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Cover {
    /// Where, in the mount that it lies in.
    pub(super) below: PathBuf,
    pub(super) kind: Kind,
}

/// What it is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Kind {
    Hidden,
    Protected,
}

/// A mount of a box with what is covered in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ground {
    /// Where it is inside.
    pub(super) to: PathBuf,
    /// Where names change that are not seen to change inside: what is under an overlay.
    pub(super) under: Option<PathBuf>,
    pub(super) covers: Vec<Cover>,
}

/// How a place looks from inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    NotThere,
    Covered,
    Bare,
    /// Nothing can be mounted over a link, and what it leads to may be another thing in a moment.
    Link,
}

/// What can be replaced from outside, by the mount in which it lies. A box without such has nothing to watch.
pub(super) fn grounds(spec: &Spec) -> Vec<Ground> {
    let mut grounds: Vec<Ground> = Vec::new();
    for (nth, mount) in spec.mounts.iter().enumerate() {
        let kind = match mount {
            Mount::Hide { .. } => Kind::Hidden,
            Mount::Protect { .. } => Kind::Protected,
            _ => continue,
        };
        let Some((to, under)) = lies_in(&spec.mounts[..nth], mount.to(), kind, &spec.root) else { continue };
        let Ok(below) = mount.to().strip_prefix(to) else { continue };
        if below.as_os_str().is_empty() {
            continue;
        }
        let cover = Cover { below: below.to_owned(), kind };
        match grounds.iter_mut().find(|ground| ground.to == to) {
            Some(ground) => ground.covers.push(cover),
            None => grounds.push(Ground { to: to.to_owned(), under: under.map(Path::to_owned), covers: vec![cover] }),
        }
    }
    grounds
}

/// The mount that a place is in, where somebody outside can change names in it; and what is under it.
fn lies_in<'a>(earlier: &'a [Mount], to: &Path, kind: Kind, root: &Root) -> Option<(&'a Path, Option<&'a Path>)> {
    let holds =
        |mount: &&Mount| !matches!(mount, Mount::Hide { .. } | Mount::Protect { .. }) && to.starts_with(mount.to());
    let is_hidden = kind == Kind::Hidden;
    match earlier.iter().rev().find(holds) {
        // Nothing has to be kept as it is where nothing can be changed.
        Some(Mount::Bind { to, read_only, .. } | Mount::Straight { to, read_only, .. }) => {
            (is_hidden || !read_only).then_some((to, None))
        }
        // A replaced file is not seen through an overlay, but a new one may be. What is written inside waits to be looked at.
        Some(Mount::Overlay { lower, to, .. }) => {
            is_hidden.then(|| lower.first().map(|under| (to.as_path(), Some(under.as_path())))).flatten()
        }
        Some(_) => None,
        None if matches!(root, Root::Host) => {
            SYSTEM.iter().map(Path::new).find(|dir| to.starts_with(dir)).map(|dir| (dir, None))
        }
        None => None,
    }
}

/// A place below a directory, reached without following a link and without leaving it.
pub(super) fn beneath(ground: impl AsFd, below: &Path) -> Result<OwnedFd, Errno> {
    let here = if below.as_os_str().is_empty() { Path::new(".") } else { below };
    let straight = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    // Without NOFOLLOW, with which the kernel would open a link at the end as such.
    settled(|| openat2(&ground, here, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), straight))
}

/// The directories above a place, the outermost first; the ground itself is the empty path.
pub(super) fn above(below: &Path) -> Vec<&Path> {
    let mut above: Vec<&Path> = below.ancestors().skip(1).collect();
    above.reverse();
    above
}

/// Looks at a place as the box sees it; `ground` is a directory in the box's own mounts.
pub(super) fn look(ground: &OwnedFd, cover: &Cover) -> io::Result<Look> {
    let mut parent = None;
    let mut is_pinned = true;
    for path in above(&cover.below) {
        let place = match opened(ground, path)? {
            Ok(place) => place,
            Err(look) => return Ok(look),
        };
        is_pinned &= path.as_os_str().is_empty() || pinned(&place)?;
        parent = Some(state(&place)?);
    }
    let place = match opened(ground, &cover.below)? {
        Ok(place) => place,
        Err(look) => return Ok(look),
    };
    let is_covered = is_read_only(&place)?
        && match cover.kind {
            Kind::Protected => true,
            Kind::Hidden => {
                let own = state(&place)?;
                let device = |of: &Statx| (of.stx_dev_major, of.stx_dev_minor);
                // What is protected in such a file system is a mount, too, but of the same one.
                is_root(&own) && fstatfs(&place)?.f_type == TMPFS && parent.as_ref().map(device) != Some(device(&own))
            }
        };
    Ok(if is_covered && is_pinned { Look::Covered } else { Look::Bare })
}

/// Whether a directory can not be renamed from inside, with what is covered in it.
pub(super) fn pinned(place: &OwnedFd) -> io::Result<bool> {
    Ok(is_root(&state(place)?) || is_read_only(place)?)
}

fn opened(ground: &OwnedFd, path: &Path) -> io::Result<Result<OwnedFd, Look>> {
    match beneath(ground, path) {
        Ok(place) => Ok(Ok(place)),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(Err(Look::NotThere)),
        Err(Errno::LOOP) => Ok(Err(Look::Link)),
        Err(error) => Err(error.into()),
    }
}

fn state(place: &OwnedFd) -> io::Result<Statx> {
    Ok(statx(place, "", AtFlags::EMPTY_PATH, StatxFlags::empty())?)
}

/// Whether this is where a mount begins.
fn is_root(place: &Statx) -> bool {
    place.stx_attributes.contains(StatxAttributes::MOUNT_ROOT)
}

fn is_read_only(place: &OwnedFd) -> io::Result<bool> {
    Ok(fstatvfs(place)?.f_flag.contains(StatVfsMountFlags::RDONLY))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(mounts: Vec<Mount>) -> Spec {
        serde_json::from_value(serde_json::json!({ "name": "a", "hostname": "a", "mounts": mounts })).unwrap()
    }

    fn straight(to: &str, read_only: bool) -> Mount {
        Mount::Straight { from: to.into(), to: to.into(), read_only }
    }

    fn both(below: &str) -> Vec<Mount> {
        let to = PathBuf::from(below);
        vec![Mount::Protect { to: to.join("p"), may_come: false }, Mount::Hide { to: to.join("h") }]
    }

    /// What is watched: how it is meant, and where.
    fn watched(mounts: Vec<Mount>) -> Vec<(Kind, PathBuf)> {
        let all = grounds(&spec(mounts));
        all.iter().flat_map(|g| g.covers.iter().map(|cover| (cover.kind, g.to.join(&cover.below)))).collect()
    }

    #[test]
    fn only_what_can_be_replaced_from_outside_is_watched() {
        let (protected, hidden) = ((Kind::Protected, PathBuf::from("/w/p")), (Kind::Hidden, PathBuf::from("/w/h")));
        let with = |first: Mount| watched([vec![first], both("/w")].concat());
        assert_eq!(with(straight("/w", false)), [protected, hidden.clone()]);
        assert_eq!(with(straight("/w", true)), std::slice::from_ref(&hidden), "nothing is written there anyway");
        let overlay =
            Mount::Overlay { lower: vec!["/w".into()], upper: "/u".into(), work: "/k".into(), to: "/w".into() };
        assert_eq!(with(overlay), [hidden]);
        assert!(with(Mount::Tmpfs { to: "/w".into(), mode: 0o755, bytes_max: None }).is_empty());
        assert!(watched(vec![straight("/w", false)]).is_empty());
        assert!(
            watched(vec![straight("/w", false), Mount::Hide { to: "/w".into() }]).is_empty(),
            "the box's own place"
        );
        assert_eq!(watched(vec![Mount::Hide { to: "/etc/x".into() }]), [(Kind::Hidden, PathBuf::from("/etc/x"))]);
        assert!(watched(both("/nowhere")).is_empty());
    }

    #[test]
    fn a_place_lies_in_the_last_mount_that_holds_it() {
        let mut mounts = vec![straight("/w", false), straight("/w/data", true)];
        mounts.extend(both("/w/data"));
        let found = grounds(&spec(mounts));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].to, Path::new("/w/data"));
        assert_eq!(above(Path::new("a/b/c")), [Path::new(""), Path::new("a"), Path::new("a/b")]);
    }
}
