//! A small process beside coop which ends the children if coop itself is killed.
//!
//! Coop can not clean up after its own SIGKILL. The hang-up of the terminal ends ordinary programs then, but not
//! those which ignore SIGHUP. The guardian holds the read end of a pipe: `watch PID`, `forget PID` and `sweep`, a
//! line each, say which sessions are to be ended when the pipe ends, which it does when coop does, however that came.
//!
//! No moment is unwatched: a child announces itself between fork and exec, with the copy of the pipe that it has
//! until then (see `raw.rs`).

use std::{
    io::{self, BufRead, BufReader, Read},
    os::fd::{AsFd, OwnedFd},
    process::Stdio,
    sync::Arc,
    time::{Duration, Instant},
};

use nix::{
    fcntl::{FcntlArg, OFlag, fcntl},
    sys::signal::SigSet,
    unistd::{Pid, write},
};

use super::kin::{self, Kin};

/// The hidden subcommand that runs [`run_guardian`] on stdin.
const SUBCOMMAND: &str = "guardian";

/// How long the children may take to heed the hang-up of their terminal, for instance to save what they hold.
const CRASH_GRACE: Duration = Duration::from_millis(500);

/// How long SIGKILL is repeated, as what is forked at that moment may slip through one look. With the grace this
/// stays under the 2 s within which nothing may be left.
const KILL_FOR: Duration = Duration::from_secs(1);

/// How often to look in between.
const LOOK_EVERY: Duration = Duration::from_millis(25);

/// Coop's end of the pipe. The guardian ends when the last clone is dropped.
#[derive(Clone, Debug)]
pub struct Guardian(Arc<OwnedFd>);

impl Guardian {
    /// Starts the guardian: this very program once more. Must be called inside a tokio runtime.
    pub fn start() -> io::Result<Self> {
        // The link names the program that runs, even if its file has been replaced or removed since.
        let program = if cfg!(target_os = "linux") { "/proc/self/exe".into() } else { std::env::current_exe()? };
        let mut process = tokio::process::Command::new(program)
            .arg0("coop")
            .arg(SUBCOMMAND)
            // Ctrl-C in coop's terminal is for coop; no directory is kept from being unmounted.
            .process_group(0)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let pipe = process.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?.into_owned_fd()?;
        let guardian = Self::on(pipe)?;
        let alive = Arc::downgrade(&guardian.0);
        tokio::spawn(async move {
            let end = process.wait().await;
            if alive.strong_count() > 0 {
                tracing::warn!(?end, "the guardian has ended; were coop killed now, its children could stay behind");
            }
        });
        Ok(guardian)
    }

