//! Makes a sandbox: starts the helper, maps its users, waits until it stands.

use std::{
    io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::process::CommandExt,
    },
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tokio::sync::mpsc;

use super::{
    SandboxError,
    cgroup::Group,
    channel::{Channel, Received},
    covers,
    handle::{Parts, Sandbox, reap_within},
    idmap,
    spec::{Mount, Network, Spec},
    stranger,
    warden::{Kept, Replaced, Warden},
    wire::{Order, Report},
};

/// How long a box may take to stand. It takes milliseconds; a machine that swaps takes longer.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long the remains of a box that could not be made are waited for. A disk that does not answer can hold them.
const END_PATIENCE: Duration = Duration::from_secs(2);
/// What Linux takes as a host name.
const HOSTNAME_BYTES_MAX: usize = 64;

impl Sandbox {
    /// Makes a box and returns when it stands. Blocks for some milliseconds. What is hidden or protected in it stays so
    /// when it is replaced outside, but for the moment that it takes to notice.
    ///
    /// `coop` is the executable that knows `box-init`; its path is opened by this process, so that `/proc/self/exe`
    /// is right even after an upgrade.
    pub fn start(spec: &Spec, coop: &Path) -> Result<Self, SandboxError> {
        let (tell, _) = mpsc::channel(1);
        Self::start_telling(spec, coop, tell)
    }

    /// The same, and tells what was replaced; see [`Replaced`].
    pub fn start_telling(spec: &Spec, coop: &Path, tell: mpsc::Sender<Replaced>) -> Result<Self, SandboxError> {
        check(spec)?;
        let broken = |what, source| SandboxError::Handshake { name: spec.name.clone(), what, source };
        let (control, theirs) = Channel::pair().map_err(|error| broken("cannot make a socket", error))?;
        control.set_timeout(PATIENCE).map_err(|error| broken("cannot prepare the socket", error))?;
        // It waits in the socket until the helper reads it.
        control.send(&Order::Begin(Box::new(spec.clone())), &[]).map_err(|error| match error.kind() {
            // A path that is no text can not be said in JSON.
            io::ErrorKind::InvalidData | io::ErrorKind::Other => bad(spec, error.to_string()),
            _ => broken("cannot say what it shall be", error),
        })?;
        let helper = Helper(spawn(spec, coop, theirs.into())?);
        let greeted = greeted(spec, &control, helper)?;
        stand(spec, control, greeted, |kept, pidfd| {
            let (name, coop) = (spec.name.clone(), coop.to_owned());
            Warden { name, coop, kept, pidfd, tell }.begin()
        })
    }
}

fn bad(spec: &Spec, problem: impl Into<String>) -> SandboxError {
    SandboxError::BadSpec { name: spec.name.clone(), problem: problem.into() }
}

/// What can be told wrong without trying.
fn check(spec: &Spec) -> Result<(), SandboxError> {
    if spec.hostname.is_empty() || spec.hostname.len() > HOSTNAME_BYTES_MAX {
        return Err(bad(spec, format!("a host name has 1 to {HOSTNAME_BYTES_MAX} bytes, not {:?}", spec.hostname)));
    }
    let none = [
        ("memory", spec.limits.memory_bytes == Some(0)),
        ("processes", spec.limits.processes == Some(0)),
        ("open files", spec.limits.open_files == Some(0)),
        ("processors", spec.limits.cpus.is_some_and(|cpus| !cpus.is_finite() || cpus <= 0.0)),
    ];
    if let Some((what, _)) = none.iter().find(|(_, none)| *none) {
        return Err(bad(spec, format!("the limit on {what} must be more than nothing")));
    }
    for mount in &spec.mounts {
        if let Mount::Bind { from, .. } | Mount::Straight { from, .. } = mount
            && !from.is_absolute()
        {
            return Err(bad(spec, format!("{} must be an absolute path", from.display())));
        }
        let to = mount.to();
        if !to.is_absolute() || to == Path::new("/") {
            return Err(bad(spec, format!("{} must be an absolute path below /", to.display())));
        }
        if to.components().any(|part| part == std::path::Component::ParentDir) {
            return Err(bad(spec, format!("{} must not contain \"..\"", to.display())));
        }
    }
    Ok(())
}

impl Mount {
    /// Where it goes, inside.
    pub fn to(&self) -> &Path {
        match self {
            Self::Bind { to, .. }
            | Self::Straight { to, .. }
            | Self::Tmpfs { to, .. }
            | Self::Overlay { to, .. }
            | Self::Hide { to }
            | Self::Protect { to, .. }
            | Self::File { to, .. } => to,
        }
    }
}

/// The helper is re-executed, not forked, because this process has threads. Its only tie to us is its stdin.
fn spawn(spec: &Spec, coop: &Path, control: OwnedFd) -> Result<Child, SandboxError> {
    Command::new(coop)
        .arg0("coop")
        .args(["box-init", &spec.name])
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::from(control))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|source| SandboxError::Helper { name: spec.name.clone(), program: coop.to_owned(), source })
}

/// The process that makes PID 1. It ends by itself then; dropped, it is gone.
struct Helper(Child);

impl Drop for Helper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// PID 1 of a box that does not stand yet. Dropped, it ends; its group goes after it.
struct First {
    pid: u32,
    pidfd: OwnedFd,
    group: Option<Group>,
    kept: bool,
}

impl Drop for First {
    fn drop(&mut self) {
        if !self.kept {
            let _ = pidfd_send_signal(&self.pidfd, Signal::KILL);
            reap_within(self.pidfd.as_fd(), END_PATIENCE);
        }
    }
}

