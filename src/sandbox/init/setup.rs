//! Builds a box from inside, in the one order that works.

use std::{
    net::TcpListener,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use nix::unistd::sethostname;
use rustix::mount::{MountPropagationFlags, mount_change};

use super::{
    super::{
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
    if matches!(spec.root, Root::Host) {
        tree.close()?;
    }
    pivot::into(tree)?;
    let listener = network::raise(spec.network)?;
    warnings.extend(confine::give_up(spec)?);
    Ok(Standing { warnings, listener, terminals })
}
