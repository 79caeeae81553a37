//! Builds a box from inside, in the one order that works.

use std::{
    fs::File,
    io,
    net::TcpListener,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use nix::unistd::sethostname;
use rustix::mount::{MountPropagationFlags, mount_change};

use super::{
    super::{
        covers,
        error::Step,
        spec::{Network, Root, Spec},
        wire::Failure,
    },
    confine, devices,
    failure::At,
    host, mounts, network, overlay, pivot,
    stash::Stash,
    tree::Tree,
};

/// A box that stands.
pub(super) struct Standing {
    pub(super) warnings: Vec<String>,
    /// For a filtered box, to be given to the starter.
    pub(super) listener: Option<TcpListener>,
    /// Where terminals are made.
    pub(super) terminals: OwnedFd,
    /// Each mount in which something may have to be covered again, with our namespaces of users and of mounts: once we
    /// are closed against tracing, nobody else can open them. Nothing for a mount that was left out.
    pub(super) grounds: Vec<Vec<OwnedFd>>,
}

/// `shown` is what comes of the machine as a stranger sees it.
pub(super) fn stand(spec: &Spec, shown: &[(PathBuf, OwnedFd)]) -> Result<Standing, Failure> {
    let mut warnings = Vec::new();
    sethostname(&spec.hostname).at(Step::Root, || format!("cannot set the host name {:?}", spec.hostname))?;
    // Nothing that is mounted from here on is seen outside, nor the other way round.
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .at(Step::Root, || "cannot have mounts of its own".into())?;
    let (tree, stash) = match &spec.root {
        Root::Host => {
            let tree = host::root()?;
            let stash = Stash::below(&tree, Path::new("/proc"))?;
            (tree, stash)
        }
        Root::Overlay { lower, upper, work } => {
            let stash = Stash::apart()?;
            (Tree::attached(overlay::make(lower, upper, work, Step::Root)?)?, stash)
        }
    };
    warnings.extend(devices::proc(&tree, &stash, spec.nested)?);
    let terminals = devices::dev(&tree, spec.limits.memory_bytes)?;
    devices::scratch(&tree, spec.limits.memory_bytes)?;
    if matches!(spec.root, Root::Host) {
        warnings.extend(host::fill(&tree, &stash, shown)?);
    }
    if spec.network == Network::Host {
        host::resolver(&tree, &spec.root)?;
    }
    for mount in &spec.mounts {
        warnings.extend(mounts::put(&tree, &stash, mount)?);
    }
    let opened: io::Result<Vec<_>> =
        covers::grounds(spec).iter().map(|ground| open_ground(&tree, &ground.to)).collect();
    let grounds = opened.at(Step::Mount, || "cannot open what is to be watched".into())?;
    if matches!(spec.root, Root::Host) {
        tree.close()?;
    }
    pivot::into(tree)?;
    let listener = network::raise(spec.network)?;
    warnings.extend(confine::give_up(spec)?);
    Ok(Standing { warnings, listener, terminals, grounds })
}

fn open_ground(tree: &Tree, to: &Path) -> io::Result<Vec<OwnedFd>> {
    let own = |kind: &str| File::open(format!("/proc/self/ns/{kind}")).map(OwnedFd::from);
    match tree.open(to) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        ground => Ok(vec![ground?, own("user")?, own("mnt")?]),
    }
}
