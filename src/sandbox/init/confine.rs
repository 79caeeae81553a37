//! Gives up every privilege, for good and for all that is started from here.

use nix::unistd::Uid;
use rustix::{
    process::{DumpableBehavior, set_dumpable_behavior},
    thread::{
        CapabilitySet, CapabilitySets, clear_ambient_capability_set, remove_capability_from_bounding_set,
        set_capabilities, set_no_new_privs,
    },
};

use super::{
    super::{error::Step, spec::Spec, wire::Failure},
    failure::At,
    land, syscalls,
};

/// Returns what was asked for and can not be had.
pub(super) fn give_up(spec: &Spec) -> Result<Vec<String>, Failure> {
    capabilities(kept(spec)).at(Step::Confine, || "cannot give up capabilities".into())?;
    // Set-uid programs and file capabilities give nothing from here on; filters need it too.
    set_no_new_privs(true).at(Step::Confine, || "cannot set no_new_privs".into())?;
    // Programs inside have our user. This keeps them from tracing us and from reading our memory and descriptors;
    // that a signal can not end us is the kernel's promise to every PID 1.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .at(Step::Confine, || "cannot close itself against tracing".into())?;
    let mut warnings = Vec::new();
    if spec.landlock {
        warnings.extend(land::lock(spec)?);
    }
    if spec.seccomp {
        syscalls::filter(spec.nested)?;
    } else {
        warnings.push("system calls are not filtered: seccomp is switched off for this box".into());
    }
    Ok(warnings)
}

/// What installing packages takes, and all of it only over the box's own users.
const ROOT_POWERS: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::SETFCAP)
    .union(CapabilitySet::NET_BIND_SERVICE);

/// Almost always nothing. Since Linux 5.12 a user 0 needs one capability to be user 0 in a sandbox that it makes, and
/// with it can do no more than mark files for such sandboxes: what is marked gives nothing, see `no_new_privs`.
fn kept(spec: &Spec) -> CapabilitySet {
    let root = Uid::effective().is_root();
    match (root && spec.root_powers, root && spec.nested) {
        (true, _) => ROOT_POWERS,
        (false, true) => CapabilitySet::SETFCAP,
        (false, false) => CapabilitySet::empty(),
    }
}

fn capabilities(kept: CapabilitySet) -> rustix::io::Result<()> {
    // The bounding set first: it takes a capability to shrink it. Numbers that the kernel does not know end the list.
    for number in 0..u64::BITS {
        let each = CapabilitySet::from_bits_retain(1 << number);
        match if kept.contains(each) { Ok(()) } else { remove_capability_from_bounding_set(each) } {
            Err(rustix::io::Errno::INVAL) => break,
            other => other?,
        }
    }
    clear_ambient_capability_set()?;
    set_capabilities(None, CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() })
}
