//! The ways out of a child: whichever it takes, nothing of its session stays behind.
//!
//! SIGHUP when it is asked to end, or to what it left behind when it ended by itself; SIGKILL after a grace.

use std::{collections::BTreeSet, time::Duration};

use nix::unistd::Pid;
use tokio::{sync::oneshot, task::JoinHandle, time::Instant};
use tokio_util::sync::CancellationToken;

use super::{
    Exit, Guardian, Process,
    kin::{self, Kin},
};

/// How long a child may take to end after SIGHUP; agents save their conversation then.
pub const HANGUP_GRACE: Duration = Duration::from_secs(10);

/// How often to look what is left, only while an ending is under way.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How long to wait for what got SIGKILL. Only a process that the kernel itself holds, say in a dead network file
/// system, takes longer, and it would take forever.
const KILL_FOR: Duration = Duration::from_secs(2);

/// A child under supervision. Dropping this changes nothing for the child.
#[derive(Debug)]
pub struct Supervised {
    /// How the child itself ended, as soon as it has.
    pub exit: oneshot::Receiver<Exit>,
    /// Done when nothing of the child's session is left, or when SIGKILL has been sent to all that is.
    pub cleared: JoinHandle<()>,
    /// Skips the grace, also one under way.
    pub kill_now: CancellationToken,
}

impl Process {
    /// Waits for the end of the child, or brings it about once `end` is cancelled, and clears up after it.
    pub fn supervise(self, guardian: Option<Guardian>, end: CancellationToken) -> Supervised {
        let (kin, grace) = (self.kin(), self.grace());
        let pid = kin.leader().as_raw().cast_unsigned();
        if let Some(guardian) = &guardian {
            guardian.watch(pid);
        }
        let kill_now = CancellationToken::new();
        let gone = CancellationToken::new();
        let (exited, exit) = oneshot::channel();

        let leader_gone = gone.clone().drop_guard();
        tokio::spawn(async move {
            match self.exit().await {
                // Whoever waited may have lost interest.
                Ok(exit) => drop(exited.send(exit)),
                Err(error) => tracing::error!(%error, pid, "how the child ended can not be learnt"),
            }
            drop(leader_gone);
        });
        let ending = Ending { kin, grace, kill_now: kill_now.clone(), gone };
        let cleared = tokio::spawn(async move {
            tokio::select! {
                () = end.cancelled() => {}
                () = ending.kill_now.cancelled() => {}
                () = ending.gone.cancelled() => {}
            }
            if ending.clear().await
                && let Some(guardian) = guardian
            {
                guardian.forget(pid);
            }
        });
        Supervised { exit, cleared, kill_now }
    }
}

/// An ending under way.
struct Ending {
    kin: Kin,
    grace: Duration,
    kill_now: CancellationToken,
    /// Cancelled when the child itself has ended.
    gone: CancellationToken,
}

impl Ending {
    /// Ends all of the session, kindly at first. Whether it succeeded.
    async fn clear(&self) -> bool {
        let cleared = self.wait_out_grace().await || self.kill().await;
        // The exit is told before the clearing where both are due.
        let reaped = tokio::time::timeout(KILL_FOR, self.gone.cancelled()).await.is_ok();
        if !cleared || !reaped {
            let session = self.kin.leader().as_raw();
            tracing::warn!(session, "SIGKILL was sent, but the kernel or another user holds processes of the child");
        }
        cleared && reaped
    }

    /// Hangs up and waits. Whether nothing is left.
    async fn wait_out_grace(&self) -> bool {
        let deadline = Instant::now() + self.grace;
        let mut told = BTreeSet::new();
        loop {
            let leader_was_gone = self.gone.is_cancelled();
            let groups = self.look().await;
            if groups.is_empty() {
                return true;
            }
            if self.kill_now.is_cancelled() || Instant::now() >= deadline {
                return false;
            }
            // Each group is told once: to tell again would cut short what it does in answer.
            kin::hang_up(groups.difference(&told));
            told.extend(groups);
            tokio::select! {
                () = tokio::time::sleep(LOOK_EVERY) => {}
                () = self.kill_now.cancelled() => {}
                () = self.gone.cancelled(), if !leader_was_gone => {}
            }
        }
    }

