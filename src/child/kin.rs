//! Everything that shares a child's terminal session: an interactive shell gives each job a group of its own, so
//! the child's group alone is not all that it started.

use std::collections::BTreeSet;

use nix::{
    sys::signal::{Signal, killpg},
    unistd::Pid,
};

use super::stat::{Born, Stat};

/// The session of a child. Processes that make a session of their own, as daemons do, leave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kin {
    /// Its leader, whose id is the session's id.
    leader: Pid,
    /// When the leader began; a process of the same id that began at another time is a stranger.
    born: Option<Born>,
}

impl Kin {
    /// The session that this process leads, or will lead.
    pub(super) fn of(leader: Pid) -> Self {
        Self { leader, born: Stat::of(leader.as_raw()).map(|stat| stat.born) }
    }

    pub(super) fn leader(&self) -> Pid {
        self.leader
    }

    /// The process groups in which something of the session still runs.
    pub(super) fn groups(self) -> BTreeSet<Pid> {
        groups_of(&[self])
    }
}

/// The groups of several sessions, with one look at all processes.
///
/// The id of a session is not given to a new process as long as anything of the session is left. If a process
/// with the leader's id but another birth is there, then nothing is left and the id has been recycled.
pub(super) fn groups_of(sessions: &[Kin]) -> BTreeSet<Pid> {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        // No /proc, as on macOS: the leader's own group is what can be known.
        return sessions.iter().map(Kin::leader).filter(|group| killpg(*group, None).is_ok()).collect();
    };
    let processes: Vec<(i32, Stat)> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|pid| Some((pid, Stat::of(pid)?)))
        .filter(|(_, stat)| sessions.iter().any(|kin| kin.leader.as_raw() == stat.session))
        .collect();
    let recycled = |kin: &Kin| {
        let leads = |(pid, stat): &(i32, Stat)| *pid == kin.leader.as_raw() && Some(stat.born) != kin.born;
        processes.iter().any(leads)
    };
    let sessions: BTreeSet<i32> = sessions.iter().filter(|kin| !recycled(kin)).map(|kin| kin.leader.as_raw()).collect();
    processes
        .iter()
        .filter(|(_, stat)| stat.alive && sessions.contains(&stat.session))
        .map(|(_, stat)| Pid::from_raw(stat.group))
        .collect()
}

/// Asks groups to end. SIGCONT wakes stopped ones, which would not hear it otherwise.
pub(super) fn hang_up<'a>(groups: impl IntoIterator<Item = &'a Pid>) {
    for group in groups {
        send(*group, Signal::SIGHUP);
        send(*group, Signal::SIGCONT);
    }
}

/// Ends groups; nothing can refuse.
pub(super) fn kill<'a>(groups: impl IntoIterator<Item = &'a Pid>) {
    for group in groups {
        send(*group, Signal::SIGKILL);
    }
}

fn send(group: Pid, signal: Signal) {
    // 0 and 1 would mean our own group and everything; no group of a session of ours has these ids.
    if group.as_raw() > 1 {
        // It may be gone by now, or belong to another user: the next look tells.
        let _ = killpg(group, signal);
    }
}

#[cfg(test)]
mod tests {
    use super::super::support::{sh, start};
    use super::*;

    #[tokio::test]
    async fn jobs_with_groups_of_their_own_are_kin() {
        let mut child = start(&sh("set -m; sleep 1000 & echo \"<$!>\"; read line"));
        child.until("<").await;
        let job = Pid::from_raw(child.until(">").await.parse().unwrap());
        let leader = Pid::from_raw(child.pid);
        assert_eq!(Kin::of(leader).groups(), BTreeSet::from([leader, job]));
    }

    #[tokio::test]
    async fn a_process_with_the_same_id_but_another_birth_is_a_stranger() {
        let child = start(&sh("read line"));
        let leader = Pid::from_raw(child.pid);
        let ours = Kin::of(leader);
        let long_gone = Kin { leader, born: None };
        assert_eq!(ours.groups(), BTreeSet::from([leader]));
        assert_eq!(long_gone.groups(), BTreeSet::new());
        assert!(!groups_of(&[Kin::of(Pid::this()), long_gone]).contains(&leader));
    }
}
