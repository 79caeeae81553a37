//! Boxes to test with, and the same test as another user.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, Read},
    os::{
        fd::{AsFd, AsRawFd, OwnedFd},
        unix::{fs::DirBuilderExt, process::CommandExt},
    },
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, Instant},
};

use coop::sandbox::{Ended, Limits, Mount, Network, Root, Run, Sandbox, Spec, Started, UidMap};
use nix::{
    fcntl::{FcntlArg, FdFlag, fcntl},
    mount::{MsFlags, mount},
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sched::{CloneFlags, unshare},
    unistd::Uid,
};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// A user that no system has.
pub const STRANGER: u32 = 54321;
/// Says that a test already runs as the stranger, and where coop is.
const AS_STRANGER: &str = "BOXES_COOP";
/// How long the end of a process may take on a machine with other things to do.
const END_MS_MAX: u16 = 20_000;

/// A promise that holds for root and for everybody else.
macro_rules! promise {
    (fn $name:ident() $body:block) => {
        #[test]
        fn $name() {
            crate::support::everybody(concat!(module_path!(), "::", stringify!($name)), || $body);
        }
    };
}

/// Tests a promise as who we are and, if that is root, once more as an ordinary user in a process of its own.
pub fn everybody(name: &str, promise: impl FnOnce()) {
    promise();
    if Uid::effective().is_root() {
        as_stranger(name);
    }
}

/// Root's: tests a promise as an ordinary user, in a process of its own.
pub fn as_stranger(name: &str) {
    let (_, name) = name.split_once("::").expect("the crate's name is in front");
    // Neither the test nor coop need to be in a place that the stranger can reach: both are opened as root.
    let coop = File::open(env!("CARGO_BIN_EXE_coop")).unwrap();
    fcntl(&coop, FcntlArg::F_SETFD(FdFlag::empty())).unwrap();
    let again = Command::new("/proc/self/exe")
        .args([name, "--exact", "--nocapture", "--test-threads=1"])
        .env(AS_STRANGER, format!("/proc/self/fd/{}", coop.as_raw_fd()))
        .env_remove("HOME")
        .current_dir("/")
        .uid(STRANGER)
        .gid(STRANGER)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&again.stdout);
    assert!(again.status.success(), "as user {STRANGER}: {said}{}", String::from_utf8_lossy(&again.stderr));
    assert!(said.contains("1 passed"), "as user {STRANGER} nothing was tested: {said}");
}

/// The coop that is tested.
pub fn coop() -> PathBuf {
    std::env::var_os(AS_STRANGER).map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_coop")), PathBuf::from)
}

