//! The child that runs now, with everything that belongs to it alone and dies with it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{AbortHandle, JoinHandle};
use tokio_util::sync::CancellationToken;

use super::clock::sleep_until;
use super::inbox::Inbox;
use super::outbox::{Outbox, Written};
use super::vitals::Counters;
use crate::child::{self, Exit, Group, Guardian, Launch, SpawnError, Tty};

/// How long after a child's exit, and after its last output, the terminal may stay open before the session calls it
/// ended. An ordinary program's terminal closes with it; a grandchild could keep it open for ever.
const DRAIN_QUIET: Duration = Duration::from_millis(500);

/// When it is called ended even though something still prints.
const DRAIN_MAX: Duration = Duration::from_secs(5);

pub struct Running {
    pub pid: u32,
    pub group: Group,
    pub tty: Tty,
    pub outbox: Outbox,
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
    /// Its end came nearer; ask [`Running::is_over`].
    Waning,
}

impl Running {
    /// Starts a child. The second value is done when nothing of it is left, some time after its exit.
    pub fn start(
        launch: &Launch,
        guardian: Option<&Guardian>,
        counters: Arc<Counters>,
        written: mpsc::Sender<Written>,
    ) -> Result<(Self, JoinHandle<()>), SpawnError> {
        let child = child::spawn_watched(launch, guardian)?;
        let end = CancellationToken::new();
        let group = child.process.group();
        let supervised = child.process.supervise(guardian.cloned(), end.clone());
        let inbox = Arc::new(Inbox::default());
        let filling = inbox.clone();
        let reader = tokio::spawn(async move { filling.fill(child.output).await }).abort_handle();
        let running = Self {
            pid: child.pid,
            group,
            tty: child.tty,
            outbox: Outbox::new(child.input, counters, written),
            inbox,
            reader,
            end,
            kill_now: supervised.kill_now,
            exit: supervised.exit,
            exited: None,
            printed: Instant::now(),
            hung_up: false,
        };
        Ok((running, supervised.cleared))
    }

    /// Waits for the next sign of life, or of its end.
    pub async fn sign(&mut self) -> Sign {
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

    /// How it ended, once all it printed has been read.
    pub fn is_over(&self) -> Option<Exit> {
        self.exited.filter(|_| self.hung_up).map(|(exit, _)| exit)
    }

    /// Asks it to end: SIGHUP, and SIGKILL after the grace.
    pub fn end(&self) {
        self.end.cancel();
    }

    /// Skips the grace.
    pub fn kill_now(&self) -> CancellationToken {
        self.kill_now.clone()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.reader.abort();
    }
}
