//! Whatever is killed, and whenever: what lives is not lost, nothing is left over, and the next verb works.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use futures_util::future::join_all;
use nix::fcntl::{Flock, FlockArg};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use super::inside::image::rootfs;
use super::user::{Daemon, User, gone, session_of};
use crate::support::{Ended, PATIENCE, alive, descendants, started_in};

/// How often something is killed, unless `COOP_KILLS` says otherwise.
const KILLS: u64 = 200;
/// Users to whom it happens at the same time, so that their waiting does not add up.
const USERS: u64 = 4;
/// Boxes of each.
const BOXES: usize = 3;
/// Something that is killed while nothing else happens, or within this time of the beginning of something. A box is
/// made, stopped or started again in about so long.
const WITHIN_US_MAX: u64 = 150_000;

/// A program with a child that hears no hang-up and has a session of its own, as servers do that an agent starts.
const PROGRAM: &str = "(trap '' HUP; exec setsid sleep 100000) & exec cat";

/// Numbers that look random, the same for the same seed (xorshift64*).
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % end
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[usize::try_from(self.below(all.len() as u64)).unwrap()]
    }
}

#[derive(Clone, Copy, Debug)]
enum Victim {
    Daemon,
    Sidecar,
    FirstProcess,
    Everything,
}

/// What is being done with a box meanwhile.
#[derive(Clone, Copy, Debug)]
enum Act {
    Nothing,
    Restart,
    Stop,
    Remove,
    /// Another one is made.
    Up,
    /// What was written in its layer is carried over into the project.
    Apply,
}

/// A user to whom bad things happen.
struct Unlucky {
    user: User,
    chance: Chance,
    /// No box of anybody else is called so.
    prefix: String,
    /// The sidecars that live, as they were told last.
    living: BTreeMap<String, i32>,
}

#[tokio::test]
async fn two_hundred_killings_lose_nothing_that_lives_and_leave_nothing_behind() {
    let of_variable = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let kills = of_variable("COOP_KILLS").unwrap_or(KILLS);
    let now = || u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros()).unwrap();
    let seed = of_variable("COOP_SEED").unwrap_or_else(now);
    println!("COOP_SEED={seed} COOP_KILLS={kills} kills in the same order");
    let users = (0..USERS).map(|number| async move {
        let mut unlucky = Unlucky::new(seed.wrapping_add(number), number).await;
        let share = kills / USERS + u64::from(number < kills % USERS);
        for round in 0..share {
            unlucky.suffer(&format!("seed {seed}, user {number}, round {round}")).await;
        }
        unlucky.leave().await;
    });
    join_all(users).await;
}