/// A box with the machine's programs, no network, and nothing else.
pub fn plain() -> Spec {
    Spec {
        name: "test".into(),
        hostname: "box".into(),
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

/// A plain box with these mounts.
pub fn with(mounts: impl IntoIterator<Item = Mount>) -> Spec {
    Spec { mounts: mounts.into_iter().collect(), ..plain() }
}

pub fn bind(from: &Path, to: impl Into<PathBuf>) -> Mount {
    Mount::Bind { from: from.to_owned(), to: to.into(), read_only: false, optional: false }
}

pub fn start(spec: &Spec) -> Sandbox {
    Sandbox::start(spec, &coop()).unwrap_or_else(|error| panic!("{error}"))
}

pub fn refused(spec: &Spec) -> String {
    Sandbox::start(spec, &coop()).expect_err("there must be no box").to_string()
}

/// What a program printed, and how it ended.
#[derive(Debug, PartialEq, Eq)]
pub struct Said {
    pub text: String,
    pub ended: Ended,
}

pub fn run(argv: &[&str]) -> Run {
    let env = [("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"), ("LC_ALL", "C")];
    Run {
        argv: argv.iter().map(OsString::from).collect(),
        cwd: "/".into(),
        env: env.iter().map(|(name, value)| (name.into(), value.into())).collect(),
        size: None,
    }
}

pub fn finish(started: Started) -> Said {
    let mut bytes = Vec::new();
    // A terminal ends with an error when its last program has closed it.
    let _ = File::from(started.terminal).read_to_end(&mut bytes);
    Said { text: String::from_utf8_lossy(&bytes).replace("\r\n", "\n"), ended: started.exit.wait() }
}

/// Runs a script in a box.
pub fn sh(sandbox: &Sandbox, script: &str) -> Said {
    finish(sandbox.run(&run(&["sh", "-c", script])).unwrap_or_else(|error| panic!("{error}")))
}

/// What a script that must succeed prints.
pub fn told(sandbox: &Sandbox, script: &str) -> String {
    let said = sh(sandbox, script);
    assert_eq!(said.ended, Ended::Code(0), "{script}: {}", said.text);
    said.text.trim_end().to_owned()
}

/// What a script that must fail prints.
pub fn fails(sandbox: &Sandbox, script: &str) -> String {
    let said = sh(sandbox, script);
    assert!(!matches!(said.ended, Ended::Code(0)), "{script}: {}", said.text);
    said.text
}

/// Runs perl, for calls that a shell can not make.
pub fn perl(sandbox: &Sandbox, script: &str) -> String {
    let said = finish(sandbox.run(&run(&["perl", "-e", script])).expect("these tests need perl"));
    assert_eq!(said.ended, Ended::Code(0), "{script}: {}", said.text);
    said.text
}

/// A directory for one test, gone with it.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn fresh() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let user = Uid::effective();
        let dir = std::env::temp_dir().join(format!("coop-boxes-{user}-{}-{number}", std::process::id()));
        fs::DirBuilder::new().mode(0o700).create(&dir).unwrap();
        Self(dir)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        if name.is_empty() { self.0.clone() } else { self.0.join(name) }
    }

    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        fs::write(self.path(name), text).unwrap();
        self.path(name)
    }

    pub fn dir(&self, name: &str) -> PathBuf {
        fs::create_dir_all(self.path(name)).unwrap();
        self.path(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // The kernel leaves a directory without permissions in the work directory of an overlay.
        let _ = Command::new("chmod").args(["-R", "u+rwX"]).arg(&self.0).status();
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A process of the machine, by a handle that can not come to mean another one.
pub struct Process(OwnedFd);

impl Process {
    pub fn of(pid: u32) -> Self {
        Self(pidfd_open(Pid::from_raw(pid.cast_signed()).unwrap(), PidfdFlags::empty()).unwrap())
    }

    /// Waits for its end.
    pub fn ends(&self) {
        assert!(self.ended_within(END_MS_MAX), "a process still lives");
    }

    pub fn lives(&self) -> bool {
        !self.ended_within(0)
    }

    fn ended_within(&self, patience_ms: u16) -> bool {
        let mut watched = [PollFd::new(self.0.as_fd(), PollFlags::POLLIN)];
        poll(&mut watched, PollTimeout::from(patience_ms)).unwrap() == 1
    }
}

/// The processes that these have started, and those that they have.
pub fn offspring(pid: u32) -> Vec<u32> {
    let all: Vec<(u32, u32)> = fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| {
            let pid = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            let parent = stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()?;
            Some((pid, parent))
        })
        .collect();
    let mut found = vec![pid];
    let mut at = 0;
    while let Some(parent) = found.get(at).copied() {
        found.extend(all.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
        at += 1;
    }
    found.split_off(1)
}

/// Tests on a thread with mounts of its own, which are of this kind: nobody else sees what is done to them.
pub fn with_own_mounts(kind: MsFlags, test: impl FnOnce() + Send) {
    let alone = || {
        unshare(CloneFlags::CLONE_NEWNS).unwrap();
        mount(None::<&str>, "/", None::<&str>, kind | MsFlags::MS_REC, None::<&str>).unwrap();
        test();
    };
    std::thread::scope(|scope| scope.spawn(alone).join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}

/// Waits until a process has let go of more than half of what it once had in memory of its files.
pub fn lets_go_of_code(pid: u32) {
    let deadline = Instant::now() + Duration::from_millis(END_MS_MAX.into());
    loop {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let kib = |name: &str| -> u64 {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            line.split_whitespace().next().unwrap().parse().unwrap()
        };
        let (most, now) = (kib("VmHWM:") - kib("RssAnon:"), kib("RssFile:"));
        if now < most / 2 {
            return;
        }
        assert!(Instant::now() < deadline, "{now} KiB of {most} are still there");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Reads until a text has come.
pub fn until(from: &mut impl Read, text: &str) -> io::Result<String> {
    let mut seen = Vec::new();
    let mut byte = [0];
    while !String::from_utf8_lossy(&seen).contains(text) {
        if from.read(&mut byte)? == 0 {
            return Err(io::Error::other(format!("{text:?} never came, but {:?}", String::from_utf8_lossy(&seen))));
        }
        seen.push(byte[0]);
    }
    Ok(String::from_utf8_lossy(&seen).into_owned())
}
