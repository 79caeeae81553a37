//! The child as a process: who may be signalled, and how its end is learnt without a gap in which its id could
//! mean another process.

use std::{
    fmt,
    future::{Future, poll_fn},
    io,
    pin::{Pin, pin},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use nix::{
    errno::Errno,
    sys::signal::{Signal, killpg},
    unistd::Pid,
};

use super::{Exit, HANGUP_GRACE, kin::Kin};

/// Why a signal was not delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignalError {
    #[error("the process has ended")]
    Gone,
    /// All of the group runs as another user, as under `sudo`.
    #[error("the process belongs to another user and can not be signalled")]
    Denied,
}

/// The child's process group, for signals. Clones stay valid; after the end they refuse.
#[derive(Clone, Debug)]
pub struct Group(Arc<Mutex<Option<Pid>>>);

impl Group {
    /// Sends a signal to the child and all that it runs in its own group.
    pub fn signal(&self, signal: Signal) -> Result<(), SignalError> {
        // Held while the signal is sent, as it is while the child is reaped: in between its id stays its own.
        let leader = self.leader();
        match leader.map(|leader| killpg(leader, signal)) {
            Some(Ok(())) => Ok(()),
            Some(Err(Errno::EPERM)) => Err(SignalError::Denied),
            Some(Err(_)) | None => Err(SignalError::Gone),
        }
    }

    fn leader(&self) -> MutexGuard<'_, Option<Pid>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Who tells how a child has ended.
enum Witness {
    /// The kernel: it is our own child, and stays a zombie until it is asked about.
    Kernel(tokio::process::Child),
    /// The first process of its enclosure, which has reaped it already.
    Enclosure(Pin<Box<dyn Future<Output = Exit> + Send>>),
}

impl Witness {
    async fn exit(&mut self) -> io::Result<Exit> {
        match self {
            Self::Kernel(child) => Ok(child.wait().await?.into()),
            Self::Enclosure(exit) => Ok(exit.await),
        }
    }
}

impl fmt::Debug for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kernel(_) => "Kernel",
            Self::Enclosure(_) => "Enclosure",
        })
    }
}

/// A running child. It must be supervised; if it is dropped instead, it runs on unobserved.
#[derive(Debug)]
#[must_use = "a child that is not supervised may outlive its terminal"]
pub struct Process {
    witness: Witness,
    group: Group,
    kin: Kin,
    grace: Duration,
}

impl Process {
    pub(super) fn new(child: tokio::process::Child, leader: Pid) -> Self {
        // Only we reap the child, so that its birth can still be read, even if it has ended already.
        Self::of(Witness::Kernel(child), leader)
    }

    /// A child of an enclosure, which may have ended already.
    pub(super) fn enclosed(exit: Pin<Box<dyn Future<Output = Exit> + Send>>, leader: Pid) -> Self {
        Self::of(Witness::Enclosure(exit), leader)
    }

    fn of(witness: Witness, leader: Pid) -> Self {
        let kin = Kin::of(leader);
        Self { witness, group: Group(Arc::new(Mutex::new(Some(leader)))), kin, grace: HANGUP_GRACE }
    }

    /// A handle for signals.
    pub fn group(&self) -> Group {
        self.group.clone()
    }

    /// Another time than [`HANGUP_GRACE`] between the request to end and SIGKILL.
    pub fn with_grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    pub(super) fn grace(&self) -> Duration {
        self.grace
    }

    pub(super) fn kin(&self) -> Kin {
        self.kin
    }

    /// Waits for the end of the child itself. It is reaped in the same breath in which the group is closed.
    pub(super) async fn exit(mut self) -> io::Result<Exit> {
        let group = self.group.clone();
        let mut wait = pin!(self.witness.exit());
        let status = poll_fn(|cx| {
            let mut leader = group.leader();
            let poll = wait.as_mut().poll(cx);
            if poll.is_ready() {
                *leader = None;
            }
            poll
        })
        .await?;
        Ok(status)
    }
}

/// From here on the runtime may reap the child behind our back.
impl Drop for Process {
    fn drop(&mut self) {
        *self.group.leader() = None;
    }
}

#[cfg(test)]
mod tests {
    use super::super::support::{sh, start};
    use super::*;

    #[tokio::test]
    async fn the_code_or_the_signal_of_the_end_is_told() {
        assert_eq!(start(&sh("exit 42")).exit().await, Exit::Code(42));
        assert_eq!(start(&sh("kill -KILL $$")).exit().await, Exit::Signal(9));
        let mut child = start(&sh("read line"));
        child.group.signal(Signal::SIGTERM).unwrap();
        assert_eq!(child.exit().await, Exit::Signal(15));
    }

    #[tokio::test]
    async fn a_signal_reaches_grandchildren() {
        let deep = "trap 'echo heard; exit' INT; echo ready; while :; do sleep 1000 & wait $!; done";
        let mut child = start(&sh(&format!("trap : INT; sh -c \"{}\"; echo over", deep.replace('$', "\\$"))));
        child.until("ready").await;
        child.group.signal(Signal::SIGINT).unwrap();
        child.until("heard").await;
        child.until("over").await;
    }

    #[tokio::test]
    async fn a_signal_after_the_end_is_refused() {
        let mut child = start(&sh("exit 0"));
        child.exit().await;
        assert_eq!(*child.group.leader(), None, "not even the number is kept, which may mean another process soon");
        assert_eq!(child.group.signal(Signal::SIGKILL), Err(SignalError::Gone));
        assert_eq!(child.group.clone().signal(Signal::SIGCONT), Err(SignalError::Gone));
    }

    #[tokio::test]
    async fn a_signal_to_an_unsupervised_child_that_was_dropped_is_refused() {
        let child = super::super::spawn(&sh("read line")).unwrap();
        let group = child.process.group();
        drop(child.process);
        assert_eq!(group.signal(Signal::SIGTERM), Err(SignalError::Gone));
    }
}
