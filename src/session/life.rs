//! The child that runs now, with everything that belongs to it alone and dies with it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{AbortHandle, JoinHandle};
use tokio_util::sync::CancellationToken;

use super::clock::sleep_until;
use super::event::Ended;
use super::inbox::Inbox;
use super::lent::Lent;
use super::outbox::{Outbox, Pen, Written};
use super::vitals::Counters;
use crate::borrowed::{Answer, Loan};
use crate::child::{self, Exit, Ground, Group, Launch, Signal, SignalError, Size, SpawnError, Tty};

/// How long after a child's exit, and after its last output, the terminal may stay open before the session calls it
/// ended. An ordinary program's terminal closes with it; a grandchild could keep it open for ever.
const DRAIN_QUIET: Duration = Duration::from_millis(500);

/// When it is called ended even though something still prints.
const DRAIN_MAX: Duration = Duration::from_secs(5);

pub struct Running {
    pub pid: u32,
    pub outbox: Outbox,
    body: Body,
}

/// Whose it is.
enum Body {
    Own(Own),
    Lent(Lent),
}

/// A child that coop started.
struct Own {
    group: Group,
    tty: Tty,
    inbox: Arc<Inbox>,
    reader: AbortHandle,
    end: CancellationToken,
    kill_now: CancellationToken,
    exit: oneshot::Receiver<Exit>,
    exited: Option<(Exit, Instant)>,
    printed: Instant,
    hung_up: bool,
}

/// What a child does next.
pub enum Sign {
    Printed(Bytes),
    /// What was borrowed has another size now; who wished for it is answered.
    Resized(Size, Option<Answer>),
    /// Another process than before is the one that matters on what was borrowed; whether it is the agent.
    Stirred {
        pid: u32,
        is_agent: bool,
    },
    /// Its end came nearer; ask [`Running::is_over`].
    Waning,
}

impl Running {
    /// Starts a child. The second value is done when nothing of it is left, some time after its exit.
    pub fn start(
        launch: &Launch,
        ground: &Ground,
        counters: Arc<Counters>,
        written: mpsc::Sender<Written>,
    ) -> Result<(Self, JoinHandle<()>), SpawnError> {
        let child = child::spawn_on(launch, ground)?;
        let end = CancellationToken::new();
        let group = child.process.group();
        let supervised = child.process.supervise(ground.guardian.clone(), end.clone());
        let inbox = Arc::new(Inbox::default());
        let filling = inbox.clone();
        let reader = tokio::spawn(async move { filling.fill(child.output).await }).abort_handle();
        let own = Own {
            group,
            tty: child.tty,
            inbox,
            reader,
            end,
            kill_now: supervised.kill_now,
            exit: supervised.exit,
            exited: None,
            printed: Instant::now(),
            hung_up: false,
        };
        let outbox = Outbox::new(Pen::Own(child.input), counters, written);
        Ok((Self { pid: child.pid, outbox, body: Body::Own(own) }, supervised.cleared))
    }

    /// Takes over something borrowed.
    pub fn lent(loan: Loan, counters: Arc<Counters>, written: mpsc::Sender<Written>) -> Self {
        let outbox = Outbox::new(Pen::Lent(loan.wishes.input()), counters, written);
        Self { pid: loan.agent_pid.unwrap_or(loan.pid), outbox, body: Body::Lent(Lent::new(loan)) }
    }

    /// Waits for the next sign of life, or of its end.
    pub async fn sign(&mut self) -> Sign {
        match &mut self.body {
            Body::Own(own) => own.sign().await,
            Body::Lent(lent) => lent.sign().await,
        }
    }

    /// How it ended, once all it printed has been read.
    pub fn is_over(&self) -> Option<Ended> {
        match &self.body {
            Body::Own(own) => own.exited.filter(|_| own.hung_up).map(|(exit, _)| Ended::Exited(exit)),
            Body::Lent(lent) => lent.is_over(),
        }
    }

    /// Asks a child to end: SIGHUP, and SIGKILL after the grace. Lets go of what was borrowed.
    pub fn end(&self) {
        match &self.body {
            Body::Own(own) => own.end.cancel(),
            Body::Lent(lent) => lent.let_go(),
        }
    }

    /// Skips the grace; nothing borrowed has one.
    pub fn kill_now(&self) -> CancellationToken {
        match &self.body {
            Body::Own(own) => own.kill_now.clone(),
            Body::Lent(_) => CancellationToken::new(),
        }
    }

    pub fn signal(&self, signal: Signal) -> Result<(), SignalError> {
        match &self.body {
            Body::Own(own) => own.group.signal(signal),
            Body::Lent(lent) => lent.signal(signal),
        }
    }

    /// Changes the window of a child at once; of what was borrowed, the answer comes later.
    pub fn resize(&self, size: Size) -> std::io::Result<Option<Resizing>> {
        match &self.body {
            Body::Own(own) => own.tty.resize(size).map(|()| None),
            Body::Lent(lent) => Ok(Some(lent.resize(size))),
        }
    }

    /// Whether it has read all that it was typed; `None` where nobody can tell.
    pub fn has_read(&self) -> Option<bool> {
        match &self.body {
            Body::Own(own) => own.tty.is_read(),
            Body::Lent(_) => None,
        }
    }

    /// Whether its terminal shows what is typed by itself, as before a program has asked for keys; `None` where nobody can tell.
    pub fn echoes(&self) -> Option<bool> {
        match &self.body {
            Body::Own(own) => own.tty.echoes(),
            Body::Lent(_) => None,
        }
    }

    /// Whether its terminal's questions are ours to answer; those of something borrowed have been answered.
    pub fn asks_us(&self) -> bool {
        matches!(self.body, Body::Own(_))
    }

    /// The processes on what was borrowed are others now.
    pub fn stirred(&mut self, pid: u32) {
        self.pid = pid;
    }
}

/// An answer about another size that is still to come.
pub type Resizing = oneshot::Receiver<Result<Size, String>>;

impl Own {
    async fn sign(&mut self) -> Sign {
        let drained_at = self.exited.map(|(_, at)| (at.max(self.printed) + DRAIN_QUIET).min(at + DRAIN_MAX));
        tokio::select! {
            exit = &mut self.exit, if self.exited.is_none() => {
                // Without an answer the process is gone all the same; how is not known.
                self.exited = Some((exit.unwrap_or(Exit::Code(-1)), Instant::now()));
                Sign::Waning
            }
            taken = self.inbox.take(), if !self.hung_up => match taken {
                Some(bytes) => {
                    self.printed = Instant::now();
                    Sign::Printed(bytes)
                }
                None => {
                    self.hung_up = true;
                    Sign::Waning
                }
            },
            () = sleep_until(drained_at) => {
                self.hung_up = true;
                Sign::Waning
            }
        }
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        self.reader.abort();
    }
}