    /// Kills, and looks again for what was forked at that moment. Whether nothing is left.
    async fn kill(&self) -> bool {
        let deadline = Instant::now() + KILL_FOR;
        loop {
            let groups = self.look().await;
            if groups.is_empty() {
                return true;
            }
            if Instant::now() >= deadline {
                return false;
            }
            kin::kill(&groups);
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Reads a file per process of the machine, which on a large one is too long for a thread that others need.
    async fn look(&self) -> BTreeSet<Pid> {
        let kin = self.kin;
        // It fails only when the runtime is shutting down; the hang-up and the guardian remain then.
        tokio::task::spawn_blocking(move || kin.groups()).await.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        spawn,
        support::{ENDLESS, Running, alive, sh, start, supervise, within},
    };
    use super::*;

    /// Deaf to all that can be ignored; says so when it is.
    const DEAF: &str = "trap '' HUP TERM INT; echo ready; while :; do sleep 1000; done";
    const SHORT: Duration = Duration::from_millis(300);

    fn start_with(grace: Duration, script: &str) -> Running {
        supervise(spawn(&sh(script)).unwrap(), grace)
    }

    #[tokio::test]
    async fn a_child_that_heeds_the_hang_up_gets_time_to_say_goodbye() {
        // The shell ends its own job: between its fork and exec that one may take the signal for the shell.
        let script = "trap 'echo bye; kill -KILL $!; exit 5' HUP; sleep 1000 & echo ready; wait";
        let mut child = start(&sh(script));
        child.until("ready").await;
        child.end.cancel();
        child.until("bye").await;
        assert_eq!(child.exit().await, Exit::Code(5));
        child.cleared().await;
    }

    #[tokio::test]
    async fn a_deaf_child_is_killed_after_the_grace_and_not_before() {
        let mut child = start_with(SHORT, DEAF);
        child.until("ready").await;
        let asked = Instant::now();
        child.end.cancel();
        assert_eq!(child.exit().await, Exit::Signal(9));
        assert!(asked.elapsed() >= SHORT);
        child.cleared().await;
    }

    #[tokio::test]
    async fn a_second_request_kills_at_once() {
        let mut child = start(&sh(DEAF));
        child.until("ready").await;
        child.end.cancel();
        child.supervised.kill_now.cancel();
        assert_eq!(child.exit().await, Exit::Signal(9));
        child.cleared().await;
    }

    #[tokio::test]
    async fn a_stopped_child_hears_the_hang_up() {
        let mut child = start(&sh("sleep 1000 & kill -STOP $!; echo ready; read line"));
        child.until("ready").await;
        child.end.cancel();
        child.cleared().await;
    }

    #[tokio::test]
    async fn deaf_jobs_in_groups_of_their_own_do_not_outlive_their_shell() {
        let mut child = start_with(SHORT, &format!("set -m; sh -c \"{DEAF}\" & echo \"<$!>\"; read line; exit 7"));
        child.until("<").await;
        let job: i32 = child.until(">").await.parse().unwrap();
        child.until("ready").await;
        child.input.write_all(b"\n").await.unwrap();
        assert_eq!(child.exit().await, Exit::Code(7), "the shell's own end is told at once");
        assert!(alive(job));
        child.cleared().await;
        assert!(!alive(job));
    }

    #[tokio::test]
    async fn an_interactive_bash_ends_with_its_background_jobs() {
        if within(tokio::process::Command::new("bash").arg("--version").output()).await.is_err() {
            return;
        }
        let mut child = supervise(spawn(&super::super::support::launch(["bash", "--norc", "-i"])).unwrap(), SHORT);
        child.input.write_all(b"(trap '' HUP; exec sleep 1000) & echo \"<\"$!\">\"\n").await.unwrap();
        child.until("\n<").await;
        let job: i32 = child.until(">").await.parse().unwrap();
        child.end.cancel();
        child.cleared().await;
        assert!(!alive(job) && !alive(child.pid));
    }

    #[tokio::test]
    async fn an_orderly_end_leaves_nothing_to_wait_for() {
        let mut child = start_with(ENDLESS, "exit 3");
        assert_eq!(child.exit().await, Exit::Code(3));
        child.cleared().await;
    }
}
