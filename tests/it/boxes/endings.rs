//! When a box is said to stand still, nothing writes in it any more, whatever became of its session.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::user::{User, gone, pid_of};
use crate::support::{alive, descendants};

/// Writes into the workspace for as long as it lives.
const WRITES: &str = "while :; do date >>beat; done";

/// A box whose session was killed and whose first process is held, so that it does not end by itself.
struct Held {
    user: User,
    first: i32,
    inside: Vec<i32>,
}

impl Held {
    async fn new() -> Self {
        let user = User::new();
        let project = user.project();
        let up = ["up", &project, "--name", "red", "--workspace", "overlay", "--json", "--", "sh", "-c", WRITES];
        let told = user.run(&up).await.json();
        let session = pid_of(&told);
        let is_first = |pid: &i32| {
            std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == "coop-box")
        };
        let first = descendants(session).into_iter().find(is_first).expect("a box has a first process");
        signal(first, Signal::SIGSTOP);
        let inside: Vec<i32> = descendants(first).into_iter().collect();
        assert!(!inside.is_empty());
        signal(session, Signal::SIGKILL);
        gone(session).await;
        user.daemon().await.stands("red", "lost").await;
        assert!(alive(first));
        Self { user, first, inside }
    }

    fn check_ended(&self) {
        assert!(!alive(self.first), "its first process is still there");
        assert!(!self.inside.iter().any(|pid| alive(*pid)), "something still writes");
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let _ = kill(Pid::from_raw(self.first), Signal::SIGKILL);
    }
}

fn signal(pid: i32, signal: Signal) {
    kill(Pid::from_raw(pid), signal).unwrap();
}

#[tokio::test]
async fn who_stops_a_box_waits_for_all_that_runs_in_it() {
    let held = Held::new().await;
    held.user.run(&["stop", "red"]).await.ok();
    held.check_ended();
}

#[tokio::test]
async fn a_box_is_started_again_only_when_nothing_of_it_runs_any_more() {
    for verb in [&["restart", "red"][..], &["up", "--name", "red", "-d"]] {
        let held = Held::new().await;
        let project = held.user.project();
        let words = if verb[0] == "up" { [verb, &[&project]].concat() } else { verb.to_vec() };
        let again = held.user.run(&words).await;
        assert_eq!(again.code, Some(0), "{again:?}");
        held.check_ended();
    }
}

#[tokio::test]
async fn what_is_removed_stays_away_although_something_was_writing_there() {
    let held = Held::new().await;
    held.user.run(&["rm", "--force", "red"]).await.ok();
    held.check_ended();
    let left = std::fs::read_dir(held.user.home().join("sessions")).unwrap().count();
    assert_eq!(left, 0, "nothing is left of it");
}

#[tokio::test]
async fn changes_are_moved_only_when_nothing_makes_others() {
    let held = Held::new().await;
    let refused = held.user.run(&["discard", "red", "--yes"]).await;
    assert!(refused.code == Some(1) && refused.err.contains("has not ended yet"), "{refused:?}");
    assert!(refused.err.contains("coop stop red"), "{refused:?}");
    signal(held.first, Signal::SIGCONT);
    let discarded = held.user.run(&["discard", "red", "--yes"]).await;
    assert_eq!(discarded.code, Some(0), "{discarded:?}");
    held.check_ended();
    assert_eq!(std::fs::read_dir(held.user.kept("red").join("ws-upper")).unwrap().count(), 0);
}