impl Unlucky {
    async fn new(seed: u64, number: u64) -> Self {
        let prefix = format!("k{}-{number}-", std::process::id());
        let chance = Chance(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let mut unlucky = Self { user: User::new(), chance, prefix, living: BTreeMap::new() };
        rootfs(&unlucky.user.scratch.path("rootfs"), "small");
        for name in unlucky.names() {
            let up = unlucky.up(&name).await;
            assert_eq!(up.code, Some(0), "{up:?}");
        }
        let daemon = unlucky.user.daemon().await;
        unlucky.settled(&daemon, "at first").await;
        unlucky
    }

    fn names(&self) -> Vec<String> {
        (0..BOXES).map(|number| format!("{}{number}", self.prefix)).collect()
    }

    /// Makes a box or starts it again. One of them has layers over the project, which a kill could leave mounted or locked, and
    /// one over an image.
    async fn up(&self, name: &str) -> Ended {
        let project = self.user.project();
        let mode = if name.ends_with('0') { "overlay" } else { "rw" };
        let image = format!("dir:{}", self.user.scratch.path("rootfs").display());
        let image = if name.ends_with('1') { &image } else { "host" };
        let words = ["up", &project, "--name", name, "--workspace", mode, "--image", image, "-d"];
        self.user.run(&[&words[..], &["--", "sh", "-c", PROGRAM]].concat()).await
    }

    /// What a script in a box prints.
    async fn inside(&self, name: &str, script: &str) -> String {
        self.user.run(&["shell", name, "--", "sh", "-c", script]).await.ok()
    }

    /// One killing and what comes of it.
    async fn suffer(&mut self, when: &str) {
        let victim = self.chance.of(&[Victim::Daemon, Victim::Sidecar, Victim::FirstProcess, Victim::Everything]);
        let act = self.chance.of(&[Act::Nothing, Act::Restart, Act::Stop, Act::Remove, Act::Up, Act::Apply]);
        let mut touched = self.chance.of(&self.names().iter().map(String::as_str).collect::<Vec<_>>()).to_owned();
        let work = format!("work-{}", self.chance.below(1 << 31));
        if matches!(act, Act::Apply) {
            touched = self.names().remove(0);
            self.inside(&touched, &format!("echo kept >{work}")).await;
            self.user.run(&["stop", &touched]).await.ok();
            self.living.remove(&touched);
        }
        let pause = Duration::from_micros(self.chance.below(WITHIN_US_MAX));
        let when = format!("{when}: {victim:?} killed {pause:?} after {act:?} of {touched}");
        if matches!(act, Act::Up) {
            // So that there is something to make.
            self.user.run(&["rm", "--force", &touched]).await;
            self.living.remove(&touched);
        }
        let chosen = self.chance.below(1 << 31);
        let doing = async {
            match act {
                Act::Nothing => None,
                Act::Restart => Some(self.user.run(&["restart", &touched]).await),
                Act::Stop => Some(self.user.run(&["stop", &touched]).await),
                Act::Remove => Some(self.user.run(&["rm", "--force", &touched]).await),
                Act::Up => Some(self.up(&touched).await),
                Act::Apply => Some(self.user.run(&["apply", &touched, "--yes"]).await),
            }
        };
        let killing = async {
            tokio::time::sleep(pause).await;
            self.strike(victim, chosen)
        };
        // The verb may fail, since nothing is there any more that could do it. It must not hang.
        let (_, struck) = tokio::join!(doing, killing);
        join_all(struck.iter().map(|pid| gone(*pid))).await;
        let listed = self.user.run(&["ls", "--json"]).await;
        assert_eq!((listed.code, listed.err.as_str()), (Some(0), ""), "{when}");

        let daemon = self.user.daemon().await;
        self.living.retain(|name, pid| !struck.contains(pid) && (*name != touched || matches!(act, Act::Nothing)));
        for (name, pid) in &self.living {
            assert!(alive(*pid), "{when}: the session of {name} was lost");
            let told = daemon.get_box(name).await;
            assert_eq!(told["pid"], *pid, "{when}: {told}");
            let status = session_of(&told).call("GET", "/api/v1/status").send().await.ok();
            assert_eq!(status["labels"]["name"], *name, "{when}");
        }
        self.mend(&daemon, &when).await;
        self.settled(&daemon, &when).await;
        if matches!(act, Act::Apply) {
            // In the layer still, in the project already, or in both.
            assert_eq!(self.inside(&touched, &format!("cat {work}")).await, "kept\n", "{when}");
        }
    }

    /// Kills, and tells whom.
    fn strike(&self, victim: Victim, chosen: u64) -> BTreeSet<i32> {
        let is_daemon = |line: &str| line.contains("daemon\0run");
        let is_first = |line: &str| line.contains("box-init\0");
        let of = |is: &dyn Fn(&str) -> bool| -> Vec<i32> {
            self.ours().into_iter().filter(|pid| is(&command_line(*pid))).collect()
        };
        let one_of = |all: Vec<i32>| {
            let at = usize::try_from(chosen).unwrap().checked_rem(all.len());
            at.map(|at| all[at]).into_iter().collect::<Vec<_>>()
        };
        let struck = match victim {
            Victim::Daemon => of(&is_daemon),
            Victim::Sidecar => one_of(self.living.values().copied().collect()),
            Victim::FirstProcess => one_of(of(&is_first)),
            Victim::Everything => {
                let is_ours = |line: &str| is_daemon(line) || is_first(line) || line.contains("--box\0");
                of(&is_ours)
            }
        };
        for pid in &struck {
            let _ = kill(Pid::from_raw(*pid), Signal::SIGKILL);
        }
        struck.into_iter().collect()
    }

    /// All processes that this user has to do with: by their words, or by a mount of what is this user's, which lasts for as
    /// long as somebody sees it.
    fn ours(&self) -> BTreeSet<i32> {
        let first = format!("box-init\0{}", self.prefix);
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let place = self.user.scratch.dir().display().to_string();
        let is_ours = |pid: &i32| alive(*pid) && (command_line(*pid).contains(&first) || sees_a_mount(*pid, &place));
        pids.filter(is_ours).chain(started_in(&self.user.scratch)).collect()
    }

    /// Starts again what does not run, by the verbs that a person would take.
    async fn mend(&mut self, daemon: &Daemon, when: &str) {
        for name in self.names() {
            let answer = daemon.get(&format!("/api/v1/boxes/{name}")).await;
            let state = if answer.status == 404 { "removed".to_owned() } else { word(&answer.ok()["state"]) };
            let runs = self.living.contains_key(&name) && state == "running";
            let mended = match state.as_str() {
                _ if runs => continue,
                "removed" | "stopped" => self.up(&name).await,
                _ => self.user.run(&["restart", &name]).await,
            };
            assert_eq!(mended.code, Some(0), "{when}: {name} was {state}: {mended:?}");
        }
    }

    /// Waits until there is nothing but the daemon, a session for each box, and what is in them; then nothing else is left.
    async fn settled(&mut self, daemon: &Daemon, when: &str) {
        let deadline = Instant::now() + PATIENCE;
        let (told, left) = loop {
            let told = daemon.get("/api/v1/boxes").await.ok();
            let boxes: Vec<Value> = told["boxes"].as_array().unwrap().clone();
            let sidecars: BTreeMap<String, i32> =
                boxes.iter().filter_map(|told| Some((word(&told["name"]), number(&told["pid"])?))).collect();
            let roots: Vec<i32> = sidecars.values().copied().chain([daemon.pid]).collect();
            let kin: BTreeSet<i32> = roots.iter().flat_map(|pid| descendants(*pid)).chain(roots.clone()).collect();
            let left: Vec<i32> = self.ours().difference(&kin).copied().collect();
            let all_run = boxes.len() == BOXES && boxes.iter().all(|told| told["state"] == "running");
            if all_run && left.is_empty() && sidecars.values().all(|pid| has_one_box(*pid)) {
                self.living = sidecars;
                return self.nothing_is_stale(when);
            }
            if Instant::now() > deadline {
                break (told, left);
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        };
        let lines: Vec<String> = left.iter().map(|pid| format!("{pid} {:?}", command_line(*pid))).collect();
        panic!("{when}: this never settles: {told}\nprocesses of nobody: {lines:?}");
    }

    /// No half-made directories, while all boxes run. Mounts are no others than those of the boxes, whose processes have been
    /// counted; that these are seen shows that others would be.
    fn nothing_is_stale(&self, when: &str) {
        let place = self.user.scratch.dir().display().to_string();
        let holders =
            self.living.values().filter(|pid| descendants(**pid).iter().any(|pid| sees_a_mount(*pid, &place)));
        assert_eq!(holders.count(), BOXES, "{when}: every box has mounts");
        let sessions = std::fs::read_dir(self.user.home().join("sessions")).unwrap().flatten();
        let half: Vec<_> =
            sessions.map(|entry| word_of(&entry.path())).filter(|name| name.starts_with(".new-")).collect();
        assert!(half.is_empty(), "{when}: half made: {half:?}");
    }

    /// Removes all boxes and the daemon; then there is nothing that ever was.
    async fn leave(self) {
        for name in self.names() {
            assert_eq!(self.user.run(&["rm", "--force", &name]).await.code, Some(0));
        }
        let daemon = self.user.daemon().await;
        self.user.run(&["daemon", "stop"]).await.ok();
        daemon.left().await;
        let deadline = Instant::now() + PATIENCE;
        while let Some(pid) = self.ours().first() {
            assert!(Instant::now() < deadline, "process {pid} is left: {:?}", command_line(*pid));
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(files_in(&self.user.home().join("sessions")), [""; 0], "of boxes that were removed");
        let sockets = files_in(&self.user.sockets());
        assert_eq!(sockets, ["daemon.lock"], "of those who listened");
        let lock = std::fs::File::open(self.user.sockets().join("daemon.lock")).unwrap();
        assert!(Flock::lock(lock, FlockArg::LockExclusiveNonblock).is_ok(), "nobody holds the lock");
    }
}

/// Whether a sidecar has exactly one box, with its first process and a program in it.
fn has_one_box(sidecar: i32) -> bool {
    let inside = descendants(sidecar);
    inside.iter().filter(|pid| command_line(**pid).contains("box-init\0")).count() == 1
        && inside.iter().any(|pid| command_line(*pid).starts_with("cat\0"))
}

/// Whether a process sees a mount of something in this directory.
fn sees_a_mount(pid: i32, place: &str) -> bool {
    let space = |of: &str| std::fs::read_link(format!("/proc/{of}/ns/mnt")).ok();
    let is_apart = space(&pid.to_string()).is_some_and(|other| Some(other) != space("self"));
    is_apart && std::fs::read_to_string(format!("/proc/{pid}/mountinfo")).is_ok_and(|mounts| mounts.contains(place))
}

fn command_line(pid: i32) -> String {
    String::from_utf8_lossy(&std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default()).into_owned()
}

fn word(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn word_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn number(value: &Value) -> Option<i32> {
    i32::try_from(value.as_i64()?).ok()
}

fn files_in(dir: &PathBuf) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(dir).unwrap().flatten().map(|entry| word_of(&entry.path())).collect();
    names.sort();
    names
}