    /// Takes the write end of a pipe. It never blocks: a guardian that does not read must not stop coop.
    pub(crate) fn on(pipe: OwnedFd) -> io::Result<Self> {
        fcntl(&pipe, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        Ok(Self(Arc::new(pipe)))
    }

    /// From now on the session of this child ends with coop.
    pub fn watch(&self, pid: u32) {
        self.tell(&format!("watch {pid}\n"));
    }

    /// Nothing of the child is left; its id may come to mean another process.
    pub fn forget(&self, pid: u32) {
        self.tell(&format!("forget {pid}\n"));
    }

    /// A child announced itself but could not be started; its id is not known to us.
    pub(super) fn sweep(&self) {
        self.tell("sweep\n");
    }

    /// The pipe, for a child to announce itself on.
    pub(super) fn pipe(&self) -> Arc<OwnedFd> {
        Arc::clone(&self.0)
    }

    /// A line is far shorter than what a pipe takes as a whole, so lines never mix.
    fn tell(&self, line: &str) {
        if let Err(error) = write(self.0.as_fd(), line.as_bytes()) {
            tracing::warn!(%error, line = line.trim_end(), "the guardian can not be told");
        }
    }
}

/// What the guardian does: it keeps a list until the commands end, then ends what is on it. For stdin of the hidden
/// subcommand, in a process that has no other thread.
pub fn run_guardian(commands: impl Read) {
    // A signal to all of a service's processes must not end the one that cleans up. SIGKILL still does.
    let _ = SigSet::all().thread_block();
    let mut watched: Vec<Kin> = Vec::new();
    for line in BufReader::with_capacity(512, commands).lines().map_while(Result::ok) {
        obey(&line, &mut watched);
    }
    end(&watched);
}

fn obey(line: &str, watched: &mut Vec<Kin>) {
    let (verb, pid) = line.split_once(' ').unwrap_or((line, ""));
    if verb == "sweep" {
        watched.retain(|kin| !kin.groups().is_empty());
    }
    // 0 and 1 are no children of ours, whoever says so.
    let Some(pid) = pid.parse().ok().filter(|pid| *pid > 1).map(Pid::from_raw) else { return };
    if matches!(verb, "watch" | "forget") {
        watched.retain(|kin| kin.leader() != pid);
    }
    if verb == "watch" {
        watched.push(Kin::of(pid));
    }
}

/// Ends all that is left of these sessions: kindly for a moment, then for good.
fn end(watched: &[Kin]) {
    let began = Instant::now();
    kin::hang_up(&kin::groups_of(watched));
    loop {
        let left = kin::groups_of(watched);
        if left.is_empty() || began.elapsed() > CRASH_GRACE + KILL_FOR {
            return;
        }
        if began.elapsed() >= CRASH_GRACE {
            kin::kill(&left);
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

#[cfg(test)]
mod tests {
    use std::thread::JoinHandle;

    use super::super::{
        Exit, spawn, spawn_watched,
        support::{ENDLESS, alive, launch, sh, supervise},
    };
    use super::*;

    /// What no ordinary hang-up ends.
    const DEAF: &str = "trap '' HUP TERM INT; echo ready; while :; do sleep 1000; done";

    /// A guardian in a thread instead of a process.
    fn guardian() -> (Guardian, JoinHandle<()>) {
        let (commands, pipe) = io::pipe().unwrap();
        (Guardian::on(pipe.into()).unwrap(), std::thread::spawn(move || run_guardian(commands)))
    }

    #[tokio::test]
    async fn a_deaf_child_dies_when_the_pipe_ends_although_only_it_announced_itself() {
        let (guardian, thread) = guardian();
        let job = format!("set -m; sh -c \"{DEAF}\" & echo \"<$!>\"; trap '' HUP; echo up; read line");
        let mut child = supervise(spawn_watched(&sh(&job), Some(&guardian)).unwrap(), ENDLESS);
        child.until("<").await;
        let job: i32 = child.until(">").await.parse().unwrap();
        child.until("up").await;
        drop(guardian);
        thread.join().unwrap();
        assert!(!alive(child.pid) && !alive(job));
        assert_eq!(child.exit().await, Exit::Signal(9));
    }

    #[tokio::test]
    async fn what_was_forgotten_is_left_alone() {
        let (guardian, thread) = guardian();
        let child = supervise(spawn(&sh("read line")).unwrap(), ENDLESS);
        guardian.watch(child.pid.cast_unsigned());
        guardian.forget(child.pid.cast_unsigned());
        drop(guardian);
        thread.join().unwrap();
        assert!(alive(child.pid));
    }

    #[tokio::test]
    async fn a_program_that_can_not_start_leaves_nothing_watched() {
        let (commands, pipe) = io::pipe().unwrap();
        let guardian = Guardian::on(pipe.into()).unwrap();
        spawn_watched(&launch(["no-such-bsah"]), Some(&guardian)).unwrap_err();
        drop(guardian);
        let mut watched = Vec::new();
        let lines: Vec<String> = BufReader::new(commands).lines().map(Result::unwrap).collect();
        lines.iter().for_each(|line| obey(line, &mut watched));
        assert!(lines.len() == 2 && lines[0].starts_with("watch "), "{lines:?}");
        assert_eq!(watched, []);
    }

    #[tokio::test]
    async fn a_dead_guardian_keeps_no_program_from_starting() {
        let (commands, pipe) = io::pipe().unwrap();
        drop(commands);
        let guardian = Guardian::on(pipe.into()).unwrap();
        let mut child = supervise(spawn_watched(&sh("exit 6"), Some(&guardian)).unwrap(), ENDLESS);
        assert_eq!(child.exit().await, Exit::Code(6));
        guardian.forget(1);
    }

    #[test]
    fn nonsense_on_the_pipe_watches_nothing() {
        let mut watched = Vec::new();
        for line in ["", "watch", "watch ", "watch 0", "watch 1", "watch -5", "watch x", "kill 2", "watch 99999999999"]
        {
            obey(line, &mut watched);
        }
        assert_eq!(watched, []);
    }
}
