//! What this machine can do for boxes, really tried in boxes that live for a moment.

use std::{
    cmp::Ordering,
    fs,
    path::{Path, PathBuf},
};

use super::{Limits, Mount, Network, Root, Sandbox, SandboxError, Spec, Step, UidMap, cgroup};

/// One thing that boxes need or use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub name: &'static str,
    pub ok: bool,
    /// Whether there are no boxes without it.
    pub needed: bool,
    /// What was seen.
    pub detail: String,
    /// What to do about it; nothing where it was not tried.
    pub fix: Option<String>,
}

impl Finding {
    pub fn good(name: &'static str, detail: impl Into<String>) -> Self {
        Self { name, ok: true, needed: false, detail: detail.into(), fix: None }
    }

    pub fn bad(name: &'static str, detail: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { name, ok: false, needed: false, detail: detail.into(), fix: Some(fix.into()) }
    }

    fn untried(name: &'static str, detail: &str) -> Self {
        Self { name, ok: false, needed: false, detail: detail.into(), fix: None }
    }

    /// Without it there are no boxes.
    #[must_use]
    pub fn needed(self) -> Self {
        Self { needed: true, ..self }
    }
}

/// What a plain box needs, in the order in which it is made.
const NEEDED: &[(&str, &str)] = &[
    ("user namespaces", "can be made"),
    ("user map", "the caller is itself inside"),
    ("mounts", "a root of its own"),
    ("/proc", "of its own processes only"),
    ("confinement", "no capabilities, a filter of system calls (seccomp)"),
];

/// Settings that forbid namespaces, with the value that does, and what allows them.
const FORBIDDING: &[(&str, &str, &str)] = &[
    ("kernel/unprivileged_userns_clone", "0", "as root: sysctl -w kernel.unprivileged_userns_clone=1"),
    ("user/max_user_namespaces", "0", "as root: sysctl -w user.max_user_namespaces=15000"),
    (
        "kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "as root: an AppArmor profile for coop with `userns,`, or sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    ),
];

/// No setting forbids it, so something around coop does.
const AROUND: &str = "a container or sandbox around coop forbids it: allow namespaces and mounts there (for Docker \
    --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined)";

/// Tries everything that boxes need and use. Takes some ten milliseconds.
pub fn probe(coop: &Path) -> Vec<Finding> {
    let tried = Sandbox::start(&plain(), coop);
    let mut found = needed(tried.as_ref().err());
    let warnings = tried.as_ref().map(|sandbox| sandbox.warnings().to_vec()).unwrap_or_default();
    let stands = tried.is_ok();
    drop(tried);
    found.push(settings(stands));
    found.push(overlay(coop, stands));
    found.push(range(coop, stands));
    found.push(landlock(&warnings, stands));
    found.push(groups());
    found
}

fn plain() -> Spec {
    Spec {
        name: "probe".into(),
        hostname: "probe".into(),
        root: Root::Host,
        uid_map: UidMap::Same,
        mounts: Vec::new(),
        network: Network::None,
        nested: false,
        root_powers: false,
        limits: Limits::default(),
        landlock: true,
        seccomp: true,
    }
}

/// How far a plain box came.
fn needed(error: Option<&SandboxError>) -> Vec<Finding> {
    let reached = match error {
        None => NEEDED.len(),
        Some(SandboxError::IdMap { .. }) => 1,
        Some(SandboxError::Step { step, .. }) => match step {
            Step::Namespaces => 0,
            Step::Root | Step::Devices | Step::Mount => 2,
            Step::Proc => 3,
            Step::Network | Step::Confine => 4,
        },
        Some(_) => 0,
    };
    let each = NEEDED.iter().enumerate().map(|(at, (name, good))| match at.cmp(&reached) {
        Ordering::Less => Finding::good(name, *good),
        Ordering::Greater => Finding::untried(name, "not tried"),
        Ordering::Equal => {
            let detail = error.map(ToString::to_string).unwrap_or_default();
            let fix = match (forbidden_by(), error) {
                (Some((_, allow)), _) => allow,
                (None, Some(SandboxError::Step { .. })) => AROUND,
                (None, _) => "see the message",
            };
            Finding::bad(name, detail, fix)
        }
    });
    each.map(Finding::needed).collect()
}

