//! Landlock: a second fence under the mounts. It holds even where a mount was forgotten.

use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetError, RulesetStatus, Scope,
};

use super::super::{
    error::Step,
    spec::{Mount, Root, Spec},
    wire::Failure,
};

/// The newest rules that this was written for. An older kernel enforces what it knows of them.
const KNOWN: ABI = ABI::V6;
/// What is in memory and the box's own.
const SCRATCH: &[&str] = &["/tmp", "/run", "/dev", "/proc"];

/// Fences this process and all it starts. Returns what the kernel can not do of it.
pub(super) fn lock(spec: &Spec) -> Result<Option<String>, Failure> {
    let failed = |error: RulesetError| Failure {
        step: Step::Confine,
        detail: format!("cannot set up Landlock: {error}"),
        errno: None,
    };
    let status = rules(spec).map_err(failed)?;
    Ok(match status {
        RulesetStatus::FullyEnforced if spec.nested => {
            Some("Landlock guards sockets but no files, because sandboxes may be made inside".into())
        }
        RulesetStatus::FullyEnforced => None,
        RulesetStatus::PartiallyEnforced => {
            Some("Landlock of this kernel is older; a part of its rules is missing".into())
        }
        RulesetStatus::NotEnforced => Some("Landlock is not enforced: this kernel does not have it".into()),
    })
}

fn rules(spec: &Spec) -> Result<RulesetStatus, RulesetError> {
    // Sockets with a name that is no file are reachable across mounts and, on the machine's network, across the box.
    let base = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
    let scoped = base.scope(Scope::AbstractUnixSocket)?;
    // With rules on files the kernel forbids every mount, which a nested sandbox lives from.
    if spec.nested {
        return Ok(scoped.create()?.restrict_self()?.ruleset);
    }
    let all = AccessFs::from_all(KNOWN);
    let mut rules = scoped.handle_access(all)?.create()?;
    let everywhere = match spec.root {
        Root::Host => AccessFs::from_read(KNOWN),
        Root::Overlay { .. } => all,
    };
    rules = allow(rules, Path::new("/"), everywhere)?;
    for path in SCRATCH.iter().map(Path::new).chain(spec.mounts.iter().filter(|mount| writable(mount)).map(Mount::to)) {
        rules = allow(rules, path, all)?;
    }
    Ok(rules.restrict_self()?.ruleset)
}

fn allow(
    rules: landlock::RulesetCreated,
    path: &Path,
    access: landlock::BitFlags<AccessFs>,
) -> Result<landlock::RulesetCreated, RulesetError> {
    // What is not there needs no permission.
    let Ok(place) = PathFd::new(path) else { return Ok(rules) };
    let access = if path.is_dir() { access } else { access & AccessFs::from_file(KNOWN) };
    rules.add_rule(PathBeneath::new(place, access))
}

fn writable(mount: &Mount) -> bool {
    match mount {
        Mount::Bind { read_only, .. } | Mount::Straight { read_only, .. } | Mount::File { read_only, .. } => !read_only,
        Mount::Tmpfs { .. } | Mount::Overlay { .. } => true,
        Mount::Hide { .. } | Mount::Protect { .. } => false,
    }
}
