//! A root made of the machine's own programs and configuration, read-only.

use std::{
    fs,
    os::{fd::OwnedFd, unix::fs::MetadataExt},
    path::{Path, PathBuf},
};

use rustix::fs::{Mode, mkdirat};

use super::{
    super::{
        error::Step,
        spec::Root,
        stranger::{ADDED, CONFIGURATION},
        wire::Failure,
    },
    failure::At,
    mounts::{bind, put_directory, tmpfs},
    stash::Stash,
    tree::Tree,
};

/// What programs are made of and configured by. A missing one is left out, a link stays a link (`/bin` is one almost
/// everywhere). Of `/var` and `/run` only what configuration points into: certificates on SUSE, the system on NixOS.
/// Homes, mail, databases, sockets and logs are not here, and must be bound by who wants them.
pub(in super::super) const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc",
    "/opt",
    "/nix",
    "/gnu",
    "/var/lib/ca-certificates",
    "/run/current-system",
];

/// Directories that programs expect: those that are filled later, and those that stay empty.
const DIRECTORIES: &[&str] =
    &["proc", "dev", "tmp", "run", "home", "mnt", "srv", "sys", "var", "var/cache", "var/lib", "var/log"];

/// What only root may read. As root the box's programs would be allowed to: they have no privilege, but they own it.
const SECRETS: &[&str] = &[
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssh",
    "/etc/ssl/private",
    "/etc/pki/tls/private",
    "/etc/letsencrypt",
    "/etc/wireguard",
    "/etc/kubernetes",
    "/etc/krb5.keytab",
    "/etc/security/opasswd",
    "/etc/NetworkManager/system-connections",
];

/// Doors to services of the machine among what is shown.
const DOORS: &[&str] = &["/nix/var/nix/daemon-socket"];

/// Entries of it that are looked at. Machines have some thousands.
const ENTRIES_MAX: usize = 50_000;

/// Room for mount points and for a few small files.
const ROOT_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// A new, empty root.
pub(super) fn root() -> Result<Tree, Failure> {
    let tree = Tree::attached(tmpfs(0o755, Some(ROOT_BYTES_MAX)).at(Step::Root, || "cannot mount a tmpfs".into())?)?;
    for path in DIRECTORIES {
        // There is nothing in it yet that a path could follow.
        mkdirat(tree.fd(), *path, Mode::from_raw_mode(0o755)).at(Step::Root, || format!("cannot make /{path}"))?;
    }
    Ok(tree)
}

/// Puts the system into it. The configuration may come as a stranger sees it; otherwise what is closed to strangers is
/// looked for and covered. That takes longer, and does not hold for what is made or replaced while the box lives: then
/// there is a warning. Elsewhere there may be too much to look at, and there is only the warning.
pub(super) fn fill(tree: &Tree, stash: &Stash, shown: &[(PathBuf, OwnedFd)]) -> Result<Vec<String>, Failure> {
    for path in SYSTEM.iter().map(Path::new) {
        let Ok(found) = path.symlink_metadata() else { continue };
        if found.is_symlink() {
            let target = fs::read_link(path).at(Step::Root, || format!("cannot read the link {}", path.display()))?;
            tree.link(&target, path).at(Step::Root, || format!("cannot make the link {}", path.display()))?;
        } else if let Some((_, seen)) = shown.iter().find(|(known, _)| known == path) {
            put_directory(tree, seen, path)?;
        } else {
            bind(tree, path, path, true, false)?;
        }
    }
    for (at, to) in [("/var/tmp", "../tmp"), ("/var/run", "../run"), ("/var/lock", "../run")] {
        tree.link(Path::new(to), Path::new(at)).at(Step::Root, || format!("cannot make the link {at}"))?;
    }
    cover(tree, stash, DOORS.iter().map(Path::new))?;
    let mut warnings = Vec::new();
    if !outside_root() {
        return Ok(warnings);
    }
    cover(tree, stash, SECRETS.iter().map(Path::new))?;
    let is_shown = |path: &str| shown.iter().any(|(known, _)| known == Path::new(path));
    let why = "can be read by this box, because coop runs as root and the files can not be shown without their owners";
    if !is_shown(CONFIGURATION) {
        let closed = closed_to_others(Path::new(CONFIGURATION));
        cover(tree, stash, closed.iter().map(PathBuf::as_path).filter(|path| !is_secret(path)))?;
        warnings.push(format!("{CONFIGURATION}: what is closed there from now on {why}"));
    }
    if !is_shown(ADDED) && fs::read_dir(ADDED).is_ok_and(|mut entries| entries.next().is_some()) {
        warnings.push(format!("{ADDED}: what is closed there {why}"));
    }
    Ok(warnings)
}

fn is_secret(path: &Path) -> bool {
    SECRETS.iter().any(|secret| path.starts_with(secret))
}

/// What an ordinary user could not read, so that root's boxes see no more of it than theirs.
fn closed_to_others(dir: &Path) -> Vec<PathBuf> {
    let (mut closed, mut left, mut seen) = (Vec::new(), vec![dir.to_owned()], 0);
    while let Some(dir) = left.pop() {
        let Ok(entries) = fs::read_dir(&dir) else { continue };
        for entry in entries.flatten() {
            seen += 1;
            // Most entries are links, which the listing tells: each further look would make a box slower to start.
            if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                continue;
            }
            let Ok(found) = entry.metadata() else { continue };
            let wanted = if found.is_dir() { 0o5 } else { 0o4 };
            // Past the bound nothing is looked into, and nothing is shown.
            if found.mode() & wanted != wanted || found.is_dir() && seen > ENTRIES_MAX {
                closed.push(entry.path());
            } else if found.is_dir() {
                left.push(entry.path());
            }
        }
    }
    closed
}

/// Whether our user is root outside, whatever it is called inside.
pub(super) fn outside_root() -> bool {
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    map.lines().any(|line| line.split_whitespace().nth(1) == Some("0"))
}

fn cover<'a>(tree: &Tree, stash: &Stash, paths: impl Iterator<Item = &'a Path>) -> Result<(), Failure> {
    for path in paths {
        if let Ok(place) = tree.open(path) {
            stash.cover(&place).at(Step::Root, || format!("cannot hide {}", path.display()))?;
        }
    }
    Ok(())
}

/// On the machine's network names are resolved as the machine does it. Its `resolv.conf` often is a link into `/run`,
/// which a box does not see; an image has one of its own, or none.
pub(super) fn resolver(tree: &Tree, root: &Root) -> Result<(), Failure> {
    let named = Path::new("/etc/resolv.conf");
    let Ok(real) = named.canonicalize() else { return Ok(()) };
    match root {
        Root::Host if real.starts_with("/etc") => Ok(()),
        Root::Host => bind(tree, &real, &real, true, true),
        Root::Overlay { .. } => bind(tree, &real, named, true, true),
    }
}