/// The setting of this machine that forbids namespaces, as it is and what to do about it.
fn forbidden_by() -> Option<(String, &'static str)> {
    FORBIDDING.iter().find_map(|(name, forbids, allow)| {
        let value = fs::read_to_string(Path::new("/proc/sys").join(name)).ok()?;
        (value.trim() == *forbids).then(|| (format!("{} is {forbids}", name.replace('/', ".")), *allow))
    })
}

/// Told for itself, because it explains what fails; where boxes stand all the same, it does not hold for coop.
fn settings(stands: bool) -> Finding {
    const NAME: &str = "kernel settings";
    match forbidden_by() {
        None => Finding::good(NAME, "none forbids namespaces, AppArmor's neither"),
        Some((setting, _)) if stands => Finding::good(NAME, format!("{setting}, but not for coop")),
        Some((setting, allow)) => Finding::bad(NAME, setting, allow),
    }
}

fn untried(name: &'static str) -> Finding {
    Finding::untried(name, "not tried: there are no boxes")
}

/// Images and reviewed workspaces need it, on the file system on which boxes keep their changes.
fn overlay(coop: &Path, stands: bool) -> Finding {
    const NAME: &str = "overlay";
    if !stands {
        return untried(NAME);
    }
    let dir = place().join(format!(".probe-{}", std::process::id()));
    let parts = ["lower", "upper", "work"].map(|part| dir.join(part));
    let made = parts.iter().try_for_each(fs::create_dir_all);
    let [lower, upper, work] = parts;
    let mount = Mount::Overlay { lower: vec![lower], upper, work: work.clone(), to: "/run/probe".into() };
    let tried = made.map_err(|error| error.to_string()).and_then(|()| {
        let spec = Spec { mounts: vec![mount], ..plain() };
        Sandbox::start(&spec, coop).map(drop).map_err(|error| error.to_string())
    });
    remove(&dir, &work);
    match tried {
        Ok(()) => Finding::good(NAME, format!("works in {}", place().display())),
        Err(detail) => Finding::bad(
            NAME,
            detail,
            "Linux 5.11 or later, and COOP_HOME on a local file system (not NFS, not another overlay); \
             without it there are neither images nor reviewed workspaces",
        ),
    }
}

/// Where boxes keep their changes, if that is there already.
fn place() -> PathBuf {
    let own = std::env::var_os("COOP_HOME").map(PathBuf::from);
    let usual = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".coop"));
    let place = own.or_else(usual).filter(|path| path.is_dir()).unwrap_or_else(std::env::temp_dir);
    // As boxes have it: layers are reached without links.
    place.canonicalize().unwrap_or(place)
}

/// The kernel leaves a directory in `work` that nobody may enter.
fn remove(dir: &Path, work: &Path) {
    let _ = fs::remove_dir(work.join("work"));
    if let Err(error) = fs::remove_dir_all(dir) {
        tracing::debug!(%error, dir = %dir.display(), "a probe's directory stays behind");
    }
}

fn range(coop: &Path, stands: bool) -> Finding {
    const NAME: &str = "range of users";
    if !stands {
        return untried(NAME);
    }
    match Sandbox::start(&Spec { uid_map: UidMap::Range, ..plain() }, coop) {
        Ok(_) => Finding::good(NAME, "newuidmap and newgidmap map it"),
        Err(SandboxError::IdMap { problem, .. }) => {
            let (detail, fix) = problem.split_once(": ").unwrap_or((&problem, "install uidmap, see subuid(5)"));
            Finding::bad(NAME, detail, format!("{fix}; only uidmap = \"range\" needs it"))
        }
        Err(other) => Finding::bad(NAME, other.to_string(), "see the message; only uidmap = \"range\" needs it"),
    }
}

fn landlock(warnings: &[String], stands: bool) -> Finding {
    const NAME: &str = "landlock";
    if !stands {
        return untried(NAME);
    }
    match warnings.iter().find(|warning| warning.contains("Landlock")) {
        None => Finding::good(NAME, "a second fence under the mounts"),
        Some(warning) => {
            Finding::bad(NAME, warning, "Linux 6.12 or later with landlock in its `lsm=` list; boxes hold without it")
        }
    }
}

fn groups() -> Finding {
    const NAME: &str = "cgroup v2";
    match cgroup::delegated() {
        Ok(path) => Finding::good(NAME, format!("limits go below {}", path.display())),
        Err(problem) => Finding::bad(
            NAME,
            problem,
            format!("{}; without it memory and processors are not limited", cgroup::WAY_OUT),
        ),
    }
}