/// What is known before PID 1 may go on. The helper is kept until the box stands: nobody has to wait for its end.
struct Greeted {
    first: First,
    shown: Vec<(&'static str, OwnedFd)>,
    _helper: Helper,
}

/// Learns who PID 1 is, and of root's boxes how they shall see the configuration.
fn greeted(spec: &Spec, control: &Channel, helper: Helper) -> Result<Greeted, SandboxError> {
    let (mut first, mut shown) = (None, Vec::new());
    let mut expected = stranger::needed(spec);
    loop {
        let received = heard(spec, control.receive::<Report>())?;
        match received.message {
            Report::Failed(failure) => return Err(SandboxError::of(&spec.name, failure)),
            Report::Stranger => {
                expected = false;
                let users = received.descriptors.first();
                shown = users.map(stranger::shown).unwrap_or_default();
            }
            Report::Hello | Report::Ground | Report::Ready { .. } => {
                first = Some(first_process(spec, received.sender)?)
            }
        }
        if !expected && let Some(first) = first.take() {
            return Ok(Greeted { first, shown, _helper: helper });
        }
    }
}

/// The kernel itself tells who sent the greeting, in our own numbers; and since the helper made it a child of ours, that
/// number stays its own until we reap it.
fn first_process(spec: &Spec, sender: Option<u32>) -> Result<First, SandboxError> {
    let name = || spec.name.clone();
    let pid = sender.ok_or_else(|| SandboxError::Silent { name: name() })?;
    let pidfd = Pid::from_raw(pid.cast_signed())
        .ok_or(rustix::io::Errno::SRCH)
        .and_then(|pid| pidfd_open(pid, PidfdFlags::empty()))
        .map_err(|error| SandboxError::Handshake { name: name(), what: "cannot watch it", source: error.into() })?;
    Ok(First { pid, pidfd, group: None, kept: false })
}

/// A word, or why there was none. Who leaves without having read resets the connection.
fn heard(spec: &Spec, report: io::Result<Option<Received<Report>>>) -> Result<Received<Report>, SandboxError> {
    let name = || spec.name.clone();
    match report {
        Ok(Some(received)) => Ok(received),
        Ok(None) => Err(SandboxError::Silent { name: name() }),
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Err(SandboxError::Silent { name: name() }),
        Err(source) => Err(SandboxError::Handshake { name: name(), what: "no word from its first process", source }),
    }
}

/// Gives PID 1 its users and its limits, lets it go on, and waits until it stands.
fn stand(
    spec: &Spec,
    control: Channel,
    greeted: Greeted,
    guard: impl FnOnce(Vec<Kept>, OwnedFd) -> io::Result<()>,
) -> Result<Sandbox, SandboxError> {
    let Greeted { mut first, shown, .. } = greeted;
    let name = || spec.name.clone();
    let talk = |source| SandboxError::Handshake { name: name(), what: "cannot talk to its first process", source };
    idmap::write(first.pid, spec.uid_map).map_err(|problem| SandboxError::IdMap { name: name(), problem })?;
    let (group, mut warnings) = Group::place(&spec.name, &spec.limits, first.pid);
    first.group = group;
    let with: Vec<_> = shown.iter().map(|(_, mount)| mount.as_fd()).collect();
    let go = Order::Go { shown: shown.iter().map(|(path, _)| path.into()).collect() };
    control.send(&go, &with).map_err(talk)?;
    drop(shown);
    // It is watched already while it builds, since we have nothing else to do.
    let pidfd = first.pidfd.try_clone().map_err(talk)?;
    let parts = Parts { control, pid: first.pid, pidfd, group: first.group.take() };
    let sandbox = Sandbox::watch(parts).map_err(talk)?;
    first.kept = true;
    let ready = ready(spec, &sandbox).and_then(|stood| match stood.kept.is_empty() {
        true => Ok(stood),
        false => {
            let Stood { warnings, listener, kept } = stood;
            first.pidfd.try_clone().and_then(|pidfd| guard(kept, pidfd)).map_err(talk)?;
            Ok(Stood { warnings, listener, kept: Vec::new() })
        }
    });
    match ready {
        Ok(stood) => {
            warnings.extend(stood.warnings);
            Ok(sandbox.standing(warnings, stood.listener))
        }
        Err(error) => {
            sandbox.end();
            Err(error)
        }
    }
}

/// What a box brings when it stands.
struct Stood {
    warnings: Vec<String>,
    /// Of a filtered box, the listener inside.
    listener: Option<OwnedFd>,
    kept: Vec<Kept>,
}

/// Waits until PID 1 has built the box.
fn ready(spec: &Spec, sandbox: &Sandbox) -> Result<Stood, SandboxError> {
    let silent = || SandboxError::Silent { name: spec.name.clone() };
    let mut kept = Vec::new();
    for ground in covers::grounds(spec) {
        let received = heard(spec, sandbox.hear())?;
        match received.message {
            // It was left out.
            Report::Ground if received.descriptors.is_empty() => {}
            Report::Ground => {
                let [inside, users, mounts] = received.descriptors.try_into().map_err(|_| silent())?;
                kept.push(Kept { ground, inside, users, mounts });
            }
            Report::Failed(failure) => return Err(SandboxError::of(&spec.name, failure)),
            _ => return Err(silent()),
        }
    }
    let mut received = heard(spec, sandbox.hear())?;
    match received.message {
        Report::Ready { warnings } => {
            let listener = (spec.network == Network::Filtered).then(|| received.descriptors.pop()).flatten();
            Ok(Stood { warnings, listener, kept })
        }
        Report::Failed(failure) => Err(SandboxError::of(&spec.name, failure)),
        Report::Hello | Report::Stranger | Report::Ground => Err(silent()),
    }
}
